"""The patch that mends a net: candidates from the causes of a comparison, each proven by running it.

``mend`` says which lines of the file make the nets equal, and what a copy of it with them gives.
"""
