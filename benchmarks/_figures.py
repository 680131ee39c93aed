"""The record of one thing that a benchmark measures."""

import statistics
from typing import Literal

import msgspec

Basis = Literal[
    "wall",
    "processor",
    "ratio of wall times",
    "ratio of processor times",
    "size",
    "count",
    "share",
    "power of the size",
]
"""What the numbers of a figure are: seconds by a clock, or what is divided by what, round by round."""

Verdict = Literal["kept", "missed", "", "not measured"]
"""How a figure stands to its bar; "" where it has none."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One thing measured: a number for each of its rounds, in ``unit``.

    ``bar`` is the most that the median may be, or the least where ``wanted`` is "high"; None where
    there is no limit. Without rounds nothing was measured, and ``note`` says why. ``benchmark`` is
    the module that measured.
    """

    name: str
    unit: str
    basis: Basis
    rounds: tuple[float, ...]
    bar: float | None = None
    wanted: Literal["low", "high"] = "low"
    note: str = ""
    benchmark: str = ""

    @property
    def median(self) -> float | None:
        """The median of the rounds; None without rounds."""
        return statistics.median(self.rounds) if self.rounds else None

    @property
    def spread(self) -> float:
        """The greatest round less the least, in ``unit``; 0 for fewer than two rounds."""
        return max(self.rounds) - min(self.rounds) if self.rounds else 0.0

    @property
    def verdict(self) -> Verdict:
        """How the median stands to the bar. A NaN keeps none."""
        if self.median is None:
            return "not measured"
        if self.bar is None:
            return ""
        is_kept = self.median <= self.bar if self.wanted == "low" else self.median >= self.bar
        return "kept" if is_kept else "missed"


def absent(name: str, basis: Basis, why: str) -> Figure:
    """The figure of what could not be measured here, which breaks no limit."""
    return Figure(name=name, unit="", basis=basis, rounds=(), note=why)


def ratios(over: tuple[float, ...], under: tuple[float, ...]) -> tuple[float, ...]:
    """The ratio of two times in each round."""
    return tuple(one / other for one, other in zip(over, under, strict=True))
