"""Why two ops give different values for equal inputs: arguments that may explain it, and whether they do.

What may explain it is guessed freely, from what the other side's ops and layers were given. Each guess
is tried: one of PyTorch's operators is computed again with it, and only one that gives the other side's
value is a cause.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from typing import NamedTuple

import msgspec
import numpy as np

from explorer.compare.mends import mends
from explorer.compare.noise import CLEAR
from explorer.model.arrays import unpack
from explorer.model.causes import Cause, Trial, Tried
from explorer.model.divergence import Divergence, OtherValue, ResultElsewhere
from explorer.model.engines import ENGINES
from explorer.model.graph import (
    Arguments,
    ArgumentValue,
    GradGraph,
    Node,
    Output,
    SideName,
)
from explorer.numeric.differences import Floats, real_parts

NAMES: dict[str, tuple[str, ...]] = {
    "approximate": ("none", "tanh"),
    "reduction": ("mean", "sum", "none"),
}
"""The values of arguments that are names."""

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

COUNTS: dict[str, tuple[int, ...]] = {"correction": (0, 1), "padding_idx": (-1,)}
"""The values of arguments that are one of few numbers; -1 is no padding."""

AXES = frozenset({"dim", "start_dim", "end_dim"})
"""Arguments that are an axis."""

FIXED = frozenset({"dtype", "size", "output_mask", "input_dtype", "self_sizes", "input_sizes"})
"""Arguments that shape a value, or say which values are made: no other one would give this value."""

MOST_TRIALS = 60
"""How many changes are tried at one op."""

ROUNDING = 3e-6
"""How far two values may be apart relative to their greatest element where no noise was measured."""

EXPLAINED = 0.05
"""What an explanation may leave of a difference, as a part of it."""


class Suspect(NamedTuple):
    """An op that can be computed with other arguments, its own value, and the one that they should give.

    ``difference`` is how far these are apart. ``other`` is the op of the other side. ``trials`` begin
    with none changed.
    """

    side: SideName
    node: Node
    other: Node
    own: Output
    target: Output
    difference: float
    trials: tuple[Trial, ...]


def suspect_at(divergence: Divergence, left: GradGraph, right: GradGraph) -> Suspect | None:
    """What can be tried where two ops, or an op and several in a row, give different values."""
    counts, result = (1, 1), ""
    if isinstance(divergence, OtherValue):
        counts = divergence.rows[0].count, divergence.rows[1].count
    elif isinstance(divergence, ResultElsewhere) and divergence.do_correspond:
        result = divergence.name  # a further output of the two ops, such as a running statistic
    else:
        return None
    if _is_one_of_torch(left, counts[0]):
        return _suspect("left", (left, right), divergence.nodes, counts[1], result)
    if _is_one_of_torch(right, counts[1]):
        return _suspect("right", (right, left), divergence.nodes[::-1], counts[0], result)
    return None


def _is_one_of_torch(graph: GradGraph, count: int) -> bool:
    """Whether a graph is PyTorch's and has a single op there."""
    return ENGINES[graph.engine].framework == "torch" and count == 1


def _suspect(
    side: SideName,
    graphs: tuple[GradGraph, GradGraph],
    nodes: tuple[str | None, str | None],
    count: int,
    result: str,
) -> Suspect | None:
    """The op of the first graph, beside ``count`` ops in a row of the second.

    What differs is their first output, or the ``result`` of that name which they make.
    """
    here, there = graphs
    first, second = nodes
    if first is None or second is None:
        return None
    node, row = here.by_id()[first], _row(there, second, count)
    if not row:
        return None
    own, target = _value(here, node, result), _value(there, row[-1], result)
    difference = distance(own, target) if own and target else None
    if own is None or target is None or difference is None:
        return None
    pool = list(chain.from_iterable(_values(other.arguments) for other in row))
    scopes = {other.scope for other in row} | {node.scope}
    for graph in (there, here):
        for scope in scopes & graph.layers.keys():
            pool += _values(graph.layers[scope].settings)
    rank = len(node.outputs[0].shape) if node.outputs else 0
    single = list(_changes(node.arguments, pool, rank))[:MOST_TRIALS]
    both = [
        {**one, **other} for one, other in combinations(single, 2) if one.keys() != other.keys()
    ]
    trials = (
        Trial(node.id),
        *(Trial(node.id, change) for change in single),
        *(Trial(node.id, op=op) for op in _others(node.op)),
        *(Trial(node.id, change) for change in both[:MOST_TRIALS]),
    )
    if len(trials) == 1:
        return None
    return Suspect(side, node, row[-1], own, target, difference, trials)


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


def _row(graph: GradGraph, first: str, count: int) -> list[Node]:
    """Ops in a row from ``first`` on; [] where they are no single row."""
    nodes = graph.by_id()
    row = [nodes[first]]
    while len(row) < count:
        readers = {edge.target for edge in graph.edges if edge.origin == row[-1].id}
        ops = [nodes[reader] for reader in readers if nodes[reader].kind == "op"]
        phase = [node for node in ops if node.phase == row[0].phase]
        if len(phase) != 1:
            return []
        row.append(phase[0])
    return row


