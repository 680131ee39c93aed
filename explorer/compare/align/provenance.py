"""Provenance: the origins and uses of values, which tell nodes of equal value apart."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import dropwhile, islice

from explorer.compare.align.sameness import TIGHT, layout_of
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.divergence import Spread

FEW = 16
"""The number of candidates that one relation offers.

More are the same value over and over, and the first free ones will do.
"""

MOST_TERMS = 64
"""Terms of a sum, and ops of one line, that are looked at."""

ELEMENT_BY_ELEMENT = frozenset(
    {
        *("add", "sub", "mul", "div", "pow", "maximum", "minimum", "where", "maskedfill"),
        *("mseloss", "l1loss", "smoothl1loss", "huberloss", "binarycrossentropy"),
    }
)
"""Families that broadcast their inputs against one another."""

OVERWRITES = re.compile(r"^aten\.\w*[a-z0-9]_(\.|$)")
"""Operators of PyTorch that write to the memory of their first input: aten.copy_.default."""


def trace_origins(side: Side) -> None:
    """Notes each node's origin and its users.

    The origin is the node itself, or that of the input whose numbers it passes on.
    """
    for node in side.nodes:
        # Memory that is filled has other numbers from then on.
        if node.main is None or node.family == "fill":
            continue
        # On a cycle a node may come before its input, whose origin is not known then.
        for value in (it for it in node.inputs if it.is_main and it.node.rank < node.rank):
            if node.is_bookkeeping or node.is_result:
                is_passed_on = value.agrees(node.main)
            else:
                # Any other op passes on only the very same numbers, which could hardly be so by chance.
                is_passed_on = value.bucket is node.main.bucket and value.varies
            if is_passed_on:
                node.origin = value.node.origin
                break
    # Asked for at each candidate, they are looked up once.
    for node in side.nodes:
        node.users = readers(node, FEW)


def are_consistent(one: Vertex, other: Vertex) -> bool:
    """Whether reshapes, casts and the like pass on the same quantity, as far as that is known."""
    for node, there in ((one, other), (other, one)):
        passes_on = node.is_bookkeeping and node.origin is not node
        if passes_on and node.origin.counterpart not in (None, there.origin):
            return False
    return True


def are_akin(one: Vertex, other: Vertex) -> bool:
    """Whether two nodes read something in common, or nothing, or derive from partners."""
    if one.forward and other.forward and one.forward.partner:
        return one.forward.partner is other.forward
    if not one.origins or not other.origins:
        return not one.origins and not other.origins
    return shared_origins(one, other) > 0 or _have_paired_consumers(one, other)


class Candidates:
    """The free values of one side, listed by where they come from.

    A value is found by the origin of anything that its node reads, and by the forward node that its
    node derives from.
    """

    def __init__(self, side: Side, values: Callable[[Vertex], Iterable[OutputValue]]) -> None:
        """Lists the values that ``values`` picks of each node that has no partner."""
        self._listed: dict[tuple[bool, Vertex, Bucket], list[OutputValue]] = {}
        for node in filter(lambda node: node.is_free, side.nodes):
            for value in values(node):
                if value.bucket is not None:
                    for made in _made_of(node):
                        self._listed.setdefault((*made, value.bucket), []).append(value)

    def of(self, value: OutputValue) -> list[OutputValue]:
        """Free values of this side that equal one of the other side and have paired neighbours."""
        node = value.node
        found: list[OutputValue] = []
        # They are fed by, or derive from, the partner of what does so for the node.
        for bucket in value.near:
            for is_derived, made in _made_of(node):
                there = made.partner if is_derived else made.counterpart
                listed = self._listed.get((is_derived, there, bucket), []) if there else []
                free = [it for it in listed[: 2 * FEW] if it.node.is_free]
                if len(free) < FEW < len(listed):
                    # What has got a partner meanwhile is dropped, so that it is not gone through again.
                    listed[:] = free = [it for it in listed if it.node.is_free]
                found += free[:FEW]
        # They feed the partner of what the node feeds, directly or through steps that pass them on.
        for partner in filter(None, (consumer.partner for consumer in node.consumers[:FEW])):
            for read in partner.inputs[:FEW]:
                passed = islice(back_to_origin(read), FEW)
                found += [it for it in passed if it.node.is_free and it.agrees(value)]
        # In their order: of equal evidence, the candidate that comes first wins.
        return list(dict.fromkeys(found))


def _made_of(node: Vertex) -> list[tuple[bool, Vertex]]:
    """The origins of what a node reads, and the forward node that it derives from (True)."""
    origins = [(False, origin) for origin in dict.fromkeys(node.origins)]
    return [*origins, (True, node.forward)] if node.forward else origins


def back_to_origin(value: OutputValue) -> Iterator[OutputValue]:
    """A value, and those that it is passed on from, the nearest first."""
    yield value
    while value.node.origin is not value.node:
        node = value.node
        # On a cycle a node may come before its input.
        value = next(
            it for it in node.inputs if it.node.origin is node.origin and it.node.rank < node.rank
        )
        yield value


def evidence(left: OutputValue, right: OutputValue) -> tuple[float, float]:
    """Points for two equal values being the same quantity, and how close they lie in their graphs.

    Closeness is 0 in the same relative place, and -1 at opposite ends.
    """
    node, other = left.node, right.node
    # Scores are compared exactly: points must always be added in one order.
    points = 0.0
    distance = left.distance(right)
    if distance <= 10 * TIGHT:
        points += 4.0 if distance <= TIGHT else 2.0
    most_inputs = max(len(set(node.origins)), len(set(other.origins)))
    if most_inputs:
        points += 3 * (shared_origins(node, other) / most_inputs)
    points += 2 * _have_paired_consumers(node, other)
    if node.family == other.family:
        points += 3.0
    elif node.is_bookkeeping != other.is_bookkeeping:
        points -= 2.0  # a matmul is hardly a reshape, while ops of unknown families may be the same
    if node.scope and node.scope == other.scope:
        points += 2.0
    if node.name and node.name == other.name:
        points += 4.0
    made, other_made = node.forward, other.forward
    # A sum of gradients derives from the forward node of any of its terms.
    is_sum = "accumulate" in (node.kind, other.kind)
    if made and other_made and made.partner and not is_sum:
        points += 3.0 if made.partner is other_made else -3.0
    if left.shape == right.shape:
        points += 1.0
    if layout_of(left, right) is None:
        points += 2.0
    apart = node.step / node.side.length - other.step / other.side.length
    return points, -round(abs(apart), 3)


def shared_origins(one: Vertex, other: Vertex) -> int:
    """The number of inputs of two nodes that are the same quantity."""
    counterparts = {origin.counterpart for origin in one.origins}
    return len(counterparts & set(other.origins))


def _have_paired_consumers(one: Vertex, other: Vertex) -> bool:
    partners = {user.partner for user in one.users}
    return not partners.isdisjoint(other.users)


def readers(node: Vertex, most: int | None = None) -> list[Vertex]:
    """The consumers of a node, directly or through steps that pass its numbers on; the first ``most``."""
    users = list(node.consumers[:most])
    for user in users:
        if user.origin is node.origin and (most is None or len(users) < most):
            users += [consumer for consumer in user.consumers[:most] if consumer not in users]
    return users


def successors(node: Vertex) -> Iterator[Vertex]:
    """Free nodes of the other side of the same family and phase, with the same inputs.

    All that feeds a node has a counterpart, and these feed the other in the same order.
    """
    wanted = [origin.counterpart for origin in node.origins]
    first = next(iter(wanted), None)
    if first is None:
        return
    for other in first.consumers[: 2 * FEW]:
        may_pair = other.is_free and not other.is_refuted
        is_same_op = node.family == other.family and node.phase == other.phase
        if may_pair and is_same_op and other.origins == wanted:
            yield other


def read_alone(row: list[Vertex], other_row: list[Vertex]) -> list[Vertex]:
    """The nodes that ops in a row read, and that are equal to nothing which the other row reads.

    What was not observed may be equal.
    """
    others = read_from_outside(other_row)
    alone: dict[Vertex, None] = {}
    for value in read_from_outside(row):
        origin = value.node.origin
        # Counterparts correspond by their main values: another part of a split may be anything.
        is_read_there = any(
            value.agrees(other) is not False
            or (value.is_main and other.is_main and origin.counterpart is other.node.origin)
            for other in others
        )
        # What is packed is equal, piece by piece.
        if not is_read_there and not origin.is_packed:
            # What was written over memory is where it was written, whatever numbers these are.
            is_written = OVERWRITES.search(value.node.op) is not None
            alone[value.node if is_written else origin] = None
    return list(alone)


def spread_otherwise(row: list[Vertex], other_row: list[Vertex]) -> tuple[Spread, ...]:
    """The inputs of two rows of ops that are the same numbers and broadcast from other shapes."""

    def broadcast(row: list[Vertex]) -> list[OutputValue]:
        nodes = [it for it in row if it.family in ELEMENT_BY_ELEMENT and len(it.inputs) > 1]
        return [value for node in nodes for value in node.inputs if value.node not in row]

    found: dict[Vertex, Spread] = {}
    for value in broadcast(row):
        origin = unwrapped(value).node.origin
        for other in broadcast(other_row):
            are_one = origin.counterpart is unwrapped(other).node.origin
            shapes = value.shape, other.shape
            # Leading dimensions of length 1 are added by broadcasting itself.
            own, others = (tuple(dropwhile(lambda length: length == 1, it)) for it in shapes)
            if are_one and own != others:
                found.setdefault(origin, Spread(origin.name or origin.op, shapes))
    return tuple(found.values())


def unwrapping(value: OutputValue) -> list[OutputValue]:
    """A value, and those before each step that only reshapes, converts or spreads it, the nearest first."""
    values = [value]
    for _ in range(FEW):
        node = values[-1].node
        is_step = node.is_bookkeeping and values[-1].is_main and len(node.inputs) == 1
        if not is_step or node.inputs[0].node.rank >= node.rank:
            break
        values.append(node.inputs[0])
    return values


def unwrapped(value: OutputValue) -> OutputValue:
    """A value before all such steps."""
    return unwrapping(value)[-1]


def is_nothing(value: OutputValue) -> bool:
    """Whether a value is a constant 0: the gradient of what nothing depends on."""
    node = value.node.origin
    is_made_of_nothing = node.kind == "constant" or node.family == "fill"
    return is_made_of_nothing and value.is_within(0.0)


def terms(total: OutputValue, is_open: Callable[[Vertex], bool]) -> list[OutputValue]:
    """The terms of a sum, with those of the open sums among them; what is no sum is its own term."""
    found: list[OutputValue] = []
    waiting = [total]
    while waiting and len(found) < MOST_TERMS:
        value = unwrapped(waiting.pop(0))
        is_sum = value.node.family == "add" and len(value.node.inputs) > 1
        if is_sum and (value is total or is_open(value.node)):
            waiting += value.node.inputs
        elif not is_nothing(value):
            found.append(value)
    return found


def are_known_equal(value: OutputValue, other: OutputValue) -> bool:
    """Whether two values are known to be the same numbers, whatever spreads or converts them."""
    counterpart = value.node.origin.counterpart
    is_counterpart = counterpart is not None and counterpart is other.node.origin
    return is_counterpart or unwrapped(value).agrees(unwrapped(other)) is True


def left_over(
    values: list[OutputValue], others: list[OutputValue]
) -> tuple[list[OutputValue], list[OutputValue]]:
    """The values of each side that none of the other equals."""
    right = list(others)
    left = []
    for value in values:
        equal = next((other for other in right if are_known_equal(value, other)), None)
        if equal is None:
            left.append(value)
        else:
            right.remove(equal)
    return left, right


def reads_unobserved(row: list[Vertex], other_row: list[Vertex]) -> bool:
    """Whether ops in a row read a tensor of which nothing is known and that is nothing's counterpart."""
    others = {value.node.origin for value in read_from_outside(other_row)}
    unknown = [it for it in read_from_outside(row) if it.size > 1 and it.bucket is None]
    return any(value.node.origin.counterpart not in others for value in unknown)


def read_from_outside(row: Collection[Vertex]) -> list[OutputValue]:
    """What ops in a row read that none of them makes."""
    members = set(row)
    return [value for node in row for value in node.inputs if value.node not in members]


def read_by_call(last: Vertex) -> list[OutputValue]:
    """What the ops read that lead to one in its module and in the call that makes it."""

    def is_of_one_call(node: Vertex) -> bool:
        # Where there are no modules, lines of one function may be of several calls.
        is_alike = node.is_work and node.phase == last.phase and node.scope == last.scope
        return is_alike and node.callers == last.callers

    row = reach([last], lambda it: filter(is_of_one_call, it.feeders))
    return list(dict.fromkeys(map(unwrapped, read_from_outside(in_order(row)))))
