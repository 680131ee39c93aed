"""Which ops of two graphs are compared at a divergence: rows of ops that can be computed again."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple

from explorer.compare.graphs.sameness import Sameness, apart_if_same, room_of
from explorer.compare.graphs.view import MOVES, RESHAPES, GraphView
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    LoneLeaf,
    OtherValue,
    Place,
    ResultElsewhere,
)
from explorer.model.graph import OTHER, Node, SideName
from explorer.operators.families import BOOKKEEPING, family

COMMON = frozenset({"add", "sub", "mul", "div"})
"""Families of which a net has so many ops that another one is no counterpart."""

KEPT = MOVES | {"identity", "flip"}
"""Families of ops between a leaf and what reads it."""

LAYING = BOOKKEEPING | {"flip"}
"""Families of ops that only put the numbers of a leaf elsewhere."""


Where = Literal["op", "row", "begin", "first", "extra", "beside", "state", "order", "leaf"]
"""What ops are edited.

"op": one by itself. "row": each of a row, of which those behind are computed again, or the "first" alone.
"extra": each of a row that one side alone has, where what that reads is the value to be given. "beside": a
row, with what its line makes of the same values beside it. "state": all
that write to one result. "order": the first and the last of a row, in the opposite order. "leaf": one that
reads a leaf which the other side does not have.
"""


class Ends(NamedTuple):
    """What two graphs have at a divergence: one op or several in a row of ``here``, and of ``there``.

    What differs is their main output, or the ``result`` of that name which they make. How they are edited
    depends on what they are, ``at``; "leaf" is an op that reads the ``leaf`` of that name.
    """

    side: SideName
    here: GraphView
    there: GraphView
    own_row: list[Node]
    row: list[Node]
    result: str = ""
    at: Where = "op"
    leaf: str = ""

    def turned(self) -> "Ends":
        """The two rows with the other one as that which is changed."""
        return Ends(OTHER[self.side], self.there, self.here, self.row, self.own_row, self.result)

    def up_to(self, last: Node) -> "Ends":
        """The row of an op with those behind it, up to one of them."""
        return self._replace(own_row=self.here.row(self.own_row[0].id, last.id))


def onwards(
    flow: GraphView, node: Node | None, most: int, passed: frozenset[str] = RESHAPES
) -> Iterator[Node]:
    """The ops behind a node, at most so many, each the only one that computes from the one before."""
    for _ in range(most):
        node = flow.next_op(node, passed) if node else None
        if node is None:
            return
        yield node


def sided(
    divergence: ExtraOps | LoneLeaf, left: GraphView, right: GraphView
) -> tuple[GraphView, GraphView, Node | None]:
    """The graph of the side that a divergence is of, the other one, and the node of the first."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    node = divergence.nodes[0 if divergence.side == "left" else 1]
    return here, there, None if node is None else here.nodes[node]


def rows_at(
    divergence: Divergence, left: GraphView, right: GraphView
) -> tuple[list[Node], list[Node]] | None:
    """The ops in a row of each side; None where one has none, or its last is not known."""
    first, second = divergence.nodes
    if first is None or second is None:
        return None
    if not isinstance(divergence, OtherValue):
        return [left.nodes[first]], [right.nodes[second]]
    ours, theirs = divergence.rows
    for row, flow in ((ours, left), (theirs, right)):
        if row.count > 1 and row.end not in flow.nodes:
            return None
    return left.row(first, ours.end), right.row(second, theirs.end)


def at_place(flow: GraphView, place: Place, reads: Iterable[Node] = ()) -> Node | None:
    """The first node of an op, a module and a line, called from the same line where that is known.

    Of several the first that reads what is read elsewhere.
    """
    fitting = [
        node
        for node in flow.graph.nodes
        if (node.op, node.scope, node.source[:1]) == (place.label, place.scope, (place.source,))
    ]
    called = [node for node in fitting if place.caller and place.caller in node.source[1:]]
    found = called or fitting
    if len(found) > 1:
        found = [it for it in found if any(is_among(it, reads) for it in flow.origins(it))] or found
    return next(iter(found), None)


def goes_on_at(divergence: ExtraOps, here: GraphView, node: Node, there: GraphView) -> Node | None:
    """The op with which the side goes on that has no counterpart of a node of ``here``; None if unknown."""
    reads = here.read_by_row(node, divergence.row.count)
    return at_place(there, divergence.goes_on, reads) if divergence.goes_on else None


