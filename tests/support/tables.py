"""Rows of a test's parameters, read from the TOML file beside it."""

from pathlib import Path
from typing import Any

import msgspec


def rows(file: str, name: str) -> list[tuple[Any, ...]]:
    """The rows of one test in the table of its ``file``."""
    table = msgspec.toml.decode(Path(file).with_suffix(".toml").read_bytes())
    return [tuple(row) for row in table[name]]
