"""Compares recorded results with those of a run now, up to what rounding and time may change."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

RELATIVE, ABSOLUTE = 1e-3, 1e-5
"""Numbers that are nearer to each other than this are the same: processors round differently."""


def differences(recorded: Any, now: Any, place: str = "") -> Iterator[str]:
    """Where two values of plain data differ: the place, and both values."""
    if isinstance(recorded, dict) and isinstance(now, dict) and list(recorded) == list(now):
        for name, value in recorded.items():
            yield from differences(value, now[name], f"{place}.{name}")
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for index, value in enumerate(recorded):
            yield from differences(value, now[index], f"{place}[{index}]")
    elif not _are_same(recorded, now):
        yield f"{place}: {recorded!r} was recorded, and a run gives {now!r}"


def _are_same(recorded: Any, now: Any) -> bool:
    if isinstance(recorded, float) and isinstance(now, (int, float)):
        return math.isclose(recorded, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(recorded == now)


def marks_of(svg: str) -> Counter[tuple[str, str | None, str | None]]:
    """The elements of a drawing by name, fill and stroke, wherever they are placed."""
    elements = ElementTree.fromstring(svg).iter()
    return Counter((mark.tag, mark.get("fill"), mark.get("stroke")) for mark in elements)
