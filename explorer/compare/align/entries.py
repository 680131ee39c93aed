"""The earliest suspects of both sides, and the two ops among them that are to be set side by side."""

from explorer.compare.align.contrasts import FoundDivergence
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.one_sided import extra_ops, nothing_in_common, ops_ahead
from explorer.compare.align.provenance import shared_origins, unwrapped
from explorer.compare.align.suspects import (
    Suspects,
    SuspectsBySide,
    are_followed_alike,
    find_suspects,
    same_work,
)
from explorer.compare.align.two_rows import two_ops, two_rows
from explorer.compare.align.vertices import Vertex
from explorer.model.divergence import OtherValue
from explorer.model.graph import Phase

FEW_OPS = 12
"""The most ops of one side that are compared as one, from all that is known to a gradient."""

MOST_OPS = 64
"""The most where the first ops of the two sides have no input in common."""

NOT_ALIKE = 0, False, False, False
"""The likeness of two nodes that have nothing in common."""


def from_entries(
    matching: Matching, results: list[Mismatch], suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """The earliest suspects whose inputs agree: two ops that part, or work of one side only."""
    if not any(suspects.entries for suspects in suspects_of.values()):
        return None
    counterparts = counterparts_of(suspects_of)
    if counterparts is None:
        return (
            _from_two_ways(matching, results, phase)
            or _from_two_lines(matching, suspects_of, phase)
            or nothing_in_common(suspects_of, phase)
        )
    first, second = counterparts
    for node, other in ((first, second), (second, first)):
        row = ops_ahead(node, other, suspects_of)
        # What passes on the numbers that it reads is not where they begin to differ.
        if row and not all(ahead.is_bookkeeping for ahead in row):
            return extra_ops(row, other, phase)
    if not same_work(first, second):
        two_ways = _from_two_ways(matching, results, phase)
        if two_ways:
            return two_ways
        # Another op comes first where one side does the same work on something else.
        first, second = _of_one_layer(first, second, suspects_of)
    found = two_ops(matching, first, second, suspects_of, phase)
    if not same_work(first, second) and _read_something_else(found):
        # Neither is in the place of the other: only what both sides come to can be compared.
        return _from_two_ways(matching, results, phase, MOST_OPS) or found
    return found


def _read_something_else(found: FoundDivergence) -> bool:
    """Whether each of two rows of ops reads what the other one does not."""
    divergence = found.divergence
    return isinstance(divergence, OtherValue) and all(divergence.inputs.alone)


# Two ways to a gradient


def _from_two_ways(
    matching: Matching, results: list[Mismatch], phase: Phase, most: int = FEW_OPS
) -> FoundDivergence | None:
    """All ops in backward that lead to one gradient, at ``most`` so many, where all else is known.

    Two formulas need not have a step in common: then none of them can be set beside another.
    """
    if phase == "forward":
        return None
    shortest: tuple[list[Vertex], list[Vertex]] | None = None
    for mismatch in results:
        row, other_row = _way_to(mismatch.first, most), _way_to(mismatch.second, most)
        beyond = _beyond(mismatch.second, row) or _beyond(mismatch.first, other_row)
        if beyond:
            return extra_ops([beyond], None, phase)
        if not row or not other_row or row[-1].value.size != other_row[-1].value.size:
            continue
        if shortest is None or len(row) + len(other_row) < len(shortest[0]) + len(shortest[1]):
            shortest = row, other_row
    return two_rows(matching, *shortest) if shortest else None


def _from_two_lines(
    matching: Matching, suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """The ops of a line of each side, whose formulas begin unlike and come to one quantity, if it differs."""
    rows = []
    for suspects in suspects_of.values():
        if phase == "backward" or len(suspects.entries) != 1 or suspects.entries[0].is_leaf:
            return None
        rows.append(suspects.stretch(suspects.entries[0]))
    row, other_row = rows
    is_one = are_followed_alike(row[-1], other_row[-1])
    if not is_one or row[-1].value.size != other_row[-1].value.size:
        return None
    return two_rows(matching, row, other_row)


def _beyond(result: Vertex, other_row: list[Vertex]) -> Vertex | None:
    """The first op of the other side's way to a gradient that works on what is returned here.

    Where it adds to that, the term is what only one side has.
    """
    if not result.inputs:
        return None
    returned = unwrapped(result.inputs[0]).node.origin.counterpart
    for node in other_row:
        if returned is not None and returned in node.origins:
            return None if node.family == "add" else node
    return None


def _way_to(result: Vertex, most: int) -> list[Vertex]:
    """The observed ops in backward that lead to a gradient from what is known; none where many do."""
    nodes = find_suspects([result], "backward").nodes
    ops = [node for node in nodes if node.main and not node.is_bookkeeping]
    is_known = not any(node.is_leaf or node.phase == "forward" for node in nodes)
    # All that one op hands on is its formula, however long.
    is_of_one = len({node.forward for node in ops}) == 1 and all(node.forward for node in ops)
    return ops if is_known and (is_of_one or len(ops) <= most) else []


# Two ops


def counterparts_of(suspects_of: SuspectsBySide) -> tuple[Vertex, Vertex] | None:
    """The first side's earliest entry that has a counterpart, and that one."""
    first, second = suspects_of.values()
    for node in first.entries:
        best: Vertex | None = None
        best_likeness = NOT_ALIKE
        for other in second.entries:
            likeness = _likeness(node, other)
            if likeness > best_likeness:
                best, best_likeness = other, likeness
        if best:
            return _on_shared_inputs(node, best, suspects_of)
    return None


def _on_shared_inputs(
    node: Vertex, other: Vertex, suspects_of: SuspectsBySide
) -> tuple[Vertex, Vertex]:
    """Two entries, or one of them and a later suspect with which it shares inputs, where it has none."""
    if not shared_origins(node, other):
        later = _same_work_on_more(node, suspects_of[other.side])
        if later:
            return node, later
        later = _same_work_on_more(other, suspects_of[node.side])
        if later:
            return later, other
    return node, other


def _same_work_on_more(node: Vertex, suspects: Suspects) -> Vertex | None:
    """A later suspect that does the work of an entry on some of the same inputs.

    It is no entry itself where one of its inputs is something else on its side.
    """
    for other in suspects.nodes:
        if other.phase == node.phase and same_work(node, other) and shared_origins(node, other):
            return other
    return None


def _likeness(node: Vertex, other: Vertex) -> tuple[int, bool, bool, bool]:
    """The likeness of two nodes; of more similar nodes the tuple is greater.

    Shared inputs count first, then the same kind of op, then the same module, then what reads them: of
    two parts of one tensor it is this alone that tells which is which.
    """
    if node.phase != other.phase:
        return NOT_ALIKE
    is_same_module = node.scope != "" and node.scope == other.scope
    likeness = shared_origins(node, other), same_work(node, other), is_same_module
    return *likeness, any(likeness) and are_followed_alike(node, other)


def _of_one_layer(
    first: Vertex, second: Vertex, suspects_of: SuspectsBySide
) -> tuple[Vertex, Vertex]:
    """Two ops that do the same work with one parameter, one of which is given; else the given two."""
    for node in suspects_of[first.side].nodes:
        if _share_parameter(node, second):
            return node, second
    for node in suspects_of[second.side].nodes:
        if _share_parameter(first, node):
            return first, node
    return first, second


def _share_parameter(node: Vertex, other: Vertex) -> bool:
    parameters = {origin.counterpart for origin in node.origins if origin.kind == "parameter"}
    return same_work(node, other) and not parameters.isdisjoint(other.origins)
