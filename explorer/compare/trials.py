"""What is tried where two ops give different values for equal inputs.

It is guessed freely, from what the other side's ops and layers were given: each guess is tried, and only
one that gives the other side's value is a cause.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from explorer.compare.input_trials import input_changes
from explorer.compare.related import row_from
from explorer.model.causes import Trial
from explorer.model.divergence import Divergence, OtherValue, ResultElsewhere, Row
from explorer.model.engines import ENGINES
from explorer.model.graph import (
    Arguments,
    ArgumentValue,
    GradGraph,
    Node,
    Output,
    SideName,
)

FEW_VALUES: dict[str, tuple[ArgumentValue, ...]] = {
    "approximate": ("none", "tanh"),
    "reduction": ("mean", "sum", "none"),
    "correction": (0, 1),
    "padding_idx": (-1,),
    "ignore_index": (-100,),
}
"""The values of arguments that are one of few; a padding_idx of -1 is none."""

POSITIONS = frozenset({"start", "end", "diagonal", "index", "shifts", "offset"})
"""Arguments that are places: it may be that one is off by one."""

LAST = 2**63 - 1
"""The end of a slice that ends with its axis."""

KINDS: tuple[tuple[str, ...], ...] = (
    (
        "aten.relu.default",
        "aten.relu6.default",
        "aten.silu.default",
        "aten.gelu.default",
        "aten.tanh.default",
        "aten.sigmoid.default",
        "aten.softplus.default",
        "aten.elu.default",
        "aten.mish.default",
        "aten.leaky_relu.default",
        "aten.hardswish.default",
        "aten.hardsigmoid.default",
        "aten.hardtanh.default",
    ),
    ("aten._softmax.default", "aten._log_softmax.default"),
    ("aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default"),
    ("aten.sum.default", "aten.mean.default", "aten.prod.default"),
)
"""Operators that may stand in each other's place, by their names in PyTorch's graphs."""

AXES = frozenset({"dim", "start_dim", "end_dim"})
"""Arguments that are an axis."""

FIXED = frozenset({"dtype", "size", "output_mask", "input_dtype", "self_sizes", "input_sizes"})
"""Arguments that shape a value, or say which values are made: no other one would give this value."""

MOST_TRIALS = 60
"""How many changes are tried at one op."""


class Suspect(NamedTuple):
    """An op that can be computed in other ways, its own value, and the one that it should then have.

    ``other`` is the op of the other side. ``trials`` begin with none that changes anything.
    """

    side: SideName
    node: Node
    other: Node
    own: Output
    target: Output
    trials: tuple[Trial, ...]


class _Ends(NamedTuple):
    """What two graphs have at a divergence: an op of ``here``, and one or several in a row of ``there``.

    What differs is their first output, or the ``result`` of that name which they make.
    """

    side: SideName
    here: GradGraph
    there: GradGraph
    node: Node
    row: list[Node]
    result: str


def suspect_at(divergence: Divergence, left: GradGraph, right: GradGraph) -> Suspect | None:
    """What can be tried at a divergence; None where nothing can."""
    ends = _ends(divergence, left, right)
    if ends is None:
        return None
    own = _value(ends.here, ends.node, ends.result)
    target = _value(ends.there, ends.row[-1], ends.result)
    trials = _trials(ends.here, ends.node, _pool(ends))
    if own is None or target is None or not trials:
        return None
    return Suspect(ends.side, ends.node, ends.row[-1], own, target, (Trial(ends.node.id), *trials))


def _ends(divergence: Divergence, left: GradGraph, right: GradGraph) -> _Ends | None:
    """A single op of PyTorch, which can be computed again, and what the other side has instead."""
    rows: tuple[Row | None, Row | None] = (None, None)
    result = ""
    if isinstance(divergence, OtherValue):
        rows = divergence.rows
    elif isinstance(divergence, ResultElsewhere) and divergence.do_correspond:
        result = divergence.name  # a further output of the two ops, such as a running statistic
    else:
        return None
    first, second = divergence.nodes
    if first is None or second is None:
        return None
    if _is_one_of_torch(left, rows[0]):
        row = row_from(right, second, rows[1])
        return _Ends("left", left, right, left.by_id()[first], row, result) if row else None
    if _is_one_of_torch(right, rows[1]):
        row = row_from(left, first, rows[0])
        return _Ends("right", right, left, right.by_id()[second], row, result) if row else None
    return None


def _is_one_of_torch(graph: GradGraph, row: Row | None) -> bool:
    """Whether a graph is PyTorch's and has a single op there."""
    is_single = row is None or row.count == 1
    return ENGINES[graph.engine].framework == "torch" and is_single


