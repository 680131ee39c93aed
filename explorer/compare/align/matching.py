"""The pairs found so far, those that need no search, and the steps that belong to a pair.

Leaves and results pair by their names. A step is a product before its bias is added, where the other engine
has one op for both. What the other engine does in an op of the same family is no such step: it is compared
with that op. Nor is an op whose value cannot be what it yields from its recorded inputs, by plain arithmetic.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from explorer.compare.align.sameness import NOISE, are_noise, are_one, layout_of
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex, in_order
from explorer.compare.graphs.sameness import within
from explorer.model.alignment import How
from explorer.model.graph import Phase
from explorer.numeric.differences import Floats
from explorer.operators.arithmetic import MOVES, is_moved, yielded

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
    """The pairs of two sides.

    ``matches`` are the pairs in order of discovery, at most one a node. ``shared`` pairs a node
    that has no partner with a further output of one that has. ``mismatches`` are leaves and results
    that share a name and not a value. ``alike`` are the names of results that agree whatever the levels of
    the graphs say. ``contradictions`` are ops, by node, whose counterpart takes
    the same inputs and leads to the same values, and holds another value itself.
    """

    def __init__(self, first: Side, second: Side, alike: Collection[str] = ()) -> None:
        self.first = first
        self.second = second
        self.sides = first, second
        self.alike = alike
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

    def join(self, first: OutputValue, second: OutputValue, how: How) -> None:
        """Makes a pair of two nodes, by one value of each, and of those that made its numbers."""
        self.matches.append(Match(first, second, how))
        for value, other in ((first, second), (second, first)):
            value.is_taken = True
            value.node.partner = other.node
            value.node.is_agreed |= value.is_main
        # The nodes that made the numbers correspond. A pair of a coarser dtype, cast from what one side
        # has in float64, tells nothing of that.
        one, two = first.node.origin, second.node.origin
        are_equal = one.value.agrees(two.value)
        if not (first.is_main and second.is_main) or are_equal is False:
            return
        # The first pair decides: later ones may be equal by chance.
        one.counterpart = one.counterpart or two
        two.counterpart = two.counterpart or one
        # At once: or else a step that only passes these numbers on might take the maker's partner.
        are_free = all(it.is_free and it.is_work and not it.is_bookkeeping for it in (one, two))
        if how not in _NO_EVIDENCE_OF_ORIGIN and are_equal and one.phase == two.phase and are_free:
            self.join(one.value, two.value, "value+provenance")

    def share(self, value: OutputValue, other: OutputValue, how: How) -> None:
        """Pairs a further output of a paired node with a node of the other side that has none."""
        first, second = (value, other) if value.node.side.is_first else (other, value)
        self.shared.append(Match(first, second, how))
        value.is_taken = other.is_taken = True
        other.node.host = value.node.partner


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
        # They pair with each other or with nothing.
        first.is_reserved = second.is_reserved = True
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
            for bucket in node.value.near:
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
        if match.how == "name" and layout_of(match.first, match.second):
            transposed.add(match.first.node.name)
    for first, second in _results_to_compare(matching):
        one, other = first.result, second.result
        is_equal = one.agrees(other) is None or are_noise(one, other, NOISE)
        if one.agrees(other) and not is_equal:
            # The gradient of a parameter that is stored transposed may have its elements in any order.
            any_layout = first.name.removeprefix("d") in transposed
            is_equal = any_layout or layout_of(one, other) is None
        is_alike = first.name == second.name and first.name in matching.alike
        if not (is_equal or is_alike):
            matching.mismatches.append(Mismatch(first, second))
            continue
        matching.join(first.value, second.value, "name")
        made = *first.inputs[:1], *second.inputs[:1]
        if is_alike or len(made) < 2:
            continue
        # So do the nodes that make it, unless one of the two only reshapes it. Both are of one phase: where
        # the derivative of a product is the other factor itself, a compiler returns that, whose partner is
        # the other side's factor.
        value, other_value = made
        makers = value.node, other_value.node
        are_free = all(it.is_main and it.node.is_free and it.node.is_work for it in made)
        is_one_phase = makers[0].phase == makers[1].phase
        are_alike = is_one_phase and makers[0].is_bookkeeping == makers[1].is_bookkeeping
        if are_free and are_alike and value.agrees(other_value):
            matching.join(value, other_value, "value+provenance")


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


# Steps inside an operator


ROOM = 1e-3
"""The part of an element, and of the greatest one, by which a value may be off."""

ROUNDING = 1e-6
"""The part of what is summed up by which a sum may be off that cancels."""


class Enclosure(NamedTuple):
    """Unpaired ``steps`` that nothing but a pair's node ``top`` uses, in execution order.

    ``into`` are the origins of what goes into them. ``families`` counts those that hold other numbers than
    what they read.
    """

    top: Vertex
    steps: list[Vertex]
    into: set[Vertex]
    families: Counter[str]


def enclose_steps(matching: Matching) -> None:
    """Finds, for each pair, the steps to its node that its partner takes inside itself.

    That holds by value: both nodes hold the same numbers, all that goes into the steps is paired
    with what goes into the partner, and nothing else uses the steps. In backward these are the
    incoming gradients; what forward kept may be any of its values. A step of which the other side
    has an op of the same family on its own way there is not inside, nor is one that cannot be
    what its op yields: nothing may hide in a pair.
    """
    for match in sorted(matching.matches, key=lambda match: match.first.node.rank):
        one, other = match.first, match.second
        are_work = all(value.is_main and value.node.is_work for value in (one, other))
        are_alike = one.node.phase == other.node.phase and one.agrees(other)
        if match.how == "provenance" or not (are_work and are_alike):
            continue
        first, second = _enclosure(one.node), _enclosure(other.node)
        if not (first.steps or second.steps):
            continue
        inputs, other_inputs = _paired_inputs(first), _paired_inputs(second)
        if inputs is None or {node.counterpart for node in inputs} != other_inputs:
            continue
        _compare(matching, first, second)
        for here, there in ((first, second), (second, first)):
            own = [
                it for it in here.steps if it.origin is not it or it.family not in there.families
            ]
            here.top.steps = tuple(filter(fits, own))
            for step in here.top.steps:
                step.host = here.top


def _enclosure(top: Vertex) -> Enclosure:
    """The steps to a node in its own phase, back to nodes with a partner or another user."""
    members, around, stack = {top}, set(), [top]
    while stack:
        for node in stack.pop().feeders:
            is_unpaired_work = node.is_free and node.is_work and node.main is not None
            # What backward reads of forward does not count as a use.
            is_used_within = members.issuperset(node.users_in_phase)
            if not is_unpaired_work or node.phase != top.phase or not is_used_within:
                around.add(node)
            elif node not in members:
                members.add(node)
                stack.append(node)

    steps = in_order(members - {top})
    # What was met before all its users had been may have become a step after all.
    into = {node.origin for node in around.difference(steps)}
    return Enclosure(top, steps, into, Counter(it.family for it in steps if it.origin is it))


def _paired_inputs(enclosure: Enclosure) -> set[Vertex] | None:
    """The inputs of steps that have a counterpart; None where one lacks it that needs one."""
    inputs = set()
    for node in enclosure.into:
        if enclosure.top.phase == "backward" and node.phase == "forward":
            # What forward kept may be any of an op's values: engines keep others for one op.
            is_paired = node.counterpart is not None or node.is_paired
            if not (is_paired or node.is_leaf or node.kind == "constant"):
                return None
        elif node.counterpart:
            inputs.add(node)
        elif node.kind != "constant" and node.family != "fill":
            return None  # its numbers come from elsewhere: the other op does not hold them itself
    return inputs


# Steps of one family on both sides


def _compare(matching: Matching, first: Enclosure, second: Enclosure) -> None:
    """Compares the only steps of a family on either side, where these take the same inputs."""
    steps, other_steps = (
        {step.family: step for step in it.steps if step.origin is step} for it in (first, second)
    )
    for family, step in steps.items():
        if not first.families[family] == second.families[family] == 1:
            continue
        other = other_steps[family]
        wanted = {origin.counterpart for origin in step.origins}
        if not wanted or wanted != set(other.origins):
            continue
        if are_one(step.value, other.value):
            matching.join(step.value, other.value, "provenance")
        # Two proven values differ because the ops do different things: another order of factors.
        elif not step.record.proof == other.record.proof == "proven":
            matching.contradictions.update({step: other, other: step})


def fits(node: Vertex) -> bool:
    """Whether a node's value can be right, by its inputs or by what is computed from it.

    It can where nothing tells.
    """
    own = is_yielded(node)
    if own is not None:
        return own
    verdicts = {is_yielded(user) for user in node.users_in_phase if user.is_work}
    return True in verdicts or False not in verdicts


def is_yielded(node: Vertex) -> bool | None:
    """Whether a node holds what its op yields from its inputs; None where that is not known."""
    value = _floats(node.main)
    inputs = [_floats(read) for read in node.inputs]
    known = [array for array in inputs if array is not None]
    if value is None or not inputs or len(known) < len(inputs):
        return None
    room = max(ROOM, 4 * node.coarseness)
    with np.errstate(all="ignore"):
        if node.family in MOVES:
            return is_moved(node.family, known, value, room)
        candidates = yielded(node.family, known, value)
        if not candidates:
            return None
        greatest = max(float(np.abs(array).max()) for array in known)
        terms = max(array.size for array in known) / value.size
        floor = room * float(np.abs(value).max()) + ROUNDING * greatest * max(terms, 1.0)
        # In whatever layout.
        held = np.sort(value, axis=None)
        return any(within(np.sort(it, axis=None), held, (room, floor)) for it in candidates)


def _floats(value: OutputValue | None) -> Floats | None:
    """All elements in their shape, where they are known, finite and real."""
    numbers = None if value is None else value.finite_numbers
    if value is None or numbers is None or not 0 < numbers.size == value.size:
        return None
    return numbers.reshape(value.shape)
