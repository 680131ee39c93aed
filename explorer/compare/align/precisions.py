"""Values that one graph alone rounds to a narrower dtype, whose noise then hides what that changes."""

from collections.abc import Iterable, Iterator

from explorer.compare.align.contrasts import (
    FoundDivergence,
    alone,
    both,
    contrast,
    ends_of,
    gap_of,
)
from explorer.compare.align.matching import Matching
from explorer.compare.align.vertices import Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.divergence import Rounded
from explorer.numeric.summaries import UNIT


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
    given = _rounded_input(node)
    counterpart = _counterpart(given) if given else None
    if given is None or counterpart is None or _is_narrower(counterpart, given):
        return None
    narrow = reach([node], lambda it: [user for user in _users(it) if _is_narrower(user, given)])
    for wide in _wide_users(narrow, given):
        other = _counterpart(wide)
        if other is None or not _leads_without_rounding(counterpart, other, given):
            continue
        if not (_are_the_same(node, given) or _are_the_same(wide, other)):
            return _found(node, frozenset((*narrow, wide)), (wide, other))
    return None


def _users(node: Vertex) -> list[Vertex]:
    """What reads a node in forward."""
    return [user for user in node.consumers if user.phase == "forward"]


def _are_the_same(node: Vertex, other: Vertex) -> bool:
    """Whether no difference of two nodes' numbers is known: then rounding changes nothing."""
    if node.value.size != other.value.size:
        return False
    return contrast(node.value, other.value).gap.greatest == 0


def _found(node: Vertex, parts: frozenset[Vertex], ends: tuple[Vertex, Vertex]) -> FoundDivergence:
    """The divergence of a node that rounds, with both values behind it where these are of one shape."""
    wide, other = ends
    values = alone(wide.value)
    if wide.value.shape == other.value.shape:
        values = contrast(wide.value, other.value)
    given = next(it for it in node.feeders if _is_narrower(node, it))
    divergence = Rounded(
        phase="forward",
        ends=ends_of(node, values, other),
        gap=gap_of(node, values),
        side=node.side.name,
        places=both(node, other),
        dtypes=(_dtype(node), _dtype(given)),
        result=wide.id,
    )
    return FoundDivergence(divergence, parts, ends)


def _rounded_input(node: Vertex) -> Vertex | None:
    """What a node reads in a wider dtype than that of its own value; None where there is no such."""
    if not node.is_work:
        return None
    wider = [it for it in node.feeders if _is_narrower(node, it) and it.kind != "constant"]
    return wider[0] if wider and wider[0].main is not None else None


def _wide_users(narrow: set[Vertex], given: Vertex) -> list[Vertex]:
    """What reads the narrow values, is as wide as what was given and was observed, in execution order."""
    users = reach(narrow, lambda it: it.consumers if it in narrow or it.main is None else ())
    wide = {it for it in users - narrow if it.main and _dtype(it) == _dtype(given)}
    return in_order(it for it in wide if it.phase == "forward" and (it.is_work or it.is_result))


def _counterpart(node: Vertex) -> Vertex | None:
    """The node of the other side that holds the same quantity, maybe in another shape."""
    if node.is_result:
        maker = node.partner.inputs[:1] if node.partner else ()
        return maker[0].node if maker else None
    if node.partner is not None and node.is_agreed:
        return node.partner
    return node.origin.counterpart


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
    between = onwards & reach([end], lambda it: it.feeders)
    return not any(_is_narrower(it, given) for it in (*passed_on, *between))


def _is_narrower(node: Vertex, other: Vertex) -> bool:
    """Whether the numbers of a node have fewer digits than those of another one."""
    own, others = UNIT.get(_dtype(node)), UNIT.get(_dtype(other))
    return own is not None and others is not None and own > others


def _dtype(node: Vertex) -> str:
    """The dtype of the value that stands for a node."""
    outputs = node.record.outputs
    return outputs[node.value.output].dtype if node.value.output < len(outputs) else ""