def _pool(ends: _Ends) -> list[ArgumentValue]:
    """What the ops of the other side and the layers of both sides were given."""
    pool: list[ArgumentValue] = []
    for node in ends.row:
        pool += node.arguments.values()
    scopes = {node.scope for node in (*ends.row, ends.node)}
    for graph in (ends.there, ends.here):
        for scope in sorted(scopes & graph.layers.keys()):
            pool += graph.layers[scope].settings.values()
    return pool


def _trials(graph: GradGraph, node: Node, pool: list[ArgumentValue]) -> list[Trial]:
    """Changes of one argument, other operators, changed inputs, and changes of two arguments."""
    rank = len(node.outputs[0].shape) if node.outputs else 0
    single = list(_changes(node.arguments, pool, rank))[:MOST_TRIALS]
    double = []
    for one, other in combinations(single, 2):
        if one.keys() != other.keys():
            double.append({**one, **other})
    trials = [Trial(node.id, change) for change in single]
    trials += [Trial(node.id, op=op) for op in _others(node.op)]
    trials += [Trial(node.id, inputs=(change,)) for change in input_changes(graph, node)]
    trials += [Trial(node.id, change) for change in double[:MOST_TRIALS]]
    return trials


def _others(op: str) -> list[str]:
    """The operators that may stand in the place of one."""
    # In memory of its own: what is written in place is compared as well.
    plain = op.replace("_.default", ".default")
    return [other for kind in KINDS if plain in kind for other in kind if other != plain]


def _value(graph: GradGraph, node: Node, result: str) -> Output | None:
    """The first output of a node, or the result of that name."""
    if not result:
        return node.outputs[0] if node.outputs else None
    for other in graph.nodes:
        if other.kind == "output" and other.name == result:
            return other.outputs[0]
    return None


def _changes(own: Arguments, pool: Iterable[ArgumentValue], rank: int) -> Iterator[Arguments]:
    """Changes of one argument each, those that the other side suggests first."""
    for name, value in own.items():
        if name in FIXED:
            continue
        seen = [value]
        for other in _alternatives(name, value, pool, rank):
            if other not in seen:
                seen.append(other)
                yield {name: other}


def _alternatives(
    name: str, value: ArgumentValue, pool: Iterable[ArgumentValue], rank: int
) -> Iterator[ArgumentValue]:
    """Other values that an argument may have."""
    if name in FEW_VALUES:
        yield from FEW_VALUES[name]
    elif isinstance(value, bool):
        yield not value
    elif name in AXES and isinstance(value, int):
        yield from range(rank)
    else:
        if name in POSITIONS and isinstance(value, int):
            yield from (value - 1, value + 1)
            yield from (LAST, -1) if name == "end" else ()
        for other in pool:
            yield from _in_place_of(value, other)


def _in_place_of(value: ArgumentValue, other: ArgumentValue) -> Iterator[ArgumentValue]:
    """A value of the other side as one of the kind of ``value``; none of another kind."""
    if isinstance(other, bool):
        return
    if isinstance(value, float) and isinstance(other, float):
        yield other
        yield 1 - other  # a momentum the other way round
    elif isinstance(value, int) and isinstance(other, int):
        yield other
    elif isinstance(value, tuple):
        yield from _fitted(other, len(value))


def _fitted(value: ArgumentValue, count: int) -> Iterator[tuple[int, ...]]:
    """A number or a sequence as one of ``count`` numbers: strides of four axes end with those of two."""
    if isinstance(value, int):
        yield (value,) * count
    elif isinstance(value, tuple) and len(value) >= count > 0:
        numbers = [item for item in value if isinstance(item, int)]
        if len(numbers) == len(value):
            yield tuple(numbers[-count:])
