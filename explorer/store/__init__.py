"""Earlier results on disk, by all that they depend on.

Files of our own and not a cache library: diskcache pickles what it keeps, and unpickling runs whatever
a file says; a file that is renamed into its place is whole or absent, and needs no database.
"""
