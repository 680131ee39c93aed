"""Why two ops give different values for equal inputs: arguments that may explain it, and whether they do.

What may explain it is guessed freely, from what the other side's ops and layers were given. Each guess
is tried: one of PyTorch's operators is computed again with it, and only one that gives the other side's
value is a cause.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from explorer.compare.noise import CLEAR
from explorer.model.arrays import unpack
from explorer.model.causes import Cause, Trial, Tried
from explorer.model.divergence import Divergence, OtherValue, Row
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
    """An op that can be computed with other arguments, and the value that one of them should give.

    ``difference`` is how far the op's own value is from that. ``trials`` begin with none changed.
    """

    side: SideName
    node: Node
    other: Node
    target: Output
    difference: float
    trials: tuple[Trial, ...]


def suspect_at(divergence: Divergence, left: GradGraph, right: GradGraph) -> Suspect | None:
    """What can be tried where two ops, or an op and several in a row, give different values."""
    if not isinstance(divergence, OtherValue):
        return None
    nodes, rows = divergence.nodes, divergence.rows
    if _is_one_of_torch(left, rows[0]):
        return _suspect("left", (left, right), nodes, rows[1].count)
    if _is_one_of_torch(right, rows[1]):
        return _suspect("right", (right, left), nodes[::-1], rows[0].count)
    return None


def _is_one_of_torch(graph: GradGraph, row: Row) -> bool:
    """Whether a graph is PyTorch's and has a single op there."""
    return ENGINES[graph.engine].framework == "torch" and row.count == 1


def _suspect(
    side: SideName,
    graphs: tuple[GradGraph, GradGraph],
    nodes: tuple[str | None, str | None],
    count: int,
) -> Suspect | None:
    """The op of the first graph, beside ``count`` ops in a row of the second."""
    here, there = graphs
    first, second = nodes
    if first is None or second is None:
        return None
    node, row = here.by_id()[first], _row(there, second, count)
    if not row or not node.outputs or not row[-1].outputs or not node.arguments:
        return None
    target = row[-1].outputs[0]
    difference = distance(node.outputs[0], target)
    if difference is None:
        return None
    pool = list(chain.from_iterable(_values(other.arguments) for other in row))
    scopes = {other.scope for other in row} | {node.scope}
    for graph in (there, here):
        for scope in scopes & graph.layers.keys():
            pool += _values(graph.layers[scope].settings)
    rank = len(node.outputs[0].shape)
    changes = list(_changes(node.arguments, pool, rank))[:MOST_TRIALS]
    trials = tuple(Trial(node.id, change) for change in ({}, *changes))
    return Suspect(side, node, row[-1], target, difference, trials)


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
    own = suspect.node.outputs[0]
    room = allowance(own, suspect.target)
    if not same or not _within(distance(same[0], own), room):
        return None
    room = min(room, EXPLAINED * suspect.difference)
    found: dict[str, tuple[Arguments, float]] = {}
    for trial, outputs in zip(suspect.trials[1:], changed, strict=True):
        apart = distance(outputs[0], suspect.target) if outputs else None
        if apart is not None and apart <= room:
            (name,) = trial.arguments
            found.setdefault(name, (trial.arguments, apart))
    if len(found) != 1:
        return None
    ((name, (arguments, apart)),) = found.items()
    here, there = (left, right) if suspect.side == "left" else (right, left)
    layers = here.layers.get(suspect.node.scope), there.layers.get(suspect.other.scope)
    return Cause(
        side=suspect.side,
        node=suspect.node.id,
        op=suspect.node.op,
        own={name: suspect.node.arguments[name]},
        arguments=arguments,
        greatest=apart,
        noise=_noise(own, suspect.target),
        layers=layers if suspect.side == "left" else layers[::-1],
        tried=len(changed),
    )


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
    """The noise of both values together; None where neither was measured."""
    levels = [output.noise for output in (one, other) if output.noise is not None]
    return sum(levels) if levels else None


def _within(apart: float | None, room: float) -> bool:
    return apart is not None and apart <= room
