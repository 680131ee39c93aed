"""What explains a divergence by recorded values alone: one that follows from another, or from several."""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from explorer.compare.causes.choice import is_believed
from explorer.compare.causes.inputs import label_of
from explorer.compare.causes.rearranged import rearranged_cause
from explorer.compare.causes.relations import ACTIVATIONS, FEW, Found
from explorer.compare.causes.rows import at_place, have_one_value, rows_at, sided
from explorer.compare.causes.value_pairs import ValuePair, cause_by, pairs_at, relation
from explorer.compare.graphs.sameness import Sameness, is_telling, noise_of, numbers_of, room_of
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import LAYOUTS, Cause, FromLeaf, FromNode, InsertOperator, Rewire
from explorer.model.divergence import Divergence, ExtraOps, OtherValue
from explorer.model.graph import OTHER, Node, Output, SideName
from explorer.numeric.differences import Floats
from explorer.operators.families import BOOKKEEPING, family


def related_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """How the values at a divergence follow from one another; None where they do not."""
    causes = []
    for pair in pairs_at(divergence, left, right):
        found = relation(pair)
        if found:
            causes.append(cause_by(found, pair))
    cause = min(causes, key=lambda it: not is_believed(it.edits), default=None)
    first = cause.edits[0] if cause else None
    if first is None or (isinstance(first, InsertOperator) and first.op in LAYOUTS):
        # Which op moves the numbers says more than that they are moved.
        cause = rearranged_cause(divergence, left, right) or cause
    for find in FORMULAS if cause is None else ():
        cause = find(divergence, left, right)
        if cause is not None:
            break
    return cause


# A known function of a value

MOST_BEHIND = 16
"""So many ops behind a value are looked at for the one that yields a function of it."""


def known_function_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Which function of a value one side computes where the other one computes another; None if none."""
    side: SideName = "left"
    here, there, first = left, right, None
    if divergence.phase == "forward" and isinstance(divergence, ExtraOps):
        side = divergence.side
        here, there, _ = sided(divergence, left, right)
        first = at_place(here, divergence.row.first)
    elif divergence.phase == "forward" and isinstance(divergence, OtherValue):
        first = left.nodes[divergence.nodes[0]] if divergence.nodes[0] is not None else None
    for read in here.origins(first) if first else ():
        values = (it for it in there.graph.nodes if it.kind != "output")
        other = next((it for it in values if have_one_value(it, read)), None)
        made = _function_of(here, read) if other else None
        made_there = _function_of(there, other) if other and made else None
        if other and made and made_there and made[0] != made_there[0]:
            name, node, apart = made
            edit = InsertOperator(op="function", name=name)
            pair = ValuePair(OTHER[side], there, here, other, node)
            return cause_by(Found((edit,), apart), pair)
    return None


def _function_of(flow: GraphView, read: Node) -> tuple[str, Node, float] | None:
    """A function of a value that one of the nearest ops behind it yields, that op, and how far apart."""
    value = numbers_of(read.outputs[0]) if read.outputs else None
    if value is None or np.unique(value).size < FEW:
        return None
    with np.errstate(all="ignore"):
        wanted = {name: function(value).ravel() for name, function in ACTIVATIONS.items()}
    # The ops that compute numbers of their own, in order.
    behind = flow.behind(read.id)
    nodes = [it for it in flow.graph.nodes if it.id in behind and it is not read]
    computing = [it for it in nodes if it.kind == "op" and family(it.op) not in BOOKKEEPING]
    for node in computing[:MOST_BEHIND]:
        is_made = node.outputs and node.phase == read.phase
        made = numbers_of(node.outputs[0]) if is_made else None
        if made is None or made.size != value.size:
            continue
        room = room_of(node.outputs[0], node.outputs[0])
        for name, numbers in wanted.items():
            apart = room.apart(numbers, made.ravel())
            if apart is not None:
                return name, node, apart
    return None


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
        if len(products) == 2 and family(other.op) == "add" and other.outputs:
            pair = ValuePair("left", left, right, node, other)
            found = _exchanged(pair, products)
            if found is not None:
                return cause_by(found, pair)
    return None


def _products(flow: GraphView, node: Node) -> list[tuple[Factor, Factor]]:
    """The terms of a sum that are products of two values each."""
    found = []
    for term in flow.origins(node) if family(node.op) == "add" and node.outputs else ():
        factors: list[Factor] = []
        for edge in flow.into(term) if family(term.op) == "mul" else ():
            read = flow.nodes[edge.origin]
            outputs = read.outputs[edge.output : edge.output + 1]
            numbers = [numbers_of(output) for output in outputs]
            factors += [(read, it) for it in numbers if it is not None]
        if len(factors) == 2:
            found.append((factors[0], factors[1]))
    return found


def _exchanged(pair: ValuePair, products: list[tuple[Factor, Factor]]) -> Found | None:
    """The two factors which, exchanged, give the other side's sum; None where neither two do."""
    wanted = numbers_of(pair.target)
    if wanted is None or wanted.size < 2 or not is_telling(pair.target):
        return None
    room = room_of(pair.own, pair.target)
    (one, other), last = products
    for second, rest in (last, last[::-1]):
        try:
            made = second[1] * other[1] + one[1] * rest[1]
        except ValueError:
            continue  # of other shapes
        if made.shape != pair.own.shape or made.size != wanted.size:
            continue
        apart = room.apart(made.reshape(wanted.shape), wanted)
        if apart is not None:
            factors = [FromNode(it.id, label=label_of(it)) for it in (one[0], second[0])]
            return Found(tuple(Rewire(source=factor) for factor in factors), apart)
    return None


