"""Worker processes, in which everything runs that imports a framework: their protocol, their
crashes, their limits.
"""
