"""The rates of dropouts, which show in what a dropout makes of its input whatever it drops."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from explorer.compare.align.fingerprints import elements
from explorer.compare.align.readings import Contrast, Finding, both, ends_of
from explorer.compare.align.sides import OutputValue, Side, Vertex, as_seen
from explorer.model.divergence import Gap, OtherRate, Reading

SAME = 1e-3
"""Factors that differ by less than this share are of one rate; rates are written with few digits."""


class Dropout(NamedTuple):
    """An op that drops elements of its input and multiplies the others by ``factor``."""

    node: Vertex
    factor: float

    @property
    def rate(self) -> float:
        """The share of elements that it drops in the long run."""
        return 1 - 1 / self.factor


def unlike_rates(
    sides: tuple[Side, Side], draws: dict[Side, list[Vertex]], depends: Callable[[Vertex], bool]
) -> list[Finding]:
    """The dropouts that have another rate than the one in their place on the other side.

    ``draws`` are the ops that draw random numbers, ``depends`` tells what depends on these. Nothing
    is said unless every draw of the forward is seen to be a dropout: it may by chance drop nothing,
    and of large tensors too little is known.
    """
    rows = []
    for side in sides:
        dropouts = list(_dropouts(filter(depends, side.nodes)))
        drawing = [node for node in draws[side] if node.phase == "forward"]
        if len(dropouts) != len(drawing):
            return []
        rows.append(dropouts)
    first, second = rows
    if _sizes(first) != _sizes(second):
        return []
    pairs = zip(first, second, strict=True)
    return [_finding(*pair) for pair in pairs if not _are_same(*pair)]


def _sizes(dropouts: list[Dropout]) -> list[int]:
    return [dropout.node.value.size for dropout in dropouts]


def _dropouts(nodes: Iterable[Vertex]) -> Iterable[Dropout]:
    """The dropouts among some nodes, in execution order."""
    for node in sorted(nodes, key=lambda node: node.rank):
        if node.phase == "forward" and node.kind == "op":
            factors = [_factor(node.value, value) for value in node.inputs]
            found = [factor for factor in factors if factor]
            if found:
                yield Dropout(node, found[0])


def _factor(value: OutputValue, given: OutputValue) -> float:
    """The factor of what a dropout keeps of a value; 0 where it is no dropout, or not known."""
    if value.whole is None or given.whole is None or value.size != given.size:
        return 0.0
    numbers, dropped_from = elements(value.whole).ravel(), elements(given.whole).ravel()
    nonzero = dropped_from != 0
    with np.errstate(all="ignore"):
        factors = numbers[nonzero] / dropped_from[nonzero]
    kept = factors[factors != 0]
    if not 0 < kept.size < factors.size:
        return 0.0
    factor = float(np.median(kept))
    is_common = np.allclose(kept, factor, rtol=SAME, atol=0)
    return factor if is_common and factor > 1 + SAME else 0.0


def _are_same(one: Dropout, other: Dropout) -> bool:
    return abs(one.factor - other.factor) <= SAME * max(one.factor, other.factor)


def _finding(dropout: Dropout, other: Dropout) -> Finding:
    left, right = as_seen(dropout.node, other.node)
    if left is not dropout.node:
        dropout, other = other, dropout
    factors = dropout.factor, other.factor
    values = Reading("factor", (), factors[:1]), Reading("factor", (), factors[1:])
    divergence = OtherRate(
        phase="forward",
        ends=ends_of(left, Contrast(values), right),
        gap=Gap(abs(dropout.factor - other.factor)),
        places=both(left, right),
        rates=(dropout.rate, other.rate),
        factors=factors,
    )
    return Finding(divergence, frozenset((left, right)))
