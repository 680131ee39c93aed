"""Functions of values, and what follows from several values: sums of products, means, shared gradients."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from explorer.compare.causes.inputs import label_of
from explorer.compare.causes.relations import (
    FEW,
    Found,
    Proposal,
    Relation,
    ValuePair,
    is_varied,
    known_numbers,
    named_factor,
)
from explorer.compare.causes.rows import at_place, have_one_value, rows_at, sided
from explorer.compare.graphs.sameness import ROUNDING, Sameness
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import FromLeaf, FromNode, InsertOperator, Rewire
from explorer.model.divergence import ExtraOps, OtherValue
from explorer.model.graph import OTHER, Node, SideName
from explorer.numeric.differences import Floats
from explorer.operators.families import BOOKKEEPING, family

MOST_BEHIND = 16
"""So many ops behind a value are looked at for the one that yields a function of it."""

MOST_MASKS = 40
"""So many conditions of a graph are looked at."""

GRADIENT = "d"
"""What the name of a leaf's gradient begins with."""

REDUCING = frozenset({"sum", "mean"})
"""Families of ops that make a mean, or a sum that is divided."""

# Functions

SELU = 1.6732632423543772, 1.0507009873554805
"""The alpha and the scale of selu: Klambauer and others, Self-Normalizing Neural Networks (2017)."""

_erf = np.vectorize(math.erf, otypes=[np.float64])

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu by erf": lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2,
    "gelu by tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softplus": lambda x: np.logaddexp(x, 0),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "quick gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
    "leaky relu": lambda x: np.maximum(x, 0.01 * x),
    "relu6": lambda x: np.clip(x, 0, 6),
    "squared relu": lambda x: np.square(np.maximum(x, 0)),
    "selu": lambda x: SELU[1] * np.where(x > 0, x, SELU[0] * np.expm1(np.minimum(x, 0))),
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "log sigmoid": lambda x: -np.logaddexp(-x, 0),
}
"""Functions that frameworks compute in one op or in several."""


def activated(pair: ValuePair) -> Iterator[Proposal]:
    """A function that frameworks compute in one op or in several."""
    for name, function in ACTIVATIONS.items() if is_varied(pair.own) else ():
        with np.errstate(all="ignore"):
            made = function(pair.own)
        yield InsertOperator(op="function", name=name), made


def _softmax(x: Floats) -> Floats:
    """The softmax along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True)) if x.ndim else np.ones_like(x)
    made: Floats = powers / powers.sum(axis=-1, keepdims=True) if x.ndim else powers
    return made


FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": ACTIVATIONS["relu"],
    "sqrt": np.sqrt,
    "square": np.square,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "reciprocal": np.reciprocal,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "1 - x": lambda x: 1 - x,
    "sigmoid": ACTIVATIONS["sigmoid"],
    "tanh": np.tanh,
    "softmax": _softmax,
    "log_softmax": lambda x: np.log(_softmax(x)),
}
"""Functions that one side may have more."""


def applied(pair: ValuePair) -> Iterator[Proposal]:
    """A function that one side has more."""
    for name, function in FUNCTIONS.items() if is_varied(pair.target) else ():
        with np.errstate(all="ignore"):
            made = function(pair.own)
        if _is_change(pair.own, made):
            yield InsertOperator(op="function", name=name), made


def _is_change(own: Floats, made: Floats) -> bool:
    """Whether a function does more to a value than rounding: a softmax of one only makes its sum 1 again."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(made - own)
    return bool(np.any(apart > ROUNDING * np.maximum(np.abs(own), 1)))


def tempered(pair: ValuePair) -> Iterator[Proposal]:
    """Two softmaxes of the same logits, times another factor."""
    logits = []
    for value in (pair.own, pair.target) if pair.own.shape == pair.target.shape != () else ():
        with np.errstate(all="ignore"):
            logs = value if float(value.max()) <= 0 else np.log(value)
            sums = np.exp(logs).sum(axis=-1)
        if np.isfinite(logs).all() and np.allclose(sums, 1, atol=1e-4):
            logits.append(logs - logs.mean(axis=-1, keepdims=True))
    if len(logits) < 2 or not is_varied(logits[0]):
        return  # no softmax, and no logarithm of one
    own, target = logits
    square = float((own * own).sum())
    factor = float((own * target).sum()) / square if square else 0.0
    if factor <= 0:
        return
    named = named_factor(factor, pair, 1e-5)
    softmax = _softmax(own * named.value)
    made = np.log(softmax) if float(pair.own.max()) <= 0 else softmax
    if _is_change(pair.own, made):
        yield InsertOperator(op="temper", factor=named), made


