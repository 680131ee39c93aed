"""Nets without a mistake: variants of the nets of ``nets`` with an option changed in both frameworks."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.planted.halves import both_halves

_Changes = tuple[tuple[str, str], ...]
"""Texts, and what stands in their place wherever they stand in the file."""

_CHANGES = msgspec.toml.decode(
    Path(__file__).with_name("variants.toml").read_bytes(), type=dict[str, dict[str, _Changes]]
)
"""The variants of each net."""


def variants() -> Iterator[tuple[str, str]]:
    """The name and the text of every variant, which also draws other inputs than its net.

    Raises ValueError where a text that should be changed does not stand in the net.
    """
    for net, changes_of_net in _CHANGES.items():
        text = both_halves(net)
        for name, changes in changes_of_net.items():
            yield f"{net}_{name}", _varied(text, changes).replace("rng(", "rng(1000 + ")


def write_variants(folder: Path) -> dict[str, Path]:
    """Write all variants to ``folder``; the file of each name."""
    files = {}
    for name, text in variants():
        files[name] = folder / f"{name}.py"
        files[name].write_text(text, encoding="utf-8")
    return files


def _varied(text: str, changes: _Changes) -> str:
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{old!r} does not stand in the net")
        text = text.replace(old, new)
    return text
