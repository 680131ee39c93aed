"""Which observed values of two graphs are the same numbers, up to layout and rounding."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from explorer.compare.align.side import Side, Slot
from explorer.model.arrays import Array, unpack
from explorer.numeric.summaries import QUANTILES

Floats = NDArray[np.float64]

COARSE = {"float16": 1e-3, "bfloat16": 1.6e-2}
"""Relative error to allow for values that passed through a coarse dtype (PyTorch's own comparison
table).
"""

REACH = 64
"""How many neighbours in norm a value is compared with; more can only be the same value over and
over.
"""

TIGHT = 3e-6
"""Differences below this, relative to a value's scale, are the rounding of float32 sums: such
candidates go first.
"""

_RANGE = 1e4
"""Elements this much greater than the typical one (masks of -1e9) do not raise the scale that
rounding is measured by.
"""


@dataclass(frozen=True)
class Prints:
    """Every observed output slot of both sides (0 left, 1 right), as a class number; numbers are
    shared by bitwise equal values.

    ``near`` names the other classes that agree within tolerance, with the greatest distance of
    their figures relative to scale. ``scale`` is the magnitude that a class's rounding is relative
    to. ``plain`` classes hold one number over and over, so that equality says little.
    """

    classes: tuple[dict[Slot, int], dict[Slot, int]]
    near: dict[int, dict[int, float]]
    scale: tuple[float, ...]
    plain: frozenset[int]

    def same(self, one: int, other: int) -> bool:
        """Whether two classes agree within tolerance."""
        return one == other or other in self.near.get(one, {})

    def distance(self, one: int, other: int) -> float:
        """How far apart two classes that agree are, relative to their scale."""
        return 0.0 if one == other else self.near[one][other]


def elements(array: Array) -> Floats:
    """All elements of a record, as float64 in C order."""
    return unpack(array).astype(np.float64).ravel()


def prints(sides: tuple[Side, Side], rtol: float, atol: float) -> Prints:
    """Fingerprints of both sides: exact order statistics make the classes, moments find neighbours,
    whole values confirm them.
    """
    keys: dict[tuple[object, ...], int] = {}
    rows: list[list[float]] = []
    wholes: list[Floats | None] = []
    grains: list[float] = []
    classes: tuple[dict[Slot, int], dict[Slot, int]] = ({}, {})
    for side, found in zip(sides, classes, strict=True):
        grain = coarseness(side)
        for name in side.ordered():
            for index, output in enumerate(side.nodes[name].outputs):
                if output.values is None or not (size := prod(output.shape)):
                    continue
                known = output.values
                whole = np.sort(elements(known.whole)) if known.whole is not None else None
                key = (
                    size,
                    known.nonfinite,
                    known.quantiles,
                    None if whole is None else whole.tobytes(),
                )
                number = found[name, index] = keys.setdefault(key, len(keys))
                if number == len(rows):
                    count = max(size - known.nonfinite, 1)
                    padded = (known.quantiles + (0.0,) * QUANTILES)[:QUANTILES]
                    rows.append(
                        [size, known.nonfinite, known.norm / count**0.5, known.mean, *padded]
                    )
                    wholes.append(whole)
                    grains.append(grain[name])
                grains[number] = max(grains[number], grain[name])
    table = np.array(rows, np.float64).reshape(len(rows), 4 + QUANTILES)
    plain = frozenset(np.flatnonzero(np.ptp(table[:, 4:], axis=1) == 0).tolist())
    scale = tuple(scales(table[:, 4:]).tolist())
    return Prints(
        classes, _neighbours(table, np.array(grains, np.float64), wholes, rtol, atol), scale, plain
    )


def coarseness(side: Side) -> dict[str, float]:
    """The coarsest rounding on the way to each node: what a float16 product fed keeps its error in
    float32.
    """
    grain: dict[str, float] = {}
    for name in side.ordered():
        own = max(
            (COARSE.get(output.dtype, 0.0) for output in side.nodes[name].outputs), default=0.0
        )
        grain[name] = max([own, *(grain.get(origin, 0.0) for origin, _ in side.inputs[name])])
    return grain


def scales(quantiles: Floats) -> Floats:
    """The magnitude that rounding is relative to, one a row: the greatest element that is not a
    mask or an outlier.
    """
    sizes = np.sort(np.abs(quantiles), axis=1)
    zeros = np.count_nonzero(sizes == 0, axis=1)
    typical = sizes[
        np.arange(len(sizes)), np.minimum(zeros + (sizes.shape[1] - zeros) // 4, sizes.shape[1] - 1)
    ]
    limit: Floats = np.where(sizes <= _RANGE * typical[:, None], sizes, 0.0).max(
        axis=1, initial=0.0
    )
    return limit


def _neighbours(
    table: Floats, grains: Floats, wholes: list[Floats | None], rtol: float, atol: float
) -> dict[int, dict[int, float]]:
    """Sweeps classes sorted by size and norm: a class is compared with those behind it as long as
    the norms agree.
    """
    order = np.lexsort((table[:, 2], table[:, 1], table[:, 0]))
    table, grains, scale = table[order], grains[order], scales(table[order, 4:])
    near: dict[int, dict[int, float]] = {}
    with np.errstate(invalid="ignore", over="ignore"):
        for step in range(1, min(REACH, len(table) - 1) + 1):
            here = np.arange(len(table) - step)
            there = here + step
            alike = (table[here, :2] == table[there, :2]).all(axis=1)
            loose = np.maximum(grains[here], grains[there])
            wide = np.maximum(scale[here], scale[there])
            room = np.maximum(rtol, loose) * table[there, 2] + np.maximum(atol, loose) * wide
            alike &= table[there, 2] - table[here, 2] <= room
            if not alike.any():
                break
            here, there, loose, wide, room = (
                here[alike],
                there[alike],
                loose[alike],
                wide[alike],
                room[alike],
            )
            apart = np.abs(table[here, 3:] - table[there, 3:])
            allowed = (
                np.maximum(rtol, loose)[:, None] * np.abs(table[there, 3:])
                + (np.maximum(atol, loose) * wide)[:, None]
            )
            allowed[:, 0] = room
            agree = np.flatnonzero((apart <= allowed).all(axis=1))
            for one in agree.tolist():
                first, second = int(order[here[one]]), int(order[there[one]])
                coarse = float(loose[one])
                if _confirmed(
                    wholes[first],
                    wholes[second],
                    max(rtol, coarse),
                    max(atol, coarse) * float(wide[one]),
                ):
                    gap = float(apart[one].max() / (wide[one] or 1.0))
                    near.setdefault(first, {})[second] = near.setdefault(second, {})[first] = gap
    return near


def _confirmed(one: Floats | None, other: Floats | None, rtol: float, floor: float) -> bool:
    """Whether sorted elements agree, where both are known; up to QUANTILES elements the figures
    were already all of them.
    """
    if one is None or other is None or (one.size <= QUANTILES and np.isfinite(one).all()):
        return True
    return agree(one, other, rtol, floor)


def agree(one: Floats, other: Floats, rtol: float, floor: float) -> bool:
    """Elementwise: equal, both NaN, or within ``floor`` plus ``rtol`` of the second."""
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= floor + rtol * np.abs(other)
    return bool(near.all()) or bool(
        (near | (one == other) | (np.isnan(one) & np.isnan(other))).all()
    )
