"""The command line: commands parse, call one function each, and print."""

from explorer.cli.entry import main

__all__ = ["main"]
