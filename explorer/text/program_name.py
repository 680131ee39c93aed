"""The program as its user typed it, for commands in messages."""

import sys
from pathlib import Path

INSTALLED = ("explorer", "explorer.exe")
"""The names of the installed program."""


def program() -> str:
    """``explorer`` where that was typed, else ``python -m explorer``, which runs everywhere."""
    typed = Path(sys.argv[0]).name if sys.argv else ""
    return "explorer" if typed in INSTALLED else "python -m explorer"
