"""The first divergence: the earliest place whose inputs agree and whose value does not."""

from collections.abc import Iterator, Sequence
from math import isclose

from explorer.compare.align.backtrace import Backtrace, ExtraRow, Origin, TermLeftOut
from explorer.compare.align.contrasts import (
    NO_DIVERGENCE,
    FoundDivergence,
    alone,
    both,
    contrast,
    ends_of,
)
from explorer.compare.align.entries import counterparts_of, from_entries
from explorer.compare.align.layer_backtrace import LayerBacktrace
from explorer.compare.align.leaf_divergences import from_leaf, from_lone_leaf
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.one_sided import (
    extra_ops,
    gradients_added,
    gradients_stopped,
    term_left_out,
)
from explorer.compare.align.rearrangement import (
    swapped_before,
)
from explorer.compare.align.suspects import (
    Suspects,
    SuspectsBySide,
    find_suspects,
    is_settled,
    unpaired_onwards,
)
from explorer.compare.align.two_rows import two_ops, two_rows
from explorer.compare.align.vertices import Side, Vertex, as_seen
from explorer.compare.graphs.view import reach
from explorer.model.divergence import (
    OtherValue,
    ResultElsewhere,
    ResultMissing,
)
from explorer.model.graph import Phase


def diverge(
    matching: Matching, missing: list[Vertex], apart: Sequence[FoundDivergence] = ()
) -> FoundDivergence:
    """The place where two graphs part, if a named result differs.

    ``missing`` are gradients that only the one or the other side has, the first side's first;
    ``apart`` those that both hold in other pieces, and that differ.
    """
    in_forward = matching.differing_results("forward")
    if in_forward:
        suspects_of = suspects_behind(matching, in_forward, "forward")
        return _before_results(matching, in_forward, suspects_of, "forward")
    in_backward = matching.differing_results("backward")
    if in_backward:
        early = _early(matching, in_backward)
        if early:
            return _before_results(matching, in_backward, early, "forward")
        suspects_of = suspects_behind(matching, in_backward, "backward")
        return _before_results(matching, in_backward, suspects_of, "backward")
    # A graph that names no results, such as a compiler's early stage, still has its leaves.
    if matching.mismatches and not matching.first.results():
        return from_leaf(matching.mismatches[0])
    if missing:
        return from_missing(missing[0])
    return next(iter(apart), NO_DIVERGENCE)


