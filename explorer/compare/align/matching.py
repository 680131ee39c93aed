"""The pairs found so far."""

from dataclasses import dataclass
from math import hypot

import numpy as np

from explorer.compare.align.fingerprints import (
    Tolerance,
    agree,
    allowances,
    elements,
    levels_of,
    unit_of,
)
from explorer.compare.align.vertices import OutputValue, Side, Vertex
from explorer.compare.graphs.sameness import CLEAR
from explorer.model.alignment import How
from explorer.model.divergence import Layout
from explorer.model.graph import Phase
from explorer.numeric.differences import Floats

NOISE = 10.0
"""Results are noise about zero up to this many times ``atol``.

A gradient that cancels is a sum of larger terms, and has the rounding of these.
"""

LAYOUT_SLACK = 10.0
"""The multiple of the tolerance beyond which an element counts as being in another place."""

MOST_ROWS = 512
"""Of values with more rows it is not looked whether they have the same ones."""

_NO_EVIDENCE_OF_ORIGIN: frozenset[How] = frozenset({"across", "name", "provenance"})
"""Pairs that say nothing of what made their numbers: it may be other work on either side."""


@dataclass(frozen=True)
class Match:
    """Two values that are the same quantity, and the evidence for it."""

    first: OutputValue
    second: OutputValue
    how: How

    def on(self, side: Side) -> OutputValue:
        """The value of one side."""
        return self.first if side.is_first else self.second


@dataclass(frozen=True)
class Mismatch:
    """Two leaves or results that share a name and not a value."""

    first: Vertex
    second: Vertex

    def on(self, side: Side) -> Vertex:
        """The node of one side."""
        return self.first if side.is_first else self.second

    @property
    def phase(self) -> Phase:
        """The phase at whose end the two differ: backward may write to a buffer on one side alone."""
        phases = self.first.phase, self.second.phase
        return "backward" if "backward" in phases else "forward"


