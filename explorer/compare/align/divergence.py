"""The first divergence: the earliest place whose inputs agree and whose value does not."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from typing import NamedTuple

from explorer.compare.align.backtrace import from_backtrace
from explorer.compare.align.contrasts import (
    NO_DIVERGENCE,
    FoundDivergence,
    from_leaf,
    from_lone_leaf,
    from_missing,
    from_result,
)
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.one_sided import (
    extra_ops,
    gradients_added,
    gradients_stopped,
    nothing_in_common,
    ops_ahead,
)
from explorer.compare.align.provenance import shared_origins, unwrapped
from explorer.compare.align.suspects import (
    Suspects,
    SuspectsBySide,
    are_followed_alike,
    find_suspects,
    same_work,
    suspects_behind,
    work_onwards,
)
from explorer.compare.align.two_rows import swapped_before, two_ops, two_rows
from explorer.compare.align.vertices import Vertex
from explorer.compare.graphs.view import reach
from explorer.model.divergence import OtherValue
from explorer.model.graph import Phase

FEW_OPS = 12
"""The most ops of one side that are compared as one, from all that is known to a gradient."""

MOST_OPS = 64
"""The most where the first ops of the two sides have no input in common."""

NOT_ALIKE = 0, False, False, False
"""The likeness of two nodes that have nothing in common."""


def diverge(
    matching: Matching, missing: list[Vertex], apart: Sequence[FoundDivergence] = ()
) -> FoundDivergence:
    """The place where two graphs part, if a named result differs.

    ``missing`` are gradients that only the one or the other side has, the first side's first;
    ``apart`` those that both hold in other pieces, and that differ.
    """
    in_forward = matching.differing_results("forward")
    if in_forward:
        return _before_results(Search.behind(matching, in_forward, "forward"))
    in_backward = matching.differing_results("backward")
    if in_backward:
        early = Search.behind(matching, in_backward, "forward").in_forward()
        # Steps that one side alone breaks down are no difference: the same op on both sides is.
        works = [work_onwards(node) for node in early.counterparts or ()]
        if works and works[0] & works[1]:
            return _before_results(early)
        return _before_results(Search.behind(matching, in_backward, "backward"))
    # A graph that names no results, such as a compiler's early stage, still has its leaves.
    if matching.mismatches and not matching.first.results():
        return from_leaf(matching.mismatches[0])
    if missing:
        return from_missing(missing[0])
    return next(iter(apart), NO_DIVERGENCE)


def is_difference(found: FoundDivergence, phase: Phase) -> bool:
    """Whether there is a difference, between what can be one quantity.

    Two gradients of other sizes are not: they are steps on two ways to it.
    """
    divergence = found.divergence
    if divergence is None or divergence.gap.greatest == 0:
        return False
    if found.ends is not None and _hold_one_number(*found.ends):
        return False
    is_of_other_sizes = any(end.value.what == "shape" for end in divergence.ends)
    is_two_ways = isinstance(divergence, OtherValue) and divergence.rows[0].count > 1
    return not (phase == "backward" and is_of_other_sizes and is_two_ways)


def _hold_one_number(node: Vertex, other: Vertex) -> bool:
    """Whether two values of unlike sizes hold one number over and over, the same on both sides."""
    held = []
    for value in (node.value, other.value):
        known = value.summary
        if known is None or known.nonfinite or known.minimum != known.maximum:
            return False
        held.append(known.minimum)
    return node.value.size != other.value.size and isclose(*held, rel_tol=1e-6)


@dataclass(frozen=True)
class Search:
    """What finders go by: results that differ, and the suspects of both sides behind them.

    Behind gradients that differ there may be suspects in forward although its results agree, within
    tolerance or because a later op hides the difference.
    """

    matching: Matching
    results: list[Mismatch]
    suspects_of: SuspectsBySide
    phase: Phase

    @classmethod
    def behind(cls, matching: Matching, results: list[Mismatch], phase: Phase) -> "Search":
        """The search behind some results."""
        return cls(matching, results, suspects_behind(matching, results, phase), phase)

    def in_forward(self) -> "Search":
        """The search among the suspects of forward: the way back from a gradient leads through backward."""
        forward = {side: suspects.forward_only() for side, suspects in self.suspects_of.items()}
        return Search(self.matching, self.results, forward, "forward")

    @cached_property
    def counterparts(self) -> tuple[Vertex, Vertex] | None:
        """The first side's earliest entry that has a counterpart, and that one."""
        first, second = self.suspects_of.values()
        for node in first.entries:
            best: Vertex | None = None
            best_likeness = NOT_ALIKE
            for other in second.entries:
                likeness = _likeness(node, other)
                if likeness > best_likeness:
                    best, best_likeness = other, likeness
            if best:
                return self._on_shared_inputs(node, best)
        return None

    def _on_shared_inputs(self, node: Vertex, other: Vertex) -> tuple[Vertex, Vertex]:
        """Two entries, or one of them and a later suspect with which it shares inputs, where it has none.

        Such a suspect is no entry itself where one of its inputs is something else on its side.
        """
        if not shared_origins(node, other):
            for entry, there in ((node, other.side), (other, node.side)):
                for later in self.suspects_of[there].nodes:
                    is_alike = later.phase == entry.phase and same_work(entry, later)
                    if is_alike and shared_origins(entry, later):
                        return (node, later) if entry is node else (later, other)
        return node, other

    def other_starts(self) -> Iterator[FoundDivergence]:
        """Leaves among the suspects that have another value on each side."""
        suspected = {node for suspects in self.suspects_of.values() for node in suspects.nodes}
        for mismatch in self.matching.mismatches:
            is_suspect = not suspected.isdisjoint((mismatch.first, mismatch.second))
            if is_suspect and mismatch.first.is_leaf:
                yield from_leaf(mismatch, self.phase)

    def is_anything(self) -> bool:
        """What a finder needs that needs nothing."""
        return True

    def is_of_outputs(self) -> bool:
        """Whether outputs of the net differ, and no two earliest suspects correspond."""
        return self.results[0].first.phase == "forward" and self.counterparts is None

    def is_apart(self) -> bool:
        """Whether there are suspects whose inputs agree, and no two of them correspond."""
        have_entries = any(suspects.entries for suspects in self.suspects_of.values())
        return have_entries and self.counterparts is None

    def is_of_other_work(self) -> bool:
        """Whether two earliest suspects correspond that are ops of other kinds."""
        return self.counterparts is not None and not same_work(*self.counterparts)


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


