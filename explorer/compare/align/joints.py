"""Where two graphs may be joined again behind a divergence: outputs that would be one quantity but for it."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from explorer.compare.align.contrasts import FoundDivergence
from explorer.compare.align.suspects import kind
from explorer.compare.align.vertices import OutputValue, Side, Vertex
from explorer.model.divergence import (
    ExtraOps,
    GradientStopped,
    LoneLeaf,
    OtherOp,
    ResultElsewhere,
)
from explorer.model.graph import SideName, Slot


class Joint(NamedTuple):
    """An output of one graph, and the one of the other whose value it gets; None: zeros.

    ``sizes`` are the shapes of both.
    """

    here: Slot
    there: Slot | None
    shapes: tuple[tuple[int, ...], tuple[int, ...]]


class Seam(NamedTuple):
    """A divergence as it is mended.

    ``parts`` are the ids of the nodes of each side that take part; leaves are left out; ``laid`` those
    before them whose gradients differ with it. ``joints`` join the graphs again where the values of a
    side are to be replaced. One that ``is_assumed`` is named by its structure alone: what its ops read
    is not known to be equal.
    """

    parts: dict[SideName, frozenset[str]]
    joints: dict[SideName, tuple[Joint, ...]]
    is_assumed: bool
    laid: frozenset[tuple[SideName, str]] = frozenset()


LONGEST = 4
"""So many ops behind what one side alone has are looked at for one that the other side has too."""

Pair = tuple[OutputValue, OutputValue | None]


def seam(finding: FoundDivergence, sides: Iterable[Side]) -> Seam:
    """The seam of a divergence."""
    parts: dict[SideName, frozenset[str]] = {}
    joints: dict[SideName, tuple[Joint, ...]] = {}
    for side in sides:
        own = [part for part in finding.parts if part.side is side and not part.is_leaf]
        parts[side.name] = frozenset(part.id for part in own)
        find = FINDERS.get(type(finding.divergence), _at_ends)
        joints[side.name] = tuple(_joint(*pair) for pair in find(finding, side))
    divergence = finding.divergence
    is_between = isinstance(divergence, ExtraOps) and divergence.is_between
    is_assumed = isinstance(divergence, OtherOp) or is_between
    return Seam(parts, joints, is_assumed, frozenset((it.side.name, it.id) for it in finding.laid))


def _joint(own: OutputValue, other: OutputValue | None) -> Joint:
    """Two outputs that are joined; where one has its bias already, the other one behind what adds that."""
    if other is None:
        return Joint(own.slot, None, (own.shape, own.shape))
    own, other = _behind_bias(own, other), _behind_bias(other, own)
    return Joint(own.slot, other.slot, (own.shape, other.shape))


def _behind_bias(value: OutputValue, other: OutputValue) -> OutputValue:
    """A value, or behind what adds the bias to it that the op of the ``other`` one reads itself."""
    behind = _bias_added(value.node)
    if behind is not None and value.is_main:
        leaves = [it.counterpart for it in behind.origins if it.kind == "parameter"]
        if all(leaf in other.node.origins for leaf in leaves):
            return behind.value
    return value


def _bias_added(node: Vertex) -> Vertex | None:
    """What adds a parameter to a node's value, where nothing else reads that."""
    users = node.users_in_phase
    if len(users) != 1 or users[0].family != "add" or users[0].value.size != node.value.size:
        return None
    return users[0] if any(it.kind == "parameter" for it in users[0].origins) else None


# The outputs of a side with those of the other whose values they get


def _at_ends(finding: FoundDivergence, side: Side) -> Iterator[Pair]:
    """The ends of a divergence, where it has such."""
    if finding.ends:
        own, other = sorted(finding.ends, key=lambda end: end.side is not side)
        yield from _at(finding, own, other)


def _at(finding: FoundDivergence, own: Vertex, other: Vertex) -> Iterator[Pair]:
    """A node that takes part gets the value; one that does not may have other users as well.

    Then it is those that read the other side's value there that get their counterparts' values.
    """
    users = own.users_in_phase
    if own in finding.parts or (len(users) == 1 and not own.is_leaf):
        yield own.value, other.value
        return
    for user in other.consumers:
        alike = [it for it in users if kind(it) == kind(user) and it.value.size == user.value.size]
        if user.phase == own.phase and len(alike) == 1:
            yield alike[0].value, user.value