class Matching:
    """The pairs of two sides; only its methods change what nodes say of their partners.

    ``matches`` are the pairs in order of discovery, at most one a node. ``shared`` pairs a node
    that has no partner with a further output of one that has. ``mismatches`` are leaves and results
    that share a name and not a value. ``contradictions`` are ops, by node, whose counterpart takes
    the same inputs and leads to the same values, and holds another value itself.
    """

    def __init__(self, first: Side, second: Side, tolerance: Tolerance) -> None:
        self.first = first
        self.second = second
        self.sides = first, second
        self.tolerance = tolerance
        self.matches: list[Match] = []
        self.shared: list[Match] = []
        self.mismatches: list[Mismatch] = []
        self.contradictions: dict[Vertex, Vertex] = {}

    def differing(self, side: Side) -> set[Vertex]:
        """The leaves and results of a side that share their names and not their values."""
        return {mismatch.on(side) for mismatch in self.mismatches}

    def differing_results(self, phase: Phase | None = None) -> list[Mismatch]:
        """The results that differ, of one phase or of both."""
        results = [mismatch for mismatch in self.mismatches if mismatch.first.is_result]
        return [result for result in results if phase in (None, result.phase)]

    def reserve(self, first: Vertex, second: Vertex) -> None:
        """Keeps two leaves of one name from pairing with anything else."""
        first.is_reserved = second.is_reserved = True

    def join(self, first: OutputValue, second: OutputValue, how: How) -> None:
        """Makes a pair of two nodes, by one value of each."""
        self.matches.append(Match(first, second, how))
        first.is_taken = second.is_taken = True
        first.node.partner, second.node.partner = second.node, first.node
        if first.is_main:
            first.node.is_agreed = True
        if second.is_main:
            second.node.is_agreed = True
        if first.is_main and second.is_main:
            self._join_origins(first.node.origin, second.node.origin, how)

    def _join_origins(self, first: Vertex, second: Vertex, how: How) -> None:
        """Notes that two nodes made the numbers of a pair.

        They become a pair too where ``how`` is evidence of that.
        """
        # A pair of a coarser dtype, cast from what one side has in float64, tells nothing of that.
        if first.value.agrees(second.value) is False:
            return
        # The first pair decides: later ones may be equal by chance.
        first.counterpart = first.counterpart or second
        second.counterpart = second.counterpart or first
        # At once: or else a step that only passes these numbers on might take the maker's partner.
        if how not in _NO_EVIDENCE_OF_ORIGIN and _may_have_made_the_same(first, second):
            self.join(first.value, second.value, "value+provenance")

    def share(self, value: OutputValue, other: OutputValue, how: How) -> None:
        """Pairs a further output of a paired node with a node of the other side that has none."""
        first, second = (value, other) if value.node.side.is_first else (other, value)
        self.shared.append(Match(first, second, how))
        value.is_taken = other.is_taken = True
        other.node.host = value.node.partner

    def enclose(self, top: Vertex, steps: tuple[Vertex, ...]) -> None:
        """Notes the steps that lead to a node and that its partner takes inside itself."""
        top.steps = steps
        for step in steps:
            step.host = top

    def contradict(self, first: Vertex, second: Vertex) -> None:
        """Notes that two ops should hold the same quantity, and hold different values."""
        self.contradictions[first] = second
        self.contradictions[second] = first

    def layout(self, first: OutputValue, second: OutputValue) -> Layout | None:
        """How the equal numbers of two values lie differently, whose shapes are one but for ones.

        "transposed", "reordered", or None where they do not or not every element is known.
        """
        one, other = first.whole, second.whole
        if one is None or other is None or one.data == other.data:
            return None
        if _without_ones(one.shape) != _without_ones(other.shape):
            return None
        left_elements, right_elements = elements(one), elements(other)
        if left_elements.shape != right_elements.shape:
            return None  # of a complex tensor and a real one
        rtol, floor = self._room(first, second, left_elements.size)
        if agree(left_elements, right_elements, rtol, floor):
            return None
        if len(one.shape) == 2:
            transposed = left_elements.reshape(one.shape).T.ravel()
            if agree(transposed, right_elements, rtol, float(floor.max())):
                return "transposed"
        return "reordered"

    def have_other_rows(self, first: OutputValue, second: OutputValue) -> bool:
        """Whether equal numbers of two values make up other rows along the last axis.

        The rows may be in any order, and in any shape. False where that is not known.
        """
        one, other = first.whole, second.whole
        if one is None or other is None or not (one.shape and other.shape):
            return False
        if one.shape[-1] != other.shape[-1] or first.size != second.size:
            return False
        left, right = elements(one), elements(other)
        if left.shape != right.shape:
            return False  # of a complex tensor and a real one
        rows, others = (side.reshape(-1, one.shape[-1]) for side in (left, right))
        if len(rows) > MOST_ROWS:
            return False
        rtol, floor = self._room(first, second, left.size)
        room = float(rtol.max()), float(floor.max())
        return any(not any(agree(row, it, *room) for it in others) for row in rows)

    def _room(self, first: OutputValue, second: OutputValue, count: int) -> tuple[Floats, Floats]:
        """The (rtol, floor) beyond which each of ``count`` elements counts as being in another place."""
        scale = max(value.bucket.scale if value.bucket else 0.0 for value in (first, second))
        rtol, floor = allowances(
            self.tolerance,
            (levels_of(first, count), levels_of(second, count)),
            np.array(max(unit_of(first), unit_of(second))),
            np.array(max(first.node.coarseness, second.node.coarseness)),
            np.array(scale),
        )
        return LAYOUT_SLACK * rtol, LAYOUT_SLACK * floor

    def are_noise(self, first: OutputValue, second: OutputValue, room: float = 1.0) -> bool:
        """Whether two values of one size are rounding noise about zero.

        All their elements lie within CLEAR times their noise of zero; where the noise of one was
        not measured, within ``room`` times ``atol``.
        """
        if first.size != second.size:
            return False
        if first.noise is None or second.noise is None:
            limit = room * self.tolerance.atol
        else:
            limit = CLEAR * hypot(first.noise, second.noise)
        if not (first.is_within(limit) and second.is_within(limit)):
            return False
        return not (first.levels or second.levels) or _are_within_levels(first, second)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its dimensions of length 1, which say nothing of where numbers lie."""
    return tuple(length for length in shape if length != 1)


def _are_within_levels(first: OutputValue, second: OutputValue) -> bool:
    """Whether the elements of two values whose examples have a noise of their own are within it."""
    one, other = first.whole, second.whole
    if one is None or other is None or first.shape != second.shape:
        return True
    left, right = elements(one), elements(other)
    if left.shape != right.shape:
        return True
    limits = CLEAR * np.hypot(levels_of(first, left.size), levels_of(second, right.size))
    return bool((np.maximum(np.abs(left), np.abs(right)) <= limits).all())


def _may_have_made_the_same(first: Vertex, second: Vertex) -> bool:
    if first.phase != second.phase or not first.value.agrees(second.value):
        return False
    return _is_free_work(first) and _is_free_work(second)


def _is_free_work(node: Vertex) -> bool:
    return node.is_free and node.is_work and not node.is_bookkeeping
