"""Checks of what was decoded from a file: sizes, shapes, names, and what has to fit together."""

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from explorer.engines.capture.lint import lint
from explorer.model.arrays import Array, Summary, carrier
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph, Node
from explorer.model.trace import Trace
from explorer.model.training import Training
from explorer.numeric.summaries import QUANTILES

MOST_NODES = 200_000
"""A graph with more nodes, or ten times as many edges, is refused."""

LONGEST_TEXT = 10_000
"""A name, path or message of more characters is refused."""

MOST_AXES = 64
"""A tensor of more axes is refused: numpy has no more either."""


def faults(recorded: Trace | Training) -> Iterator[str]:
    """What of a decoded file does not fit together."""
    yield from _long_texts(recorded)
    if isinstance(recorded, Trace):
        arrays, graphs = _of_trace(recorded), [recorded.graph]
    else:
        yield from _of_numbers(recorded)
        yield from _of_weights(recorded)
        arrays, graphs = _of_training(recorded), [step.graph for step in recorded.steps]
    for array in arrays:
        yield from _of_array(array)
    for graph in graphs:
        if graph is not None:
            yield from _of_values(graph)
            yield from _of_graph(graph)


def _long_texts(recorded: Trace | Training) -> Iterator[str]:
    waiting: list[Any] = [msgspec.to_builtins(recorded, builtin_types=(bytes,))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            yield f"a text of {len(value)} characters"
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, (list, tuple)):
            waiting += value


def _of_trace(trace: Trace) -> Iterator[Array]:
    for start in trace.start:
        yield start.value
    for result in trace.results:
        yield result.value
    for change in trace.state:
        yield change.before
        yield change.after


def _of_training(training: Training) -> Iterator[Array]:
    for start in training.start:
        yield start.value
    for step in training.steps:
        data = (
            (*batch.data, *batch.gradients, *batch.carried, *batch.read) for batch in step.batches
        )
        held = (step.weights, step.buffers, step.state, step.averages)
        for leaf in chain(*data, step.gradients, step.given, *held):
            yield leaf.value


def _of_numbers(training: Training) -> Iterator[str]:
    """What is wrong with the numbers of a training's steps, and with the lengths of its drifts."""
    if training.engine not in ENGINES:
        yield f"engine {training.engine[:40]!r}"
    numbers = [step.number for step in training.steps]
    if numbers != sorted(set(numbers)) or min(numbers, default=1) < 1:
        yield "steps that are not numbered upwards from 1"
    for step in training.steps:
        if step.scale is not None and not 0 < step.scale < math.inf:
            yield f"a loss scale of {step.scale}"
    for drift in training.jittered:
        parts = (drift.weights, drift.gradients, drift.buffers)
        rows = [drift.losses, *chain(*(part.values() for part in parts))]
        if any(len(row) != len(numbers) for row in rows):
            yield f"a drift that has not {len(numbers)} steps"


def _of_weights(training: Training) -> Iterator[str]:
    """What of the steps has another shape than the weight or buffer that it is of."""
    shapes = {start.name: start.value.shape for start in training.start}
    for step in training.steps:
        passes = chain(*(batch.gradients for batch in step.batches))
        held = (step.weights, step.averages, step.buffers)
        for leaf in chain(step.gradients, step.given, passes, *held):
            shape = leaf.value.shape
            if shapes.setdefault(leaf.name, shape) != shape:
                yield f"{leaf.name[:40]!r} of two shapes"


def _of_values(graph: GradGraph) -> Iterator[str]:
    for summary in _summaries(graph):
        if summary.whole is not None:
            yield from _of_array(summary.whole)


def _summaries(graph: GradGraph) -> Iterator[Summary]:
    for node in graph.nodes:
        for output in node.outputs:
            if output.values is not None:
                yield output.values


def _of_array(array: Array) -> Iterator[str]:
    """What is wrong with an array: its shape, its dtype, or the number of its bytes."""
    yield from _of_shape(array.shape)
    itemsize = _itemsize(array.dtype)
    if itemsize is None:
        yield f"dtype {array.dtype[:40]!r}"
        return
    if array.excerpt is None and len(array.data) != math.prod(array.shape) * itemsize:
        yield f"{len(array.data)} bytes for {math.prod(array.shape)} elements of {array.dtype}"
    if array.excerpt is not None:
        known = len(array.data) // itemsize
        fits = len(array.excerpt.places) <= known <= math.prod(array.shape)
        if len(array.data) % itemsize or not fits or array.excerpt.summary.whole is not None:
            yield f"an excerpt of {len(array.data)} bytes"


def _itemsize(dtype: str) -> int | None:
    """The bytes of an element; None of a dtype that is not one of numbers."""
    try:
        carried = carrier(dtype)
    except (TypeError, ValueError, SyntaxError):  # numpy parses the name (1.26)
        return None
    return carried.itemsize if carried.kind in "biufc" else None


def _of_shape(shape: tuple[int, ...]) -> Iterator[str]:
    if len(shape) > MOST_AXES or any(not 0 <= length < 1 << 48 for length in shape):
        yield f"a shape of {len(shape)} axes"


def _of_graph(graph: GradGraph) -> Iterator[str]:
    if graph.engine not in ENGINES:
        yield f"engine {graph.engine[:40]!r}"
    if len(graph.nodes) > MOST_NODES or len(graph.edges) > 10 * MOST_NODES:
        yield f"{len(graph.nodes)} nodes and {len(graph.edges)} edges"
    if len(graph.by_id()) < len(graph.nodes):
        yield "two nodes with one id"
    for place, node in enumerate(graph.nodes):
        yield from _of_node(node, place)
    if any(edge.output < 0 or edge.input < 0 for edge in graph.edges):
        yield "an edge of a slot below 0"
    yield from lint(graph)


def _of_node(node: Node, place: int) -> Iterator[str]:
    if node.id != f"n{place}" or node.order != place:
        yield f"node {place} has the id {node.id[:40]!r}"
    for output in node.outputs:
        yield from _of_shape(output.shape)
        if output.values is not None and not _is_sound(output.values, output.shape):
            yield f"{node.id} has figures that do not fit"


def _is_sound(summary: Summary, shape: tuple[int, ...]) -> bool:
    counts = (summary.zeros, summary.nonfinite, *summary.infinities)
    whole = summary.whole
    fits = whole is None or tuple(whole.shape) == tuple(shape)
    return fits and min(counts) >= 0 and len(summary.quantiles) <= QUANTILES
