"""Further divergences: places where graphs differ that the first divergence does not explain.

All that is computed from a divergence differs, so a second mistake there cannot be seen in values.
But the ops that follow still correspond: they read what corresponds, and are of one kind. And values
that one graph alone rounds to a narrower dtype have a noise that hides what that changes.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from explorer.compare.align.backtrace import from_backtrace, is_nothing
from explorer.compare.align.contrasts import (
    FoundDivergence,
    alone,
    at,
    both,
    contrast,
    from_missing,
    from_result,
)
from explorer.compare.align.correspondence import (
    computed_from,
    gradients_of,
    partings_by_structure,
)
from explorer.compare.align.divergence import is_difference, lone_leaves
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.one_sided import gradients_stopped
from explorer.compare.align.provenance import take_the_same, unwrapped
from explorer.compare.align.sameness import unit_of
from explorer.compare.align.suspects import (
    SILENT,
    Finder,
    Search,
    are_followed_alike,
    found_by,
    same_work,
)
from explorer.compare.align.two_rows import two_ops
from explorer.compare.align.vertices import Vertex, in_order, span
from explorer.compare.graphs.view import reach
from explorer.model.divergence import ExtraOps, LoneLeaf, Rounded

MOST = 32
"""Further divergences that are looked for."""


def find_further(
    matching: Matching, first: FoundDivergence, missing: list[Vertex]
) -> list[FoundDivergence]:
    """The places where two graphs part that are not computed from ``first``, nor from one another.

    Each is as sure as the first: ops that take equal inputs and give other values, leaves that
    differ, a gradient that one side stops, adds or lacks. Behind a divergence values cannot tell:
    there it is ops of another kind between the same ops.
    """
    findings = [first]
    explained = computed_from(first, matching)
    for finding in _candidates(matching, missing):
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
            explained |= computed_from(finding, matching)
    findings += partings_by_structure(matching.first.nodes, findings, explained)
    findings += _unexplained_results(matching, findings)
    # As they stand in the execution order of the two graphs.
    return sorted(findings[1:], key=lambda it: (it.divergence.phase == "backward", *span(it.parts)))


# Results


def _unexplained_results(
    matching: Matching, findings: list[FoundDivergence]
) -> Iterator[FoundDivergence]:
    """Results that differ, and that no divergence found so far leads to on each of its sides.

    Two ops that give several of them, such as both running statistics, are one divergence.
    """
    reached = []
    for finding in findings:
        # Also through values that agree: numbers in another order do, and zeros with other zeros.
        gradients = gradients_of(finding.parts | finding.laid, finding.laid, matching)
        reached.append((finding, reach(finding.parts.union(gradients), lambda it: it.consumers)))
    of_results = [it for it in findings if all(part.is_result for part in it.parts)]
    makers = {_makers(*finding.parts) for finding in of_results}
    for mismatch in matching.differing_results():
        if any(_leads_to(finding, onwards, mismatch) for finding, onwards in reached):
            continue
        pair = _makers(mismatch.first, mismatch.second)
        if mismatch.phase == "backward" or pair not in makers:
            makers.add(pair)
            yield from_result(mismatch, mismatch.phase)


def _makers(*results: Vertex) -> frozenset[Vertex]:
    """The nodes that make some results."""
    return frozenset(value.node.origin for result in results for value in result.inputs)


def _leads_to(finding: FoundDivergence, onwards: set[Vertex], mismatch: Mismatch) -> bool:
    """Whether a result is computed from what differs, on each side that takes part.

    Where a net differs in forward, or stops a gradient, nothing may depend on the leaf any more on
    one of them: that gradient is 0.
    """
    results = [mismatch.on(part.side) for part in finding.parts]
    is_in_net = any(part.phase == "forward" for part in finding.parts)
    if is_in_net and not onwards.isdisjoint(results):
        of_nothing = [it for it in results if any(is_nothing(unwrapped(v)) for v in it.inputs)]
        results = [result for result in results if result not in of_nothing]
    return onwards.issuperset(results)


# What may be a divergence of its own


def _candidates(matching: Matching, missing: list[Vertex]) -> Iterator[FoundDivergence]:
    """What may be a divergence of its own, in the order in which it would explain the rest."""
    in_forward = matching.differing_results("forward")
    in_backward = matching.differing_results("backward")
    searches = (
        # Where no result of forward differs, a difference in it may still show in the gradients.
        Search.behind(matching, in_forward or in_backward, "forward").in_forward(),
        Search.behind(matching, in_backward, "backward"),
    )
    for search in searches:
        yield from found_by(FINDERS, search)
    yield from map(from_missing, missing)


def _back(search: Search) -> Iterator[FoundDivergence]:
    """What the way back leads to: an op too many is one only where nothing before it differs."""
    for finding in from_backtrace(search):
        if not isinstance(finding.divergence, ExtraOps):
            yield finding


def _ops(search: Search) -> Iterator[FoundDivergence]:
    """Two ops that take the same inputs and give other values, those of one kind first."""
    first, second = search.suspects_of.values()
    others: dict[frozenset[Vertex | None], list[Vertex]] = {}
    for node in second.nodes:
        others.setdefault(frozenset(node.origins), []).append(node)
    for node in first.nodes:
        alike = others.get(frozenset(origin.counterpart for origin in node.origins), [])
        # Of ops of other kinds, those that are read alike come first.
        alike.sort(key=lambda it: (not same_work(node, it), not are_followed_alike(node, it)))
        for other in alike:
            values = node.value, other.value
            # Ops of other kinds stand in the same place where the same kinds of ops follow.
            is_alike = same_work(node, other) or are_followed_alike(node, other)
            is_alike = is_alike and node.phase == other.phase and take_the_same(node, other)
            is_of_one_size = node.value.size == other.value.size and node.family not in SILENT
            is_known = is_of_one_size and node.value.agrees(other.value) is not None
            if is_alike and is_known and not search.matching.tolerance.are_one(*values):
                yield two_ops(search, node, other)
                break


FINDERS = (
    Finder(Search.other_starts),
    Finder(partial(lone_leaves, are_behind=True)),
    Finder(_back),
    Finder(gradients_stopped, "backward"),
    Finder(_ops),
)
"""How divergences are found that others do not explain, the surest way first."""


# Values that one side alone rounds


def rounded_on_one_side(
    matching: Matching, findings: Iterable[FoundDivergence]
) -> Iterator[FoundDivergence]:
    """The places in forward where one side alone rounds to a narrower dtype, and goes on in the wider one.

    What is rounded has a counterpart on the other side, and so has what comes of it; nothing between
    those two, nor anything that passes the former's numbers on, is narrower there. A value that is not
    changed by rounding, and what is in a divergence of ``findings``, is left out.
    """
    taken = {part for finding in findings for part in finding.parts}
    for side in matching.sides:
        for node in side.nodes:
            if node in taken or not node.is_needed or node.phase != "forward":
                continue
            finding = _rounding(node)
            if finding is not None and taken.isdisjoint(finding.parts):
                taken |= finding.parts
                yield finding


def _rounding(node: Vertex) -> FoundDivergence | None:
    """What begins at a node that rounds what it reads; None where it does not, or both sides do."""
    wider = [it for it in node.feeders if _is_narrower(node, it) and it.kind != "constant"]
    given = wider[0] if wider and node.is_work and wider[0].main is not None else None
    counterpart = _counterpart(given) if given else None
    if given is None or counterpart is None or _is_narrower(counterpart, given):
        return None

    def narrow_users(it: Vertex) -> list[Vertex]:
        users = (user for user in it.consumers if user.phase == "forward")
        return [user for user in users if _is_narrower(user, given)]

    narrow = reach([node], narrow_users)
    # What reads the narrow values, is as wide as what was given and was observed.
    users = reach(narrow, lambda it: it.consumers if it in narrow or it.main is None else ())
    for wide in in_order(users - narrow):
        is_in_net = wide.phase == "forward" and (wide.is_work or wide.is_result)
        if not (is_in_net and wide.main and wide.value.dtype == given.value.dtype):
            continue
        other = _counterpart(wide)
        if other is None or not _leads_without_rounding(counterpart, other, given):
            continue
        if not (_are_the_same(node, given) or _are_the_same(wide, other)):
            # Both values behind it, where these are of one shape.
            values = alone(wide.value)
            if wide.value.shape == other.value.shape:
                values = contrast(wide.value, other.value)
            divergence = Rounded(
                phase="forward",
                **at(node, values, other),
                side=node.side.name,
                places=both(node, other),
                dtypes=(node.value.dtype, given.value.dtype),
                result=wide.id,
            )
            return FoundDivergence(divergence, frozenset((*narrow, wide)), (wide, other))
    return None


def _are_the_same(node: Vertex, other: Vertex) -> bool:
    """Whether no difference of two nodes' numbers is known: then rounding changes nothing."""
    is_of_one_size = node.value.size == other.value.size
    return is_of_one_size and contrast(node.value, other.value).gap.greatest == 0


def _counterpart(node: Vertex) -> Vertex | None:
    """The node of the other side that holds the same quantity, maybe in another shape."""
    if not node.is_result:
        return node.there
    makers = node.partner.feeders if node.partner else []
    return next(iter(makers), None)


def _leads_without_rounding(start: Vertex, end: Vertex, given: Vertex) -> bool:
    """Whether one node leads to another, and nothing on the way is narrower than what was given.

    Nothing that passes the first one's numbers on may be either, wherever it leads.
    """
    passed_on = reach(
        [start.origin, start], lambda it: [user for user in it.consumers if user.is_bookkeeping]
    )
    onwards = reach([start], lambda it: it.consumers)
    is_end = end is start or end.origin is start.origin
    if not (is_end or end in onwards):
        return False
    leading = reach([end], lambda it: it.feeders)
    return not any(_is_narrower(it, given) for it in (*passed_on, *(onwards & leading)))


def _is_narrower(node: Vertex, other: Vertex) -> bool:
    """Whether the numbers of a node have fewer digits than those of another one."""
    return unit_of(node.value) > unit_of(other.value) > 0