def base_of(flow: GraphView, node: Node, families: frozenset[str]) -> Node:
    """What a value has its numbers from, ahead of ops of some families that read one value each."""
    while node.kind == "op" and family(node.op) in families:
        reads = flow.origins(node)
        if len(reads) != 1:
            break
        (node,) = reads
    return node


def leaves_of(flow: GraphView, row: list[Node]) -> dict[int, str]:
    """The names of the parameters that ops read, by the place among the inputs; those of a row counted on."""
    names = {}
    for place, node in enumerate(row):
        for edge in flow.into(node):
            leaf = base_of(flow, flow.nodes[edge.origin], KEPT)
            if leaf.kind == "parameter":
                names[100 * place + edge.input] = leaf.name
    return names


def elsewhere(node: Node, *others: Node) -> str:
    """The line of a node; "" where it is that of one of some others, or is not known."""
    lines = {line for other in others for line in other.source[:1]}
    return next((line for line in node.source[:1] if line not in lines), "")


def size_of(node: Node) -> int:
    """How many elements the first value of a node has; 0 where it has none."""
    return math.prod(node.outputs[0].shape) if node.outputs else 0


def have_one_value(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers in one order up to rounding, in whichever shapes."""
    if not size_of(node) == size_of(other) > 0:
        return False
    one, two = node.outputs[0], other.outputs[0]
    return apart_if_same(one, two, Sameness(room_of(one, two).base)) is not None


def is_among(node: Node, others: Iterable[Node]) -> bool:
    """Whether a node has the value of one of some others."""
    return any(have_one_value(node, other) for other in others)


def is_of_form(node: Node, other: Node) -> bool:
    """Whether a node is an op in the phase of another one, with a value of the same shape."""
    if node.kind != "op" or node.phase != other.phase or not (node.outputs and other.outputs):
        return False
    return node.outputs[0].shape == other.outputs[0].shape


def are_alike(node: Node | None, other: Node) -> bool:
    """Whether there is a node, of the family of another one."""
    return node is not None and family(node.op) == family(other.op)


def is_filled(node: Node) -> bool:
    """Whether a node is an op that gives the same number everywhere."""
    return node.kind == "op" and family(node.op) == "fill" and bool(node.outputs)


def does_the_same(flow: GraphView, node: Node, user: Node) -> bool:
    """Whether an op of the user's kind reads a node: then it may have its own value for a leaf."""
    return are_alike(flow.next_op(node), user)


def begin_other_formulas(*sides: tuple[GraphView, list[Node]]) -> bool:
    """Whether an op of each side begins a formula that reads a value twice, and the two go on otherwise.

    Such are two kinds of an activation: a number with which both begin is no difference of one.
    """
    behind = []
    for flow, row in sides:
        node, following = row[-1], flow.next_op(row[-1])
        readers = [it for read in flow.origins(node) for it in flow.readers(read) if it is not node]
        is_read_again = any(it.source[:1] == node.source[:1] != () for it in readers)
        if len(row) > 1 or following is None or not is_read_again:
            return False
        behind.append(following)
    return not are_alike(*behind)


def are_no_counterparts(divergence: Divergence, left: GraphView, right: GraphView) -> bool:
    """Whether equal inputs are multiplied by other numbers that both sides have as often, or added to.

    Then other ops are given them there, and those of the two that correspond read something else.
    """
    if not isinstance(divergence, OtherValue):
        return False
    rows, inputs = rows_at(divergence, left, right), divergence.inputs
    if rows is None or len(rows[0] + rows[1]) > 2 or inputs.differing or any(inputs.alone):
        return False
    (node,), (other,) = rows
    if family(node.op) not in COMMON or not are_alike(node, other):
        return False
    ops = [
        [it for it in flow.graph.nodes if it.phase == node.phase and are_alike(it, node)]
        for flow in (left, right)
    ]
    counts = [Counter(chain.from_iterable(map(_numbers_of, of_side))) for of_side in ops]
    given = [*_numbers_of(node), *_numbers_of(other)]
    if not given or not all(counts[0][it] == counts[1][it] > 0 for it in given):
        return False
    # Of two numbers in the place of each other the second one is beside the first there as well.
    reads = [it for op in _with_numbers(ops[0], other) for it in left.origins(op)]
    theirs = [it for op in _with_numbers(ops[1], node) for it in right.origins(op)]
    return not any(is_among(it, reads) for it in theirs)


def _with_numbers(nodes: list[Node], other: Node) -> list[Node]:
    """The ops that are given the numbers of another one."""
    return [it for it in nodes if _numbers_of(it) == _numbers_of(other)]


def _numbers_of(node: Node) -> list[str]:
    """The numbers that an op is given, as precisely as single precision has them."""
    return [f"{value:.6g}" for value in node.arguments.values() if isinstance(value, float)]


# The ops of both sides


def ends_at(divergence: Divergence, left: GraphView, right: GraphView) -> list[Ends]:
    """The ops of both sides at a divergence, each beside what the other one has instead."""
    if isinstance(divergence, ExtraOps):
        one = _with_one_more(divergence, left, right)
        return [one] if one else []
    result = ""
    if isinstance(divergence, ResultElsewhere) and divergence.do_correspond:
        result = divergence.name  # a further output of the two ops, such as a running statistic
    elif not isinstance(divergence, OtherValue):
        return []
    rows = rows_at(divergence, left, right)
    if rows is None:
        return []
    ends = Ends("left", left, right, *rows, result)
    both = [ends, ends.turned()]
    for ends in both[:] if not result else ():
        # An op with what is behind it, as far as that is of the kinds that the other side has at once.
        node, *others = ends.own_row
        behind = list(onwards(ends.here, node, len(ends.row)))
        is_there = len(behind) == len(ends.row) and all(map(are_alike, behind, ends.row))
        if is_there and not others and not are_alike(node, ends.row[0]):
            both.append(ends.up_to(behind[-1]))
    return both


def _with_one_more(divergence: ExtraOps, left: GraphView, right: GraphView) -> Ends | None:
    """An op that one side alone has, with the op behind it, and that of the other side in its place.

    The two are of one kind, in one module.
    """
    here, there, node = sided(divergence, left, right)
    if node is None:
        return None
    if divergence.goes_on is not None:
        other = goes_on_at(divergence, here, node, there)
        return _up_to_where_it_goes_on(divergence, here, node, there, other) if other else None
    behind = here.next_op(node)
    if behind is None or divergence.row.count > 1:
        return None
    of_form = [it for it in there.graph.nodes if is_of_form(it, behind) and are_alike(it, behind)]
    like = [it for it in of_form if it.scope == behind.scope]
    if len(like) != 1:
        # It does what is done behind the node with what that reads, and so nothing more.
        known = [*here.origins(node), *here.origins(behind)]
        reads = [[read for read in there.origins(it) if read.outputs] for it in of_form]
        like = [
            it
            for it, values in zip(of_form, reads, strict=True)
            if len(values) > 1 and all(is_among(value, known) for value in values)
        ]
    if len(like) != 1:
        return None
    own_row = [node, behind]
    # One of the two may add its bias in an op of its own.
    if len(here.into(behind)) != len(there.into(like[0])):
        own_row, like = with_bias(here, own_row), with_bias(there, like)
    return Ends(divergence.side, here, there, own_row, like)


def with_bias(flow: GraphView, row: list[Node]) -> list[Node]:
    """A row with what adds a bias to its last op, where that is an op of its own in the same module."""
    node = row[-1]
    behind = flow.next_op(node, frozenset())
    if behind is None or behind.scope != node.scope or family(behind.op) != "add":
        return row
    reads_leaf = any(read.kind == "parameter" for read in flow.origins(behind))
    return [*row, behind] if reads_leaf else row


def _up_to_where_it_goes_on(
    divergence: ExtraOps, here: GraphView, node: Node, there: GraphView, other: Node
) -> Ends | None:
    """The ops that one side alone has, with the op behind them, and that with which the other goes on."""
    does_work = family(other.op) not in BOOKKEEPING
    behind = here.next_op(node, BOOKKEEPING) if does_work else here.next_op(node)
    if behind is None:
        # Of several ops that read the node, the one that does what the other one does, with one leaf.
        leaves = _leaves(there, other)
        readers = [here.nodes[edge.target] for edge in here.out_of(node)]
        alike = [it for it in readers if it.kind == "op" and are_alike(it, other)]
        found = [it for it in alike if leaves & _leaves(here, it)]
        if len(found) != 1:
            return None
        (behind,) = found
    row = [*here.row_up_to(node, divergence.row.count)[:-1], *here.row(node.id, behind.id)]
    ends = Ends(OTHER[divergence.side], there, here, [other], row)
    # What only hands numbers on is compared with what the ops behind both make of them.
    last = there.next_op(other, BOOKKEEPING) if family(other.op) in BOOKKEEPING else None
    return ends.up_to(last) if are_alike(last, behind) and last else ends


def _leaves(flow: GraphView, node: Node) -> set[str]:
    """The names of the parameters that an op reads, in whichever layout."""
    bases = [base_of(flow, read, LAYING) for read in flow.origins(node)]
    return {base.name for base in bases if base.kind == "parameter"}