def _before_results(
    matching: Matching, results: list[Mismatch], suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence:
    """The earliest place among the suspects; where there is none, what makes the first result."""
    found = _among_suspects(matching, results, suspects_of, phase)
    unread = _from_unread_parameter(suspects_of, phase)
    if unread and not (found and found.parts & unread.parts):
        return unread
    if found and is_difference(found, phase):
        return found
    return from_result(results[0], phase)


def _among_suspects(
    matching: Matching, results: list[Mismatch], suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """What is found first of all that may be where two graphs part, the surest first."""
    return (
        _from_other_starts(matching, suspects_of, phase)
        or (_left_out(suspects_of) if phase == "backward" else None)
        or _from_swapped(matching, suspects_of, phase)
        or next(from_backtrace(matching, results, phase), None)
        or _from_lone_leaves(suspects_of, phase)
        or _from_layers(matching, results, suspects_of, phase)
        or from_entries(matching, results, suspects_of, phase)
    )


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


def suspects_behind(matching: Matching, results: list[Mismatch], phase: Phase) -> SuspectsBySide:
    """The suspects of both sides."""
    suspects_of = {}
    for side in matching.sides:
        suspects_of[side] = find_suspects([mismatch.on(side) for mismatch in results], phase)
    return suspects_of


def _early(matching: Matching, results: list[Mismatch]) -> SuspectsBySide | None:
    """Suspects of a forward that differs although its results agree.

    They agree within tolerance, or because a later op hides the difference. Steps that one side
    alone breaks down are no difference; the same op on both sides with another value is.
    """
    # The way back from a gradient leads through backward first: what is there is no suspect here.
    suspects_of: dict[Side, Suspects] = {}
    for side, suspects in suspects_behind(matching, results, "forward").items():
        suspects_of[side] = suspects.forward_only()
    counterparts = counterparts_of(suspects_of)
    if counterparts is None:
        return None
    work, other_work = (_work_onwards(node) for node in counterparts)
    return suspects_of if work & other_work else None


def _work_onwards(first: Vertex) -> set[tuple[str, int]]:
    """The family and size of every op that follows from a node before values agree again."""
    work = set()
    for node in unpaired_onwards(first):
        if not node.is_bookkeeping:
            work.add((node.family, node.value.size))
    return work


# Leaves


def _from_other_starts(
    matching: Matching, suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """A leaf among the suspects that has another value on each side.

    Leaves come before all computation, so they are looked at before ops are.
    """
    first, second = suspects_of.values()
    suspected = {*first.nodes, *second.nodes}
    for mismatch in matching.mismatches:
        is_suspect = not suspected.isdisjoint((mismatch.first, mismatch.second))
        if is_suspect and mismatch.first.is_leaf:
            return from_leaf(mismatch, phase)
    return None


def _from_unread_parameter(suspects_of: SuspectsBySide, phase: Phase) -> FoundDivergence | None:
    """A parameter that both sides have, and that only one of them reads, in an earliest suspect.

    In forward alone: a gradient may be computed without it.
    """
    for suspects in suspects_of.values() if phase == "forward" else ():
        for node in suspects.nodes:
            unread = [origin for origin in node.origins if _is_read_here_alone(origin)]
            if len(unread) == 1 and not _differs_ahead(node, suspects):
                return from_lone_leaf(unread[0], node, phase, is_unread=True)
    return None


def _differs_ahead(node: Vertex, suspects: Suspects) -> bool:
    """Whether suspects lead to one that read what is known: states that start as zeros do not."""
    members = set(suspects.nodes)
    ahead = reach([node], lambda it: members.intersection(it.feeders)) - {node}
    read = {feeder for it in ahead for feeder in it.feeders} - members
    return any(it.kind != "constant" and it.family != "fill" for it in read)


def _is_read_here_alone(leaf: Vertex) -> bool:
    there = leaf.partner
    return leaf.kind == "parameter" and there is not None and there.is_leaf and not there.consumers


def _from_lone_leaves(suspects_of: SuspectsBySide, phase: Phase) -> FoundDivergence | None:
    """A leaf among the suspects that only one side has."""
    leaves = []
    for suspects in suspects_of.values():
        leaves += [leaf for leaf in suspects.leaves() if suspects.is_alone(leaf)]
    if not leaves:
        return None
    return from_lone_leaf(leaves[0], suspects_of[leaves[0].side].user_of(leaves[0]), phase)


# Ops


def _left_out(suspects_of: SuspectsBySide) -> FoundDivergence | None:
    """A gradient that is left out: it changes all that follows, also in ops that differ."""
    stopped = next(gradients_stopped(suspects_of), None)
    return stopped or next(gradients_added(suspects_of), None)


def _from_swapped(
    matching: Matching, suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """Equal inputs that two ops put together in another order."""
    for suspects in suspects_of.values():
        swapped = swapped_before(matching, suspects.entries)
        if swapped:
            return two_ops(matching, *swapped, suspects_of, swapped[0].phase)
    return None


def from_backtrace(
    matching: Matching,
    results: list[Mismatch],
    phase: Phase,
    way_back: type[Backtrace] = Backtrace,
) -> Iterator[FoundDivergence]:
    """The places that the way back from results leads to on both sides, earliest first."""
    backtrace = way_back(matching, phase, lambda node: is_settled(node, phase))
    for origin in sorted(backtrace.origins(results), key=_place):
        if isinstance(origin, TermLeftOut):
            yield term_left_out(origin.total, origin.term, origin.rest)
        elif isinstance(origin, ExtraRow):
            row = list(origin.row)
            yield extra_ops(row, origin.goes_on, row[0].phase, is_term=origin.is_term)
        else:
            yield two_rows(matching, list(origin.first), list(origin.second))


def _from_layers(
    matching: Matching, results: list[Mismatch], suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence | None:
    """The earliest place on the way back by whole layers, where no two earliest suspects correspond."""
    if results[0].first.phase == "backward" or counterparts_of(suspects_of) is not None:
        return None
    return next(from_backtrace(matching, results, phase, LayerBacktrace), None)


def _place(origin: Origin) -> tuple[int, int]:
    """The sort key of an origin: what runs first."""
    steps = [node.step for node in origin.nodes]
    return min(steps), max(steps)


# Results


def from_result(mismatch: Mismatch, phase: Phase) -> FoundDivergence:
    """A result whose maker has a partner on the other side that is not the result's maker there."""
    left, right = as_seen(mismatch.first, mismatch.second)
    maker = left.inputs[0].node if left.inputs else left
    other_maker = right.inputs[0].node if right.inputs else right
    values = contrast(left.result, right.result)
    divergence = ResultElsewhere(
        phase=phase,
        ends=ends_of(maker, values, other_maker),
        gap=values.gap,
        name=left.name or left.id,
        makers=both(maker, other_maker),
        do_correspond=maker.partner is other_maker,
    )
    return FoundDivergence(divergence, frozenset((left, right)))


def from_missing(result: Vertex) -> FoundDivergence:
    """Everything that both sides name agrees, but one of them has a gradient more."""
    divergence = ResultMissing(
        phase="backward",
        ends=ends_of(result, alone(result.result)),
        side=result.side.name,
        name=result.name,
    )
    return FoundDivergence(divergence, frozenset((result,)))
