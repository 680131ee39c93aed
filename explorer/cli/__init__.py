"""The command line: commands parse, call one function each, and print; the exit code says how it
went.
"""

from explorer.cli.entry import main

__all__ = ["main"]