class Finder(NamedTuple):
    """A way to find divergences: in which ``phase``, None in both, and what it ``needs`` of a search."""

    find: Callable[[Search], Iterator[FoundDivergence]]
    phase: Phase | None = None
    needs: Callable[[Search], bool] = Search.is_anything


def found_by(finders: Iterable[Finder], search: Search) -> Iterator[FoundDivergence]:
    """What finders find of a search that is of their phase and has what they need, in their order."""
    for finder in finders:
        if finder.phase in (None, search.phase) and finder.needs(search):
            yield from finder.find(search)


def _before_results(search: Search) -> FoundDivergence:
    """The earliest place among the suspects; where there is none, what makes the first result."""
    found = next(found_by(FINDERS, search), None)
    unread = _unread_parameter(search)
    if unread and not (found and found.parts & unread.parts):
        return unread
    if found and is_difference(found, search.phase):
        return found
    return from_result(search.results[0], search.phase)


# Leaves


def _unread_parameter(search: Search) -> FoundDivergence | None:
    """A parameter that both sides have, and that only one of them reads, in an earliest suspect.

    In forward alone: a gradient may be computed without it.
    """
    for suspects in search.suspects_of.values() if search.phase == "forward" else ():
        for node in suspects.nodes:
            unread = [origin for origin in node.origins if _is_read_here_alone(origin)]
            if len(unread) == 1 and not _differs_ahead(node, suspects):
                return from_lone_leaf(unread[0], node, search.phase, is_unread=True)
    return None


def _is_read_here_alone(leaf: Vertex) -> bool:
    there = leaf.partner
    return leaf.kind == "parameter" and there is not None and there.is_leaf and not there.consumers


def _differs_ahead(node: Vertex, suspects: Suspects) -> bool:
    """Whether suspects lead to one that read what is known: states that start as zeros do not."""
    members = set(suspects.nodes)
    ahead = reach([node], lambda it: members.intersection(it.feeders)) - {node}
    read = {feeder for it in ahead for feeder in it.feeders} - members
    return any(it.kind != "constant" and it.family != "fill" for it in read)


def _lone_leaves(search: Search) -> Iterator[FoundDivergence]:
    """A leaf among the suspects that only one side has."""
    for suspects in search.suspects_of.values():
        for leaf in suspects.leaves():
            if suspects.is_alone(leaf):
                yield from_lone_leaf(leaf, suspects.user_of(leaf), search.phase)


# Two ops


def _swapped(search: Search) -> Iterator[FoundDivergence]:
    """Equal inputs that two ops put together in another order."""
    for suspects in search.suspects_of.values():
        swapped = swapped_before(search.matching, suspects.entries)
        if swapped:
            yield two_ops(search.matching, *swapped, search.suspects_of, swapped[0].phase)


