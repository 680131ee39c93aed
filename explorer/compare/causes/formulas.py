"""What follows from recorded values by more than one op: known functions, masks, factors, shared leaves."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from explorer.compare.causes.inputs import label_of
from explorer.compare.causes.relations import ACTIVATIONS, FEW, Found
from explorer.compare.causes.rows import at_place, rows_at
from explorer.compare.causes.value_pairs import ValuePair, cause_by
from explorer.compare.graphs.sameness import (
    Sameness,
    are_equal,
    is_telling,
    noise_of,
    numbers_of,
    room_of,
)
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, FromLeaf, FromNode, InsertOperator, Rewire
from explorer.model.divergence import Divergence, ExtraOps, OtherValue
from explorer.model.graph import OTHER, Node, Output, SideName
from explorer.numeric.differences import Floats
from explorer.operators.families import BOOKKEEPING, family

# A known function of a value

MOST_BEHIND = 16
"""So many ops behind a value are looked at for the one that yields a function of it."""


class _Made(NamedTuple):
    """A function of a value, and the op that yields it."""

    name: str
    node: Node
    apart: float


def known_function_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Which function of a value one side computes where the other one computes another; None if none."""
    for side, here, there, read in _begins(divergence, left, right):
        equal = (it for it in there.graph.nodes if _is_equal(it, read))
        other = next(equal, None)
        made = _made_of(here, read)
        made_there = _made_of(there, other) if other is not None else None
        if other is None or made is None or made_there is None or made.name == made_there.name:
            continue
        edit = InsertOperator(op="function", name=made.name)
        pair = ValuePair(OTHER[side], there, here, other, made.node)
        return cause_by(Found((edit,), made.apart), pair)
    return None


def _begins(
    divergence: Divergence, left: GraphView, right: GraphView
) -> Iterator[tuple[SideName, GraphView, GraphView, Node]]:
    """What the first ops at a divergence read, each with its side and both graphs, its own first."""
    if divergence.phase != "forward":
        return
    if isinstance(divergence, ExtraOps):
        here, there = (left, right) if divergence.side == "left" else (right, left)
        first = at_place(here, divergence.row.first)
        for read in here.origins(first) if first is not None else ():
            yield divergence.side, here, there, read
    elif isinstance(divergence, OtherValue) and divergence.nodes[0] is not None:
        for read in left.origins(left.nodes[divergence.nodes[0]]):
            yield "left", left, right, read


def _is_equal(node: Node, read: Node) -> bool:
    if not (node.outputs and read.outputs) or node.kind == "output":
        return False
    return are_equal(node.outputs[0], read.outputs[0])


def _made_of(flow: GraphView, read: Node) -> _Made | None:
    """A function of a value that one of the nearest ops behind it yields."""
    value = _numbers(read)
    if value is None or np.unique(value).size < FEW:
        return None
    with np.errstate(all="ignore"):
        wanted = {name: function(value).ravel() for name, function in ACTIVATIONS.items()}
    for node in _ops_behind(flow, read)[:MOST_BEHIND]:
        made = _numbers(node) if node.phase == read.phase else None
        if made is None or made.size != value.size:
            continue
        room = room_of(node.outputs[0], node.outputs[0])
        for name, numbers in wanted.items():
            apart = room.apart(numbers, made.ravel())
            if apart is not None:
                return _Made(name, node, apart)
    return None


def _numbers(node: Node) -> Floats | None:
    """The numbers of a node's first output, where all of them are known."""
    return numbers_of(node.outputs[0]) if node.outputs else None


def _ops_behind(flow: GraphView, read: Node) -> list[Node]:
    """The ops behind a node that compute numbers of their own, in order."""
    behind = flow.behind(read.id)
    nodes = [it for it in flow.graph.nodes if it.id in behind and it is not read]
    return [it for it in nodes if it.kind == "op" and family(it.op) not in BOOKKEEPING]


# Two factors in the place of each other

Factor = tuple[Node, Floats]
"""What a product reads, with its numbers."""


def exchanged_factors_cause(
    divergence: Divergence, left: GraphView, right: GraphView
) -> Cause | None:
    """Which factors of two products in a sum the other side has exchanged; None where none are.

    A weight and its complement are: y·a + (1 - y)·b, or (1 - y)·a + y·b.
    """
    if not isinstance(divergence, OtherValue) or divergence.phase != "forward":
        return None
    rows = rows_at(divergence, left, right)
    for node, other in product(*rows) if rows is not None else ():
        products = _products(left, node)
        if len(products) != 2 or family(other.op) != "add" or not other.outputs:
            continue
        found = _exchanged(node.outputs[0], other.outputs[0], products)
        if found is not None:
            return cause_by(found, ValuePair("left", left, right, node, other))
    return None


