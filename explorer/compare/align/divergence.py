"""Where two graphs part: the earliest place whose inputs agree and whose value does not, and further ones.

All that is computed from a divergence differs, so a second mistake there cannot be seen in values.
But the ops that follow still correspond: they read what corresponds, and are of one kind.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from math import isclose

from explorer.compare.align.backtrace import from_backtrace
from explorer.compare.align.contrasts import (
    FoundDivergence,
    from_leaf,
    from_lone_leaf,
    from_missing,
    from_result,
)
from explorer.compare.align.correspondence import (
    computed_from,
    gradients_of,
    partings_by_structure,
)
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.one_sided import extra_ops, gradients_stopped, ops_of_one_side
from explorer.compare.align.provenance import is_nothing, unwrapped
from explorer.compare.align.sameness import are_one, layout_of
from explorer.compare.align.suspects import (
    SILENT,
    Finder,
    Search,
    are_followed_alike,
    find_suspects,
    found_by,
    is_settled,
    lone_leaves,
    same_work,
)
from explorer.compare.align.two_rows import (
    are_in_another_order,
    are_put_back,
    two_ops,
    two_rows,
)
from explorer.compare.align.vertices import Vertex, in_order, span
from explorer.compare.graphs.view import reach
from explorer.model.divergence import ExtraOps, LoneLeaf, OtherValue

FEW_OPS = 12
"""The most ops of one side that are compared as one, from all that is known to a gradient."""

MOST_OPS = 64
"""The most where the first ops of the two sides have no input in common."""

MOST = 32
"""Further divergences that are looked for."""


def diverge(
    matching: Matching, missing: list[Vertex], apart: Sequence[FoundDivergence] = ()
) -> FoundDivergence | None:
    """The place where two graphs part, if a named result differs.

    ``missing`` are gradients that only the one or the other side has, the first side's first;
    ``apart`` those that both hold in other pieces, and that differ.
    """
    in_forward = matching.differing_results("forward")
    if in_forward:
        return _before_results(Search.behind(matching, in_forward, "forward"))
    in_backward = matching.differing_results("backward")
    if in_backward:
        early = Search.behind(matching, in_backward, "forward")
        # Steps that one side alone breaks down are no difference: the same op on both sides is.
        works: list[set[tuple[str, int]]] = []
        for first in early.counterparts or ():
            # Before values agree again.
            onwards = reach([first], _users_apart)
            works.append({(it.family, it.value.size) for it in onwards if not it.is_bookkeeping})
        if works and works[0] & works[1]:
            return _before_results(early)
        return _before_results(Search.behind(matching, in_backward, "backward"))
    # A graph that names no results, such as a compiler's early stage, still has its leaves.
    if matching.mismatches and not matching.first.results():
        return from_leaf(matching.mismatches[0])
    if missing:
        return from_missing(missing[0])
    return next(iter(apart), None)


def _users_apart(node: Vertex) -> list[Vertex]:
    """The forward ops that read a node and are not known to agree."""
    users = [it for it in node.consumers if it.phase == "forward" and not it.is_result]
    return [it for it in users if not is_settled(it, "forward")]


def _before_results(search: Search) -> FoundDivergence:
    """The earliest place among the suspects; where there is none, what makes the first result."""
    found = next(found_by(FIRST, search), None)
    unread = _unread_parameter(search)
    if unread and not (found and found.parts & unread.parts):
        return unread
    if found and is_difference(found):
        return found
    return from_result(search.results[0], search.phase)


def is_difference(found: FoundDivergence) -> bool:
    """Whether there is a difference, between what can be one quantity.

    Two gradients of other sizes are not: they are steps on two ways to it.
    """
    divergence = found.divergence
    if divergence.gap.greatest == 0:
        return False
    if found.ends is not None:
        node, other = found.ends
        is_one_number = isclose(node.value.only_number, other.value.only_number, rel_tol=1e-6)
        if is_one_number and node.value.size != other.value.size:
            return False
    is_of_other_sizes = any(end.value.what == "shape" for end in divergence.ends)
    is_two_ways = isinstance(divergence, OtherValue) and divergence.rows[0].count > 1
    return not (divergence.phase == "backward" and is_of_other_sizes and is_two_ways)


def find_further(
    matching: Matching, first: FoundDivergence, missing: list[Vertex]
) -> list[FoundDivergence]:
    """The places where two graphs part that are not computed from ``first``, nor from one another.

    Each is as sure as the first: ops that take equal inputs and give other values, leaves that
    differ, a gradient that one side stops, adds or lacks. Behind a divergence values cannot tell:
    there it is ops of another kind between the same ops.
    """
    in_forward = matching.differing_results("forward")
    in_backward = matching.differing_results("backward")
    # Where no result of forward differs, a difference in it may still show in the gradients.
    forward = Search.behind(matching, in_forward or in_backward, "forward")
    backward = Search.behind(matching, in_backward, "backward")
    # In the order in which they would explain the rest.
    searched = (found_by(FURTHER, search) for search in (forward, backward))
    findings = [first]
    explained = computed_from(first)
    for finding in chain(*searched, map(from_missing, missing)):
        if len(findings) > MOST:
            break
        is_known = any(finding.parts <= known.parts for known in findings)
        # A leaf is computed from none.
        leaves = {part for part in finding.parts if part.is_leaf}
        is_explained = not explained.isdisjoint(leaves or finding.parts)
        # A leaf of one side alone may be what an op of another divergence reads.
        is_lone = isinstance(finding.divergence, LoneLeaf)
        users = {user for leaf in leaves if is_lone for user in leaf.consumers}
        is_read = any(not users.isdisjoint(other.parts) for other in findings)
        if not (is_known or is_explained or is_read) and is_difference(finding):
            findings.append(finding)
            explained |= computed_from(finding)
    findings += partings_by_structure(matching.first.nodes, findings, explained)
    findings += _unexplained_results(matching, findings)
    # As they stand in the execution order of the two graphs.
    return sorted(findings[1:], key=lambda it: (it.divergence.phase == "backward", *span(it.parts)))


def _unexplained_results(
    matching: Matching, findings: list[FoundDivergence]
) -> Iterator[FoundDivergence]:
    """Results that differ, and that no divergence found so far leads to on each of its sides.

    Two ops that give several of them, such as both running statistics, are one divergence.
    """
    reached = []
    for finding in findings:
        # Also through values that agree: numbers in another order do, and zeros with other zeros.
        gradients = gradients_of(finding.parts | finding.laid, finding.laid)
        onwards = reach(finding.parts.union(gradients), lambda it: it.consumers)
        sides = {part.side for part in finding.parts}
        reached.append((any(it.phase == "forward" for it in finding.parts), sides, onwards))

    def is_explained(mismatch: Mismatch) -> bool:
        for is_in_net, sides, onwards in reached:
            results = {mismatch.on(side) for side in sides}
            if is_in_net and not onwards.isdisjoint(results):
                # Where a net differs in forward, or stops a gradient, nothing may depend on the leaf any
                # more on one side: that gradient is 0.
                results = {
                    it for it in results if not any(map(is_nothing, map(unwrapped, it.inputs)))
                }
            if onwards.issuperset(results):
                return True
        return False

    def makers(results: Iterable[Vertex]) -> frozenset[Vertex]:
        return frozenset(value.node.origin for result in results for value in result.inputs)

    of_results = [it.parts for it in findings if all(part.is_result for part in it.parts)]
    known = set(map(makers, of_results))
    for mismatch in matching.differing_results():
        made_by = makers((mismatch.first, mismatch.second))
        if not is_explained(mismatch) and (mismatch.phase == "backward" or made_by not in known):
            known.add(made_by)
            yield from_result(mismatch, mismatch.phase)


def _unread_parameter(search: Search) -> FoundDivergence | None:
    """A parameter that both sides have, and that only one of them reads, in an earliest suspect.

    In forward alone: a gradient may be computed without it.
    """
    if search.phase == "backward":
        return None
    for suspects in search.suspects_of.values():
        for node in suspects.nodes:
            unread = [
                it
                for it in node.origins
                if it.kind == "parameter" and it.partner
                if it.partner.is_leaf and not it.partner.consumers
            ]
            if len(unread) != 1:
                continue
            # Suspects may lead to it that read what is known: states that start as zeros do not.
            ahead = suspects.leading_to(node) - {node}
            read = {feeder for it in ahead for feeder in it.feeders}.difference(suspects.nodes)
            if all(it.kind == "constant" or it.family == "fill" for it in read):
                return from_lone_leaf(unread[0], node, search.phase, is_unread=True)
    return None


# Two ops


def _swapped(search: Search) -> Iterator[FoundDivergence]:
    """The earliest op before the suspects of each side that puts equal inputs together in another order.

    It pairs with its counterpart, since both hold the same numbers; what takes them apart again no
    longer does.
    """
    for suspects in search.suspects_of.values():
        before = reach(suspects.entries, lambda node: [it for it in node.feeders if it.is_work])
        for node in in_order(before):
            other = node.partner
            if other is None or not same_work(node, other) or not are_in_another_order(node, other):
                continue
            moved = layout_of(node.value, other.value) is not None
            if moved and not are_put_back(node, other):
                yield two_ops(search, node, other)


def _beside(search: Search) -> Iterator[FoundDivergence]:
    """The two earliest ops that correspond.

    Another op comes first where one side does the same work on something else: then it is the first two
    that do the same work with one parameter.
    """
    if search.counterparts is None:
        return
    first, second = search.counterparts
    if not same_work(first, second):
        nodes, others = (search.suspects_of[it.side].nodes for it in (first, second))
        pairs = [*((node, second) for node in nodes), *((first, node) for node in others)]
        for node, other in pairs:
            parameters = {it.counterpart for it in node.origins if it.kind == "parameter"}
            if same_work(node, other) and not parameters.isdisjoint(other.origins):
                first, second = node, other
                break
    found = two_ops(search, first, second)
    divergence = found.divergence
    read_else = isinstance(divergence, OtherValue) and all(divergence.inputs.alone)
    if read_else and not same_work(first, second) and search.phase == "backward":
        # Neither is in the place of the other: only what both sides come to can be compared.
        yield from _two_ways(search, MOST_OPS)
    yield found


# Two ways to one quantity


def _two_ways(search: Search, most: int = FEW_OPS) -> Iterator[FoundDivergence]:
    """All ops in backward that lead to one gradient, at ``most`` so many, where all else is known.

    Two formulas need not have a step in common: then none of them can be set beside another.
    """
    ways = []
    for mismatch in search.results:
        row, other_row = _way_to(mismatch.first, most), _way_to(mismatch.second, most)
        beyond = _beyond(mismatch.second, row) or _beyond(mismatch.first, other_row)
        if beyond:
            yield extra_ops([beyond], None)
            return
        if row and other_row and row[-1].value.size == other_row[-1].value.size:
            ways.append((row, other_row))
    if ways:
        shortest = min(ways, key=lambda rows: len(rows[0]) + len(rows[1]))
        yield two_rows(*shortest)


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
    returned = unwrapped(result.inputs[0]).node.origin.counterpart if result.inputs else None
    node = next((it for it in other_row if returned in it.origins), None)
    return None if node is None or node.family == "add" else node


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
        yield two_rows(row, other_row)


def _ops(search: Search) -> Iterator[FoundDivergence]:
    """Two ops that take the same inputs and give other values, those of one kind first."""
    first, second = search.suspects_of.values()
    others: dict[frozenset[Vertex | None], list[Vertex]] = {}
    for node in second.nodes:
        others.setdefault(frozenset(node.origins), []).append(node)
    for node in first.nodes:
        wanted = frozenset(origin.counterpart for origin in node.origins)
        for other in sorted(
            others.get(wanted, ()) if wanted else (),
            # Of ops of other kinds, those that are read alike come first.
            key=lambda it: (not same_work(node, it), not are_followed_alike(node, it)),
        ):
            values = node.value, other.value
            # Ops of other kinds stand in the same place where the same kinds of ops follow.
            is_alike = same_work(node, other) or are_followed_alike(node, other)
            is_of_one_size = node.value.size == other.value.size and node.family not in SILENT
            is_known = is_of_one_size and node.value.agrees(other.value) is not None
            if not (is_alike and is_known) or node.phase != other.phase:
                continue
            if not are_one(*values):
                yield two_ops(search, node, other)
                break


FIRST = (
    # Leaves come before all computation.
    Finder(Search.other_starts),
    # A gradient that is left out changes all that follows, also in ops that differ.
    Finder(gradients_stopped, "backward"),
    Finder(_swapped),
    Finder(from_backtrace),
    Finder(lone_leaves),
    Finder(partial(from_backtrace, by_layers=True), "forward", ("apart", "none")),
    Finder(_two_ways, "backward", ("apart",)),
    Finder(_two_lines, "forward", ("apart",)),
    Finder(ops_of_one_side, relations=("alike", "unlike", "apart")),
    Finder(_two_ways, "backward", ("unlike",)),
    Finder(_beside),
)
"""How the first divergence is found among the suspects, the surest way first."""

FURTHER = (
    Finder(Search.other_starts),
    Finder(partial(lone_leaves, are_behind=True)),
    # An op too many is a divergence only where nothing before it differs.
    Finder(lambda it: (o for o in from_backtrace(it) if not isinstance(o.divergence, ExtraOps))),
    Finder(gradients_stopped, "backward"),
    Finder(_ops),
)
"""How divergences are found that others do not explain, the surest way first."""