def _ahead(search: Search) -> Iterator[FoundDivergence]:
    """Ops that one of two sides has ahead of what the other one begins with."""
    if search.counterparts is None:
        return
    first, second = search.counterparts
    for node, other in ((first, second), (second, first)):
        row = ops_ahead(node, other, search.suspects_of)
        # What passes on the numbers that it reads is not where they begin to differ.
        if row and not all(ahead.is_bookkeeping for ahead in row):
            yield extra_ops(row, other, search.phase)


def _beside(search: Search) -> Iterator[FoundDivergence]:
    """The two earliest ops that correspond."""
    if search.counterparts is None:
        return
    first, second = search.counterparts
    if not same_work(first, second):
        # Another op comes first where one side does the same work on something else.
        first, second = _of_one_layer(first, second, search.suspects_of)
    found = two_ops(search.matching, first, second, search.suspects_of, search.phase)
    divergence = found.divergence
    read_else = isinstance(divergence, OtherValue) and all(divergence.inputs.alone)
    if read_else and not same_work(first, second) and search.phase == "backward":
        # Neither is in the place of the other: only what both sides come to can be compared.
        yield from _two_ways(search, MOST_OPS)
    yield found


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


# Two ways to one quantity


def _two_ways(search: Search, most: int = FEW_OPS) -> Iterator[FoundDivergence]:
    """All ops in backward that lead to one gradient, at ``most`` so many, where all else is known.

    Two formulas need not have a step in common: then none of them can be set beside another.
    """
    shortest: tuple[list[Vertex], list[Vertex]] | None = None
    for mismatch in search.results:
        row, other_row = _way_to(mismatch.first, most), _way_to(mismatch.second, most)
        beyond = _beyond(mismatch.second, row) or _beyond(mismatch.first, other_row)
        if beyond:
            yield extra_ops([beyond], None, search.phase)
            return
        if not row or not other_row or row[-1].value.size != other_row[-1].value.size:
            continue
        if shortest is None or len(row) + len(other_row) < len(shortest[0]) + len(shortest[1]):
            shortest = row, other_row
    if shortest:
        yield two_rows(search.matching, *shortest)


def _way_to(result: Vertex, most: int) -> list[Vertex]:
    """The observed ops in backward that lead to a gradient from what is known; none where many do."""
    nodes = find_suspects([result], "backward").nodes
    ops = [node for node in nodes if node.main and not node.is_bookkeeping]
    is_known = not any(node.is_leaf or node.phase == "forward" for node in nodes)
    # All that one op hands on is its formula, however long.
    is_of_one = len({node.forward for node in ops}) == 1 and all(node.forward for node in ops)
    return ops if is_known and (is_of_one or len(ops) <= most) else []


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


def _two_lines(search: Search) -> Iterator[FoundDivergence]:
    """The ops of a line of each side, whose formulas begin unlike and come to one quantity, if it differs."""
    rows = []
    for suspects in search.suspects_of.values():
        if len(suspects.entries) != 1 or suspects.entries[0].is_leaf:
            return
        rows.append(suspects.stretch(suspects.entries[0]))
    row, other_row = rows
    is_one = are_followed_alike(row[-1], other_row[-1])
    if is_one and row[-1].value.size == other_row[-1].value.size:
        yield two_rows(search.matching, row, other_row)


def _back(search: Search) -> Iterator[FoundDivergence]:
    return from_backtrace(search.matching, search.results, search.phase)


def _back_by_layers(search: Search) -> Iterator[FoundDivergence]:
    return from_backtrace(search.matching, search.results, search.phase, by_layers=True)


FINDERS = (
    # Leaves come before all computation.
    Finder(Search.other_starts),
    # A gradient that is left out changes all that follows, also in ops that differ.
    Finder(lambda search: gradients_stopped(search.suspects_of), "backward"),
    Finder(lambda search: gradients_added(search.suspects_of), "backward"),
    Finder(_swapped),
    Finder(_back),
    Finder(_lone_leaves),
    Finder(_back_by_layers, needs=Search.is_of_outputs),
    Finder(_two_ways, "backward", Search.is_apart),
    Finder(_two_lines, "forward", Search.is_apart),
    Finder(
        lambda search: nothing_in_common(search.suspects_of, search.phase), None, Search.is_apart
    ),
    Finder(_ahead),
    Finder(_two_ways, "backward", Search.is_of_other_work),
    Finder(_beside),
)
"""How the first divergence is found among the suspects, the surest way first."""