def _products(flow: GraphView, node: Node) -> list[tuple[Factor, Factor]]:
    """The terms of a sum that are products of two values each."""
    if family(node.op) != "add" or not node.outputs:
        return []
    found = []
    for term in flow.origins(node):
        factors = list(_factors(flow, term)) if family(term.op) == "mul" else []
        if len(factors) == 2:
            found.append((factors[0], factors[1]))
    return found


def _factors(flow: GraphView, term: Node) -> Iterator[Factor]:
    for edge in flow.into(term):
        read = flow.nodes[edge.origin]
        if edge.output < len(read.outputs):
            numbers = numbers_of(read.outputs[edge.output])
            if numbers is not None:
                yield read, numbers


def _exchanged(own: Output, target: Output, products: list[tuple[Factor, Factor]]) -> Found | None:
    """The two factors which, exchanged, give the other side's sum; None where neither two do."""
    wanted = numbers_of(target)
    if wanted is None or wanted.size < 2 or not is_telling(target):
        return None
    room = room_of(own, target)
    (one, other), last = products
    for second, rest in (last, last[::-1]):
        made = _sum(second[1] * other[1], one[1] * rest[1], own.shape)
        if made is None or made.size != wanted.size:
            continue
        apart = room.apart(made.reshape(wanted.shape), wanted)
        if apart is not None:
            factors = [FromNode(it.id, label=label_of(it)) for it in (one[0], second[0])]
            return Found(tuple(Rewire(source=factor) for factor in factors), apart)
    return None


def _sum(one: Floats, other: Floats, shape: tuple[int, ...]) -> Floats | None:
    """The sum of two products; None where it has another shape than the sum as it was."""
    try:
        made: Floats = one + other
    except ValueError:
        return None
    return made if made.shape == shape else None


# A mean of all elements where the other side has that of some

REDUCING = frozenset({"sum", "mean"})
"""Families of ops that make a mean, or a sum that is divided."""

MOST_MASKS = 40
"""So many conditions are looked at."""


class _Mean(NamedTuple):
    """The mean of all elements of a value that ``node`` reads; ``sign`` is -1 where it is negated."""

    node: Node
    elements: Floats
    sign: int


def masked_mean_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Of which elements the other side has the mean that one side has of all; None if that is not so."""
    if not isinstance(divergence, OtherValue) or divergence.phase != "forward":
        return None
    rows = rows_at(divergence, left, right)
    if rows is None:
        return None
    ours, theirs = rows
    return _cause("left", (left, right), ours, theirs) or _cause(
        "right", (left, right), theirs, ours
    )


def _cause(
    side: SideName, flows: tuple[GraphView, GraphView], row: list[Node], other_row: list[Node]
) -> Cause | None:
    here, there = flows if side == "left" else flows[::-1]
    node, other = row[-1], other_row[-1]
    if not (node.outputs and other.outputs):
        return None
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or own.size != 1 or target.size != 1:
        return None
    room = room_of(node.outputs[0], other.outputs[0])
    for mean in _means(here, row, own, Sameness(room.base)):
        found = _of_some(mean, target, room, [*_conditions(here), *_conditions(there)])
        if found is not None:
            return cause_by(found, ValuePair(side, here, there, mean.node, other))
    return None


def _means(flow: GraphView, row: list[Node], own: Floats, room: Sameness) -> Iterator[_Mean]:
    """What in a row is reduced of which the mean is a side's own value, or the opposite of that."""
    for node in row:
        if family(node.op) not in REDUCING:
            continue
        for read in flow.origins(node):
            elements = numbers_of(read.outputs[0]) if read.outputs else None
            if elements is None or elements.size < 2 or not np.isfinite(elements).all():
                continue
            for sign in (1, -1):
                made = np.full(own.shape, sign * elements.mean())
                if room.apart(made, own) is not None:
                    yield _Mean(node, elements.ravel(), sign)


def _of_some(
    mean: _Mean, target: Floats, room: Sameness, conditions: list[tuple[Node, Floats]]
) -> Found | None:
    """The condition under which elements have the mean that is wanted; None where several ones do."""
    found: dict[bytes, Found] = {}
    for node, condition in conditions:
        if condition.size != mean.elements.size:
            continue
        holds = condition == 1
        made = np.full(target.shape, mean.sign * mean.elements[holds].mean())
        apart = room.apart(made, target)
        if apart is not None:
            numbers = int(holds.sum()), holds.size
            edit = InsertOperator(op="where", name=label_of(node), numbers=numbers)
            found.setdefault(holds.tobytes(), Found((edit,), apart))
    return next(iter(found.values())) if len(found) == 1 else None