def _values(arguments: Arguments) -> list[ArgumentValue]:
    return list(arguments.values())


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
    if name in NAMES:
        yield from NAMES[name]
    elif name in COUNTS:
        yield from COUNTS[name]
    elif isinstance(value, bool):
        yield not value
    elif name in AXES and isinstance(value, int):
        yield from range(rank)
    elif isinstance(value, float):
        for other in pool:
            if isinstance(other, float):
                yield other
                yield 1 - other
    elif isinstance(value, int):
        yield from (
            other for other in pool if isinstance(other, int) and not isinstance(other, bool)
        )
    elif isinstance(value, tuple):
        for other in pool:
            yield from _fitted(other, len(value))


def _fitted(value: ArgumentValue, count: int) -> Iterator[tuple[int, ...]]:
    """A number or a sequence as one of ``count`` numbers: strides of four axes end with those of two."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield (value,) * count
    elif isinstance(value, tuple) and len(value) >= count > 0:
        numbers = [item for item in value if isinstance(item, int)]
        if len(numbers) == len(value):
            yield tuple(numbers[-count:])


# Judging what was tried


def cause_of(suspect: Suspect, tried: Tried, left: GradGraph, right: GradGraph) -> Cause | None:
    """The arguments that give the other side's value; None where none do, or several would.

    Nothing is concluded where the op, computed as it was, does not give its own value.
    """
    same, *changed = tried.outputs
    room = allowance(suspect.own, suspect.target)
    places = [
        place for place, made in enumerate(same) if _within(distance(made, suspect.own), room)
    ]
    if not places:
        return None
    room = min(room, EXPLAINED * suspect.difference)
    found = []
    for trial, outputs in zip(suspect.trials[1:], changed, strict=True):
        apart = distance(outputs[places[0]], suspect.target) if outputs[places[0] :] else None
        if apart is not None and apart <= room:
            found.append((trial, apart))
    # One argument goes before another operator, and this before two arguments.
    least = min((_effort(trial) for trial, _ in found), default=0)
    found = [(trial, apart) for trial, apart in found if _effort(trial) == least]
    if len(found) > 1 and found[0][0].op:
        # Below 6, relu and relu6 are one: the other side's op may say which it is.
        found = [(trial, apart) for trial, apart in found if _is_named(trial.op, suspect.other.op)]
    if len({(frozenset(trial.arguments), trial.op) for trial, _ in found}) != 1:
        return None
    (trial, apart), *_ = found
    here, there = (left, right) if suspect.side == "left" else (right, left)
    layers = here.layers.get(suspect.node.scope), there.layers.get(suspect.other.scope)
    cause = Cause(
        side=suspect.side,
        node=suspect.node.id,
        op=suspect.node.op,
        own={name: suspect.node.arguments[name] for name in trial.arguments},
        arguments=trial.arguments,
        other_op=trial.op,
        greatest=apart,
        noise=_noise(suspect.own, suspect.target),
        layers=layers if suspect.side == "left" else layers[::-1],
        tried=len(changed),
    )
    found_mends = mends(cause, suspect.node, (left.engine, right.engine))
    return msgspec.structs.replace(cause, mends=found_mends)


def _is_named(op: str, other: str) -> bool:
    """Whether an operator of PyTorch has the name of one of MindSpore: "aten.relu.default", "ReLU"."""
    return op.split(".")[1].strip("_").replace("_", "") == other.lower()


def _effort(trial: Trial) -> int:
    """How much a trial changes."""
    return 2 if trial.op else 2 * len(trial.arguments) - 1


def distance(one: Output, other: Output) -> float | None:
    """How far two values are apart at most; None where that is not known.

    Of values that are not kept whole, their figures are compared.
    """
    first, second = _numbers(one), _numbers(other)
    if first is None or second is None or first.shape != second.shape:
        return None
    apart = np.abs(first - second)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    greatest = float(np.where(same, 0.0, apart).max(initial=0.0))
    return greatest if np.isfinite(greatest) else None


def _numbers(output: Output) -> Floats | None:
    """The elements of a value in C order, or figures of one that is not kept whole."""
    summary = output.values
    if summary is None:
        return None
    if summary.whole is not None:
        return real_parts(unpack(summary.whole)).astype(np.float64).ravel()
    figures = (summary.minimum, summary.maximum, summary.mean, summary.norm, *summary.quantiles)
    return np.array([*figures, summary.nonfinite], np.float64)


def allowance(one: Output, other: Output) -> float:
    """How far two values may be apart that are the same up to rounding."""
    numbers = [np.abs(found) for found in (_numbers(one), _numbers(other)) if found is not None]
    scale = max((float(np.nanmax(found, initial=0.0)) for found in numbers), default=0.0)
    return max(CLEAR * (_noise(one, other) or 0.0), ROUNDING * scale)


def _noise(one: Output, other: Output) -> float | None:
    """The noise of both values together; None where neither has one: infinite noise is none."""
    levels = [output.noise for output in (one, other) if output.noise is not None]
    finite = [level for level in levels if math.isfinite(level)]
    return sum(finite) if finite else None


def _within(apart: float | None, room: float) -> bool:
    return apart is not None and apart <= room
