"""Two functions of one value that the two sides compute, each in ops of its own, by their values."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from explorer.compare.causes.places import at_place
from explorer.compare.causes.relations import FEW, Found
from explorer.compare.causes.rooms import are_equal, numbers_of, room_of
from explorer.compare.causes.value_pairs import ValuePair, cause_by
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, Related
from explorer.model.divergence import Divergence, ExtraOps, OtherValue
from explorer.model.families import BOOKKEEPING, family
from explorer.model.graph import OTHER, Node, SideName
from explorer.numeric.differences import Floats

MOST_BEHIND = 16
"""So many ops behind a value are looked at for the one that yields a function of it."""

_erf = np.vectorize(math.erf, otypes=[np.float64])

FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
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
}
"""Functions that frameworks compute in one op or in several."""


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
        values = other.outputs[0], made.node.outputs[0]
        ends = ValuePair(OTHER[side], there, here, other, made.node, *values)
        found = Found(Related(how="applied", name=made.name), made.apart)
        return cause_by(found, ends, (left, right))
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
        wanted = {name: function(value).ravel() for name, function in FUNCTIONS.items()}
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
