"""What depends on random numbers in both graphs, and the rates of their dropouts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from explorer.compare.align.contrasts import Contrast, FoundDivergence, at, both
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.sameness import elements_beside
from explorer.compare.align.vertices import OutputValue, Side, Vertex
from explorer.compare.graphs.view import reach
from explorer.compare.results.remarks import draws_random_numbers
from explorer.model.divergence import Gap, OtherRate, Reading

# Rates of dropouts


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
) -> list[FoundDivergence]:
    """The dropouts that have another rate than the one in their place on the other side.

    ``draws`` are the ops that draw random numbers, ``depends`` tells what depends on these. Nothing
    is said unless every draw of the forward is seen to be a dropout: it may by chance drop nothing,
    and of large tensors too little is known.
    """
    rows = []
    for side in sides:
        dropouts: list[Dropout] = []
        for node in filter(depends, side.nodes):
            if node.phase == "forward" and node.kind == "op":
                factors = [_factor(node.value, value) for value in node.inputs]
                dropouts += [Dropout(node, factor) for factor in factors if factor][:1]
        drawing = [node for node in draws[side] if node.phase == "forward"]
        if len(dropouts) != len(drawing):
            return []
        rows.append(dropouts)
    if len({tuple(it.node.value.size for it in row) for row in rows}) > 1:
        return []
    rows.sort(key=lambda row: any(not it.node.side.is_left for it in row))
    found = []
    for left, right in zip(*rows, strict=True):
        factors, ends = (left.factor, right.factor), (left.node, right.node)
        if abs(left.factor - right.factor) <= SAME * max(factors):
            continue
        values = Reading("factor", (), factors[:1]), Reading("factor", (), factors[1:])
        divergence = OtherRate(
            phase="forward",
            **at(left.node, Contrast(values, Gap(abs(left.factor - right.factor))), right.node),
            places=both(*ends),
            rates=(left.rate, right.rate),
            factors=factors,
        )
        found.append(FoundDivergence(divergence, frozenset(ends)))
    return found


def _factor(value: OutputValue, given: OutputValue) -> float:
    """The factor of what a dropout keeps of a value; 0 where it is no dropout, or not known."""
    beside = elements_beside(value, given) if value.size == given.size else None
    if beside is None:
        return 0.0
    numbers, dropped_from = beside
    nonzero = dropped_from != 0
    with np.errstate(all="ignore"):
        factors = numbers[nonzero] / dropped_from[nonzero]
    kept = factors[factors != 0]
    if not 0 < kept.size < factors.size:
        return 0.0
    factor = float(np.median(kept))
    is_common = np.allclose(kept, factor, rtol=SAME, atol=0)
    return factor if is_common and factor > 1 + SAME else 0.0


# Random draws


class RandomDraws:
    """The nodes of two graphs that depend on a random draw.

    Each framework draws numbers of its own: beyond a draw on both sides other values say nothing,
    unless both drew the same numbers. A draw on one side alone is a difference like any other.
    ``unlike_rates`` are the places where the rates of two dropouts differ.
    """

    def __init__(self, matching: Matching) -> None:
        self._dependent: set[Vertex] = set()
        drawing = {
            side: [it for it in side.nodes if it.kind == "op" and draws_random_numbers(it.op)]
            for side in matching.sides
        }
        if all(drawing.values()) and not _draw_alike(*drawing.values()):
            for nodes in drawing.values():
                self._dependent |= reach(nodes, lambda node: node.consumers)
        self.unlike_rates = unlike_rates(matching.sides, drawing, self.explain)

    def explain(self, node: Vertex) -> bool:
        """Whether a node's value depends on a draw."""
        return node in self._dependent

    def explain_result(self, mismatch: Mismatch) -> bool:
        """Whether a result depends on a draw on both sides."""
        return self.explain(mismatch.first) and self.explain(mismatch.second)

    def explain_finding(self, finding: FoundDivergence) -> bool:
        """Whether all that takes part in a divergence depends on a draw."""
        return bool(finding.parts) and all(map(self.explain, finding.parts))


def _draw_alike(nodes: list[Vertex], others: list[Vertex]) -> bool:
    """Whether each operator of one side drew the numbers of the one in its place on the other side."""
    return len(nodes) == len(others) and all(
        any(value.agrees(other) for value, other in zip(one.values, another.values, strict=False))
        for one, another in zip(nodes, others, strict=True)
    )
