"""The pairs found so far."""

from dataclasses import dataclass

from explorer.compare.align.fingerprints import Tolerance, agree, elements
from explorer.compare.align.sides import OutputValue, Side, Vertex
from explorer.model.alignment import How
from explorer.model.graph import Phase

NOISE = 10.0
"""Results are noise about zero up to this many times ``atol``.

A gradient that cancels is a sum of larger terms, and has the rounding of these.
"""

LAYOUT_SLACK = 10.0
"""The multiple of the tolerance beyond which an element counts as being in another place."""

_NO_EVIDENCE_OF_ORIGIN: frozenset[How] = frozenset({"across", "name", "provenance"})
"""Pairs that say nothing of what made their numbers: it may be other work on either side."""


@dataclass(frozen=True)
class Match:
    """Two values that are the same quantity, and the evidence for it."""

    left: OutputValue
    right: OutputValue
    how: How

    def on(self, side: Side) -> OutputValue:
        """The value of one side."""
        return self.left if side.is_left else self.right


@dataclass(frozen=True)
class Mismatch:
    """Two leaves or results that share a name and not a value."""

    left: Vertex
    right: Vertex

    def on(self, side: Side) -> Vertex:
        """The node of one side."""
        return self.left if side.is_left else self.right


class Matching:
    """The pairs of two sides; only its methods change what nodes say of their partners.

    ``matches`` are the pairs in order of discovery, at most one a node. ``shared`` pairs a node
    that has no partner with a further output of one that has. ``mismatches`` are leaves and results
    that share a name and not a value. ``contradictions`` are ops, by node, whose counterpart takes
    the same inputs and leads to the same values, and holds another value itself.
    """

    def __init__(self, left: Side, right: Side, tolerance: Tolerance) -> None:
        self.left = left
        self.right = right
        self.sides = left, right
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
        results = [mismatch for mismatch in self.mismatches if mismatch.left.is_result]
        return [result for result in results if phase in (None, result.left.phase)]

    def reserve(self, left: Vertex, right: Vertex) -> None:
        """Keeps two leaves of one name from pairing with anything else."""
        left.is_reserved = right.is_reserved = True

    def join(self, left: OutputValue, right: OutputValue, how: How) -> None:
        """Makes a pair of two nodes, by one value of each."""
        self.matches.append(Match(left, right, how))
        left.is_taken = right.is_taken = True
        left.node.partner, right.node.partner = right.node, left.node
        if left.is_main:
            left.node.is_agreed = True
        if right.is_main:
            right.node.is_agreed = True
        if left.is_main and right.is_main:
            self._join_origins(left.node.origin, right.node.origin, how)

    def _join_origins(self, left: Vertex, right: Vertex, how: How) -> None:
        """Notes that two nodes made the numbers of a pair.

        They become a pair too where ``how`` is evidence of that.
        """
        # The first pair decides: later ones may be equal by chance.
        left.counterpart = left.counterpart or right
        right.counterpart = right.counterpart or left
        # At once: or else a step that only passes these numbers on might take the maker's partner.
        if how not in _NO_EVIDENCE_OF_ORIGIN and _may_have_made_the_same(left, right):
            self.join(left.value, right.value, "value+provenance")

    def share(self, value: OutputValue, other: OutputValue, how: How) -> None:
        """Pairs a further output of a paired node with a node of the other side that has none."""
        left, right = (value, other) if value.node.side.is_left else (other, value)
        self.shared.append(Match(left, right, how))
        value.is_taken = other.is_taken = True
        other.node.host = value.node.partner

    def enclose(self, top: Vertex, steps: tuple[Vertex, ...]) -> None:
        """Notes the steps that lead to a node and that its partner takes inside itself."""
        top.steps = steps
        for step in steps:
            step.host = top

    def contradict(self, left: Vertex, right: Vertex) -> None:
        """Notes that two ops should hold the same quantity, and hold different values."""
        self.contradictions[left] = right
        self.contradictions[right] = left

    def layout(self, left: OutputValue, right: OutputValue) -> How | None:
        """How the equal numbers of two values of one shape lie differently.

        "transposed", "reordered", or None where they do not or not every element is known.
        """
        one, other = left.whole, right.whole
        if one is None or other is None or one.shape != other.shape or one.data == other.data:
            return None
        left_elements, right_elements = elements(one), elements(other)
        rtol, floor = self._room(left, right)
        if agree(left_elements, right_elements, rtol, floor):
            return None
        if len(one.shape) == 2:
            transposed = left_elements.reshape(one.shape).T.ravel()
            if agree(transposed, right_elements, rtol, floor):
                return "transposed"
        return "reordered"

    def _room(self, left: OutputValue, right: OutputValue) -> tuple[float, float]:
        """The (rtol, floor) beyond which elements count as being in another place."""
        coarseness = max(left.node.coarseness, right.node.coarseness)
        scale = right.bucket.scale if right.bucket else 0.0
        rtol = LAYOUT_SLACK * max(self.tolerance.rtol, coarseness)
        floor = LAYOUT_SLACK * max(self.tolerance.atol, coarseness) * scale
        return rtol, floor

    def are_noise(self, left: OutputValue, right: OutputValue, room: float = 1.0) -> bool:
        """Whether two values of one size are rounding noise about zero.

        All their elements lie within ``room`` times ``atol`` of zero.
        """
        limit = room * self.tolerance.atol
        return left.size == right.size and left.is_within(limit) and right.is_within(limit)


def _may_have_made_the_same(left: Vertex, right: Vertex) -> bool:
    if left.phase != right.phase or not left.value.agrees(right.value):
        return False
    return _is_free_work(left) and _is_free_work(right)


def _is_free_work(node: Vertex) -> bool:
    return node.is_free and node.is_work and not node.is_bookkeeping