# Values that may follow from more than one


def with_values(
    rows: tuple[list[Node], list[Node]], left: GraphView, right: GraphView, relation: Relation
) -> Iterator[ValuePair]:
    """Each value of one row beside each of the other one."""
    for node, other in product(*rows):
        if node.outputs and other.outputs:
            yield ValuePair("left", left, right, node, other, (relation,))


def of_gradients(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The gradients of one leaf, where one graph sums those of more uses.

    It is one leaf where the other graph reads two, or one tensor given as both.
    """
    here, there, last = sided(divergence, left, right)
    ours, theirs = gradients(here), gradients(there)
    for name in [it.name for it in here.results(last)] if last and divergence.gradients else ():
        leaves = [it for it in there.graph.nodes if it.name == name.removeprefix(GRADIENT)]
        leaves = [it for it in leaves if it.kind in ("parameter", "input")]
        if name in ours and name in theirs and leaves:
            side, values = OTHER[divergence.side], (there, here, leaves[0], ours[name])
            yield ValuePair(side, *values, (shared,), part=theirs[name])


def of_functions(
    divergence: ExtraOps | OtherValue, left: GraphView, right: GraphView
) -> Iterator[ValuePair]:
    """A value of which one side computes a known function, and the other one another."""
    side: SideName = "left"
    here, there, first = left, right, left.nodes.get(divergence.nodes[0] or "")
    if isinstance(divergence, ExtraOps):
        side = divergence.side
        here, there, _ = sided(divergence, left, right)
        first = at_place(here, divergence.row.first)
    for read in here.origins(first) if first and divergence.phase == "forward" else ():
        values = (it for it in there.graph.nodes if it.kind != "output")
        other = next((it for it in values if have_one_value(it, read)), None)
        made = _function_of(here, read) if other else None
        made_there = _function_of(there, other) if other else None
        if other and made and made_there and made[0].edits != made_there[0].edits:
            yield ValuePair(OTHER[side], there, here, other, made[1], (activated,), read=read)


def _function_of(flow: GraphView, read: Node) -> tuple[Found, Node] | None:
    """A known function of a value, and the one of the nearest ops behind it that yields it."""
    behind = flow.behind(read.id)
    nodes = [it for it in flow.graph.nodes if it.id in behind and it is not read]
    # Those that compute numbers of their own, in order.
    computing = [it for it in nodes if it.kind == "op" and family(it.op) not in BOOKKEEPING]
    for node in computing[:MOST_BEHIND] if read.outputs else ():
        if node.outputs and node.phase == read.phase:
            found = ValuePair("left", flow, flow, read, node, (activated,)).follows()
            if found is not None:
                return found, node
    return None


def of_sums_and_means(
    divergence: OtherValue, left: GraphView, right: GraphView
) -> Iterator[ValuePair]:
    """The sums of two rows of ops, and the last values of rows, of which one has a mean in it."""
    rows = rows_at(divergence, left, right) if divergence.phase == "forward" else None
    if rows is None:
        return
    sums = [[it for it in row if family(it.op) == "add"] for row in rows]
    yield from with_values((sums[0], sums[1]), left, right, factors_exchanged)
    if rows[0][-1].outputs and rows[1][-1].outputs:
        ends = ValuePair("left", left, right, rows[0][-1], rows[1][-1], (of_some,))
        for row, pair in zip(rows, ends.both_ways(), strict=True):
            # The sum that is divided may be ahead of the row.
            for node in (*row, *pair.here.origins(row[0])):
                if family(node.op) in REDUCING:
                    yield replace(pair, node=node, read=pair.node)


def factors_exchanged(pair: ValuePair) -> Iterator[Proposal]:
    """Two factors of two products in a sum in the place of each other.

    A weight and its complement are: y·a + (1 - y)·b, or (1 - y)·a + y·b.
    """
    flow = pair.here
    products: list[list[tuple[Node, Floats]]] = []
    for term in flow.origins(pair.node):
        factors: list[tuple[Node, Floats]] = []
        for edge in flow.into(term) if family(term.op) == "mul" else ():
            read = flow.nodes[edge.origin]
            numbers = map(known_numbers, read.outputs[edge.output : edge.output + 1])
            factors += [(read, it) for it in numbers if it.size]
        products += [factors] if len(factors) == 2 else []
    if len(products) != 2 or np.unique(pair.target).size < 2:
        return
    (one, other), last = products
    for second, rest in (last, last[::-1]):
        try:
            made = second[1] * other[1] + one[1] * rest[1]
        except ValueError:
            continue  # of other shapes
        if made.shape == pair.own.shape:
            sources = [FromNode(it.id, label=label_of(it)) for it in (one[0], second[0])]
            yield tuple(Rewire(source=source) for source in sources), made


def of_some(pair: ValuePair) -> Iterator[Proposal]:
    """A mean of those elements alone for which a condition holds, where no other one gives it as well."""
    reads = pair.here.origins(pair.node) if pair.own.size == 1 else ()
    for read, sign in product(reads, (1, -1)):
        elements = known_numbers(read.outputs[0]) if read.outputs else np.zeros(0)
        if elements.size < 2 or not np.isfinite(elements).all():
            continue
        mean = np.full(pair.own.shape, sign * elements.mean())
        if Sameness(pair.room.base).apart(mean, pair.own) is None:
            continue
        found: dict[bytes, Proposal] = {}
        for flow in pair.here, pair.there:
            for node, holds in islice(_conditions(flow), MOST_MASKS):
                if holds.size == elements.size:
                    made = np.full(pair.target.shape, sign * elements.ravel()[holds].mean())
                    counts = int(holds.sum()), holds.size
                    edit = InsertOperator(op="where", name=label_of(node), numbers=counts)
                    if pair.room.apart(made, pair.target) is not None:
                        found.setdefault(holds.tobytes(), (edit, made))
        if len(found) == 1:
            yield from found.values()


def _conditions(flow: GraphView) -> Iterator[tuple[Node, NDArray[np.bool_]]]:
    """The values of forward that are 0 or 1 in each element, and both of them somewhere."""
    for node in flow.graph.nodes:
        if node.kind != "output" and node.phase == "forward" and node.outputs:
            numbers = known_numbers(node.outputs[0])
            if numbers.size > 1 and set(np.unique(numbers)) == {0, 1}:
                yield node, numbers.ravel() == 1


def shared(pair: ValuePair) -> Iterator[Proposal]:
    """The gradient of a leaf with that of another one, of which the other side has none, or the same one."""
    ours, theirs, name = gradients(pair.there), gradients(pair.here), pair.other.name
    (maker,) = pair.there.origins(pair.other)[:1]
    names = [it.name for it in pair.there.results(maker)]
    # One tensor given as both may be a number; two leaves that are one are told by more than that.
    others: list[tuple[str, int]] = []
    if len(names) == 2 and names[0] == name and names[1] in theirs:
        # The two are taken from different outputs.
        taken = {(edge.origin, edge.output) for it in names for edge in pair.here.into(theirs[it])}
        others += [(names[1], 1)] if len(taken) == 2 else []
    for other in theirs:
        # The other side has no such gradient, or it is zeros.
        own = known_numbers(ours[other].outputs[0]) if other in ours else np.zeros(1)
        others += [(other, FEW)] if own.size and not own.any() else []
    first = pair.own
    for other, fewest in others:
        second = known_numbers(theirs[other].outputs[0])
        if not first.shape == second.shape == pair.target.shape:
            continue
        is_told = min(np.unique(first).size, np.unique(second).size) >= fewest
        if is_told and first.any() and second.any():
            leaf = FromLeaf(other.removeprefix(GRADIENT), is_one_tensor=fewest == 1)
            yield (Rewire(source=leaf),), first + second


def gradients(flow: GraphView) -> dict[str, Node]:
    """The results of backward that a graph yields, by name."""
    results = [it for it in flow.graph.nodes if it.kind == "output" and it.outputs]
    return {it.name: it for it in results if it.phase == "backward"}
