"""Sums of two products of which the other side has the same with two factors exchanged."""

from collections.abc import Iterator
from itertools import product

from explorer.compare.causes.input_trials import label_of
from explorer.compare.causes.places import rows_at
from explorer.compare.causes.relations import Found
from explorer.compare.causes.rooms import is_telling, numbers_of, room_of
from explorer.compare.causes.value_pairs import ValuePair, cause_by
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, Related
from explorer.model.divergence import Divergence, OtherValue
from explorer.model.families import family
from explorer.model.graph import Node, Output
from explorer.numeric.differences import Floats

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
            values = node.outputs[0], other.outputs[0]
            return cause_by(
                found, ValuePair("left", left, right, node, other, *values), (left, right)
            )
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
            names = label_of(one[0]), label_of(second[0])
            return Found(Related(how="exchanged", name=names[0], other=names[1]), apart)
    return None


def _sum(one: Floats, other: Floats, shape: tuple[int, ...]) -> Floats | None:
    """The sum of two products; None where it has another shape than the sum as it was."""
    try:
        made: Floats = one + other
    except ValueError:
        return None
    return made if made.shape == shape else None
