"""Rows of a test's parameters, and packages that it writes, read from the TOML file beside it."""

from pathlib import Path
from typing import Any

import msgspec


def rows(file: str, name: str) -> list[tuple[Any, ...]]:
    """The rows of one test in the table of its ``file``."""
    return [tuple(row) for row in _table(file)[name]]


def package(file: str, name: str) -> dict[str, str]:
    """The texts of a package, by the names of its files, in the table of the ``file`` of a test."""
    return dict(_table(file)[name])


def _table(file: str) -> dict[str, Any]:
    table: dict[str, Any] = msgspec.toml.decode(Path(file).with_suffix(".toml").read_bytes())
    return table