def _conditions(flow: GraphView) -> list[tuple[Node, Floats]]:
    """The values of forward that are 0 or 1 in each element, and both of them somewhere."""
    found = []
    for node in flow.graph.nodes:
        if node.kind == "output" or node.phase != "forward" or not node.outputs:
            continue
        numbers = numbers_of(node.outputs[0])
        if numbers is not None and numbers.size > 1 and set(np.unique(numbers)) == {0, 1}:
            found.append((node, numbers.ravel()))
    return found[:MOST_MASKS]


# One leaf where the other graph reads two, or one tensor given as both

GRADIENT = "d"
"""What the name of a leaf's gradient begins with."""


def shared_leaf_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Which leaf a graph reads where the other one reads another leaf as well.

    It then sums the gradients of more uses, and has none of the other leaf, or the same one where both
    are one tensor.
    """
    if not isinstance(divergence, ExtraOps) or not divergence.gradients:
        return None
    here, there = (left, right) if divergence.side == "left" else (right, left)
    last = divergence.nodes[0 if divergence.side == "left" else 1]
    if last is None:
        return None
    names = [it.name for it in here.results(here.nodes[last])]
    ours, theirs = _gradients(here), _gradients(there)
    for name, other, is_one_tensor in _pairs(names, ours, theirs, there):
        # One tensor given as both may be a number; two leaves that are one are told by more than that.
        apart = _apart_from_sum(
            ours[name], theirs[name], theirs[other], 1 if is_one_tensor else FEW
        )
        if apart is None:
            continue
        leaf = name.removeprefix(GRADIENT)
        source = FromLeaf(other.removeprefix(GRADIENT), is_one_tensor)
        for node in there.graph.nodes:
            if node.name == leaf and node.kind in ("parameter", "input"):
                return Cause(
                    side=OTHER[divergence.side],
                    node=node.id,
                    op=leaf,
                    edits=(Rewire(source=source),),
                    proven="recorded_values",
                    greatest=apart,
                    noise=noise_of(ours[name], theirs[name]),
                    layers=(None, None),
                    tried=1,
                )
    return None


def _pairs(
    names: list[str], ours: dict[str, Output], theirs: dict[str, Output], there: GraphView
) -> Iterator[tuple[str, str, bool]]:
    """The gradients of the other side whose sum one of ``names`` may be, and whether of one tensor."""
    if len(names) == 2 and theirs.keys() >= set(names) and _are_made_apart(there, names):
        yield names[0], names[1], True
    for name in names:
        if name in theirs:
            for other in _without_gradient(ours, theirs):
                yield name, other, False


def _gradients(flow: GraphView) -> dict[str, Output]:
    """The gradients that a graph yields, by name."""
    return {
        node.name: node.outputs[0]
        for node in flow.graph.nodes
        if node.kind == "output" and node.phase == "backward" and node.outputs
    }


def _without_gradient(ours: dict[str, Output], theirs: dict[str, Output]) -> Iterator[str]:
    """The gradients that only one of two graphs has, or that are zeros in the other one."""
    for name, output in theirs.items():
        numbers = numbers_of(ours[name]) if name in ours else np.zeros(1)
        if numbers_of(output) is not None and numbers is not None and not numbers.any():
            yield name


def _are_made_apart(flow: GraphView, names: list[str]) -> bool:
    """Whether a graph takes two results from different outputs."""
    makers: set[tuple[str, int]] = set()
    for node in flow.graph.nodes:
        if node.kind == "output" and node.phase == "backward" and node.name in names:
            makers.update((edge.origin, edge.output) for edge in flow.into(node))
    return len(makers) == len(names)


def _apart_from_sum(own: Output, one: Output, other: Output, fewest: int) -> float | None:
    """How far a gradient is from the sum of two of the other side; None where it is not that.

    Of these at least ``fewest`` different elements are known, and not all are zeros.
    """
    total, first, second = numbers_of(own), numbers_of(one), numbers_of(other)
    if total is None or first is None or second is None:
        return None
    if not total.shape == first.shape == second.shape or not (first.any() and second.any()):
        return None
    if min(np.unique(first).size, np.unique(second).size) < fewest:
        return None
    return room_of(own, one).apart(first + second, total)


FORMULAS: tuple[Callable[[Divergence, GraphView, GraphView], Cause | None], ...] = (
    shared_leaf_cause,
    known_function_cause,
    exchanged_factors_cause,
    masked_mean_cause,
)
"""What is looked for in turn where no value follows from another one by an operator."""