# A mean of all elements where the other side has that of some

REDUCING = frozenset({"sum", "mean"})
"""Families of ops that make a mean, or a sum that is divided."""

MOST_MASKS = 40
"""So many conditions are looked at."""


def masked_mean_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Of which elements the other side has the mean that one side has of all; None if that is not so."""
    if not isinstance(divergence, OtherValue) or divergence.phase != "forward":
        return None
    rows = rows_at(divergence, left, right)
    if rows is None or not (rows[0][-1].outputs and rows[1][-1].outputs):
        return None
    last = ValuePair("left", left, right, rows[0][-1], rows[1][-1])
    for row, pair in zip(rows, last.both_ways(), strict=True):
        own, target = numbers_of(pair.own), numbers_of(pair.target)
        if own is None or target is None or own.size != 1 or target.size != 1:
            continue
        room = room_of(pair.own, pair.target)
        conditions = [*_conditions(pair.here), *_conditions(pair.there)]
        for node, elements, sign in _means(pair.here, row, own, Sameness(room.base)):
            # One condition alone under which elements have the mean that is wanted.
            found: dict[bytes, Found] = {}
            for condition, numbers in conditions:
                if numbers.size != elements.size:
                    continue
                holds = numbers == 1
                apart = room.apart(np.full(target.shape, sign * elements[holds].mean()), target)
                if apart is not None:
                    counts = int(holds.sum()), holds.size
                    edit = InsertOperator(op="where", name=label_of(condition), numbers=counts)
                    found.setdefault(holds.tobytes(), Found((edit,), apart))
            if len(found) == 1:
                (only,) = found.values()
                return cause_by(only, pair._replace(node=node))
    return None


def _means(
    flow: GraphView, row: list[Node], own: Floats, room: Sameness
) -> Iterator[tuple[Node, Floats, int]]:
    """What in a row is reduced of which the mean is a side's own value, or the opposite (-1) of that."""
    for node in row:
        for read in flow.origins(node) if family(node.op) in REDUCING else ():
            elements = numbers_of(read.outputs[0]) if read.outputs else None
            if elements is None or elements.size < 2 or not np.isfinite(elements).all():
                continue
            for sign in (1, -1):
                if room.apart(np.full(own.shape, sign * elements.mean()), own) is not None:
                    yield node, elements.ravel(), sign


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
    here, there, last = sided(divergence, left, right)
    if last is None:
        return None
    ours, theirs = _gradients(here), _gradients(there)
    for name, other, is_one_tensor in _shared(here.results(last), ours, theirs, there):
        # One tensor given as both may be a number; two leaves that are one are told by more than that.
        fewest = 1 if is_one_tensor else FEW
        apart = _apart_from_sum(ours[name], theirs[name], theirs[other], fewest)
        leaf = name.removeprefix(GRADIENT)
        nodes = [it for it in there.graph.nodes if it.name == leaf]
        leaves = [it for it in nodes if it.kind in ("parameter", "input")]
        if apart is not None and leaves:
            return Cause(
                side=OTHER[divergence.side],
                node=leaves[0].id,
                op=leaf,
                edits=(Rewire(source=FromLeaf(other.removeprefix(GRADIENT), is_one_tensor)),),
                proven="recorded_values",
                greatest=apart,
                noise=noise_of(ours[name], theirs[name]),
                layers=(None, None),
                tried=1,
            )
    return None


def _gradients(flow: GraphView) -> dict[str, Output]:
    """The gradients that a graph yields, by name."""
    return {
        node.name: node.outputs[0]
        for node in flow.graph.nodes
        if node.kind == "output" and node.phase == "backward" and node.outputs
    }


def _shared(
    results: list[Node], ours: dict[str, Output], theirs: dict[str, Output], there: GraphView
) -> Iterator[tuple[str, str, bool]]:
    """The gradients of the other side whose sum one of the results may be, and whether of one tensor."""
    names = [it.name for it in results]
    if len(names) == 2 and theirs.keys() >= set(names):
        # The other side takes the two from different outputs.
        results_there = [it for it in there.graph.nodes if it.kind == "output"]
        of_names = [it for it in results_there if it.phase == "backward" and it.name in names]
        if len({(edge.origin, edge.output) for it in of_names for edge in there.into(it)}) == 2:
            yield names[0], names[1], True
    for name in names:
        for other, output in theirs.items() if name in theirs else ():
            # Here there is no such gradient, or it is zeros.
            own = numbers_of(ours[other]) if other in ours else np.zeros(1)
            if numbers_of(output) is not None and own is not None and not own.any():
                yield name, other, False


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
