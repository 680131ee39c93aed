"""The pairs found so far, and those that need no search: leaves and results, by their names."""

from collections.abc import Iterable
from dataclasses import dataclass

from explorer.compare.align.sameness import NOISE, Tolerance
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex
from explorer.model.alignment import How
from explorer.model.graph import Phase

PHASES: tuple[Phase, ...] = ("forward", "backward")

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
        may_be_pair = first.phase == second.phase and first.value.agrees(second.value)
        are_free = all(
            it.is_free and it.is_work and not it.is_bookkeeping for it in (first, second)
        )
        if how not in _NO_EVIDENCE_OF_ORIGIN and may_be_pair and are_free:
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


# Leaves and results, by their names


def pair_leaves(matching: Matching) -> None:
    """Pairs inputs, parameters and named constants by name, then what is a constant on one side.

    Inputs and parameters of one name whose values differ pair with nothing else.
    """
    leaves, other_leaves = _leaves(matching.first), _leaves(matching.second)
    for name, first in leaves.items():
        second = other_leaves.get(name)
        if second is None:
            continue
        agrees = first.value.agrees(second.value)
        # Every engine numbers its constants itself: an equal name alone means nothing.
        if not agrees and "constant" in (first.kind, second.kind):
            continue
        matching.reserve(first, second)
        if agrees is False:
            matching.mismatches.append(Mismatch(first, second))
        else:
            matching.join(first.value, second.value, "name")
    for side in matching.sides:
        leaves_left = [node for node in side.nodes if node.is_leaf and not node.is_reserved]
        telling = (leaf for leaf in leaves_left if leaf.value.is_distinctive)
        pair_with_constants(matching, telling, side, "value")


def pair_with_constants(matching: Matching, nodes: Iterable[Vertex], side: Side, how: How) -> None:
    """Pairs nodes of one side with the constants of one phase that they are on the other: the same numbers.

    Where several constants hold them, the first one in execution order is taken.
    """
    constants: dict[Bucket, list[OutputValue]] = {}
    for node in side.other.nodes:
        if node.kind == "constant" and node.is_free and node.value.is_distinctive:
            for bucket in node.value.neighbours():
                constants.setdefault(bucket, []).append(node.value)
    for node in nodes:
        held = constants.get(node.value.bucket, ()) if node.is_free and node.value.bucket else ()
        for constant in held:
            if constant.node.is_free and constant.node.phase == node.phase:
                values = node.value, constant
                matching.join(*(values if side.is_first else values[::-1]), how)
                break


def _leaves(side: Side) -> dict[str, Vertex]:
    """The first leaf or constant of each name."""
    leaves: dict[str, Vertex] = {}
    for node in side.nodes:
        if node.name and (node.is_leaf or node.kind == "constant"):
            leaves.setdefault(node.name, node)
    return leaves


def pair_results(matching: Matching) -> None:
    """Pairs results by phase and name, the rest by their order.

    A result pairs with a result only.
    """
    transposed = set()
    for match in matching.matches:
        if match.how == "name" and matching.tolerance.layout(match.first, match.second):
            transposed.add(match.first.node.name)
    for first, second in _results_to_compare(matching):
        one, other = first.result, second.result
        # The gradient of a parameter that is stored transposed may have its elements in any order.
        any_layout = first.name.removeprefix("d") in transposed
        is_equal = one.agrees(other) is None or matching.tolerance.are_noise(one, other, NOISE)
        if one.agrees(other) and not is_equal:
            is_equal = any_layout or matching.tolerance.layout(one, other) is None
        if first.name == second.name and first.name in matching.tolerance.alike:
            matching.join(first.value, second.value, "name")
        elif is_equal:
            matching.join(first.value, second.value, "name")
            _pair_makers(matching, first, second)
        else:
            matching.mismatches.append(Mismatch(first, second))


def _results_to_compare(matching: Matching) -> list[tuple[Vertex, Vertex]]:
    """Results of one name; then the rest of a phase, in order, where both sides have as many."""
    pairs: list[tuple[Vertex, Vertex]] = []
    taken: set[Vertex] = set()
    # Of one name in each phase, then of one name: either phase may write a buffer.
    for phase in (*PHASES, None):
        left, others = (
            [it for it in side.results(phase) if it.name and it not in taken]
            for side in matching.sides
        )
        by_name = {result.name: result for result in reversed(others)}
        for result in left:
            other = by_name.pop(result.name, None)
            if other is not None:
                pairs.append((result, other))
                taken |= {result, other}
    for phase in PHASES:
        rest = [node for node in matching.first.results(phase) if node not in taken]
        other_rest = [node for node in matching.second.results(phase) if node not in taken]
        # Engines need not call a result the same, but they list results in the same order.
        if len(rest) == len(other_rest):
            pairs += zip(rest, other_rest, strict=True)
    return pairs


def _pair_makers(matching: Matching, first: Vertex, second: Vertex) -> None:
    """Pairs the nodes that make an equal result, unless one of the two only reshapes it.

    Both are of one phase: where the derivative of a product is the other factor itself, a compiler
    returns that, whose partner is the other side's factor.
    """
    if not first.inputs or not second.inputs:
        return
    value, other = first.inputs[0], second.inputs[0]
    if not all(it.is_main and it.node.is_free and it.node.is_work for it in (value, other)):
        return
    are_alike = (
        value.node.phase == other.node.phase
        and value.node.is_bookkeeping == other.node.is_bookkeeping
    )
    if are_alike and value.agrees(other):
        matching.join(value, other, "value+provenance")