def _of_result(finding: FoundDivergence, side: Side) -> Iterator[Pair]:
    """The makers of a result, by the outputs that it is."""
    ends = sorted(finding.parts, key=lambda part: part.side is not side)
    if len(ends) == 2 and ends[0].inputs:
        yield ends[0].inputs[0], ends[1].result


def _of_stopped(finding: FoundDivergence, side: Side) -> Iterator[Pair]:
    """Zeros for a gradient that the other side stops."""
    for part in finding.parts:
        if part.side is side and part.phase == "backward":
            yield part.value, None


def _of_lone_leaf(finding: FoundDivergence, side: Side) -> Iterator[Pair]:
    """What reads a leaf of one side, and what the other side has in its place."""
    for user in finding.parts:
        if user.is_leaf:
            continue
        others = [it for it in user.origins if it not in finding.parts and it.kind != "constant"]
        there = [it.counterpart for it in others if it.counterpart is not None]
        counterpart = None
        if there and len(there) == len(others):
            # The op that reads just these, as large as the user; or the one node that is.
            reading_them = [
                it
                for it in there[0].users
                if it.value.size == user.value.size and it.phase == user.phase
                if {read for read in it.origins if read.kind != "constant"} == set(there)
            ]
            alone = [it for it in there if len(there) == 1 and it.value.size == user.value.size]
            counterpart = next(iter(reading_them + alone), None)
        if counterpart is not None:
            ends = (user, counterpart) if user.side is side else (counterpart, user)
            yield from _at(finding, *ends)
        else:
            yield from _behind(finding, user, side)


def _of_extra_ops(finding: FoundDivergence, side: Side) -> Iterator[Pair]:
    """What goes on with the value of ops of one side; where that is not known, their own counterpart."""
    last = max(finding.parts, key=lambda part: part.rank)
    yield from list(_at_ends(finding, side)) or _behind(finding, last, side)


def _behind(finding: FoundDivergence, last: Vertex, side: Side) -> Iterator[Pair]:
    """The first op behind a node of one side that the other side has too, on each way onwards."""
    for user in last.consumers:
        passed = {*finding.parts, last}
        for _ in range(LONGEST):
            other = _in_its_place(user, passed, finding.goes_on)
            if other is not None:
                own = user if user.side is side else other
                yield own.value, (other if own is user else user).value
                break
            passed.add(user)
            if len(user.users_in_phase) != 1:
                break
            (user,) = user.users_in_phase


def _in_its_place(user: Vertex, passed: set[Vertex], goes_on: Vertex | None) -> Vertex | None:
    """The op of the other side that does what one does behind ``passed``, from the same other inputs.

    It is ``goes_on`` where that is alike, and these say nothing else.
    """
    if not user.is_work:
        return None
    others = [it for it in user.origins if it not in passed and it.kind != "constant"]
    known = [it.counterpart for it in others if it.counterpart is not None]
    if known and len(known) == len(others):
        alike = []
        for it in filter(partial(_is_alike, user), known[0].users):
            behind = _bias_added(it)
            read = {*it.origins, *(behind.origins if behind else ())}
            if read.issuperset(known):
                alike.append(it)
        if len(alike) == 1:
            return alike[0]
    return goes_on if goes_on is not None and _is_alike(user, goes_on) else None


def _is_alike(node: Vertex, other: Vertex) -> bool:
    """Whether two nodes are ops of one kind, as large, in one phase."""
    is_one_kind = kind(node) == kind(other) and node.phase == other.phase
    return is_one_kind and node.value.size == other.value.size


FINDERS: dict[type, Callable[[FoundDivergence, Side], Iterator[Pair]]] = {
    ResultElsewhere: _of_result,
    GradientStopped: _of_stopped,
    LoneLeaf: _of_lone_leaf,
    ExtraOps: _of_extra_ops,
}
"""How outputs are found that have no ends of their own; by the ends of the divergence otherwise."""
