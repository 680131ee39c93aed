"""Steps of a program of the user's own, recorded where it runs: the block, and the files of traces.

Imported into that program: it needs nothing beside numpy, msgspec and the program's framework.
"""
