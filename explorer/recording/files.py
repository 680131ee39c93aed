"""Files of traces: one line that says what it is, then MessagePack; written whole, read with limits.

A file may come from anywhere: nothing in it is run, and what does not fit is refused in one line.
"""

import hashlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from explorer.engines.capture.lint import lint
from explorer.model.arrays import Array, Summary, carrier
from explorer.model.engines import ENGINES
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph, Node
from explorer.model.trace import SCHEMA, Trace
from explorer.numeric.summaries import QUANTILES
from explorer.text.language import _
from explorer.text.reasons import reason
from explorer.whole_files import put_whole

MAGIC = b"explorer-trace"
"""What a trace begins with."""

ENDING = ".trace"
"""How the names of traces end."""

MOST_BYTES = 1 << 30
"""A larger file is not read."""

MOST_NODES = 200_000
"""A trace with more nodes, or ten times as many edges, is refused."""

LONGEST_TEXT = 10_000
"""A name, path or message of more characters is refused."""

MOST_AXES = 64
"""A tensor of more axes is refused: numpy has no more either."""


class TraceError(UsageError):
    """A file that is not a trace, or one that is broken, too large, or of a later version."""


# Writing


def write_trace(path: Path, trace: Trace) -> None:
    """Write a trace to ``path``, which never holds half of it; OSError."""
    put_whole(path, encoded(trace))


def encoded(trace: Trace) -> bytes:
    """The content of a trace's file."""
    body = msgspec.msgpack.encode(trace)
    return b" ".join((MAGIC, b"%d" % SCHEMA, _digest(body))) + b"\n" + body


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


# Reading


def is_trace(path: Path) -> bool:
    """Whether a file begins as a trace does, or is at least called one."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC or path.suffix == ENDING
    except OSError:
        return path.suffix == ENDING


def read_trace(path: Path) -> Trace:
    """The trace in a file; TraceError says what is wrong with it."""
    name = repr(str(path))
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            text = _("{file} has {size} MB; traces of up to {most} MB are read")
            raise TraceError(text, file=name, size=size >> 20, most=MOST_BYTES >> 20)
        content = path.read_bytes()
    except OSError as error:
        raise TraceError(
            _("{file} cannot be read: {reason}"), file=name, reason=reason(error)
        ) from error
    try:
        return decoded(content)
    except TraceError as error:
        raise TraceError(_("{file}: {reason}"), file=name, reason=error) from None


def decoded(content: bytes) -> Trace:
    """The trace with that content; TraceError says what is wrong with it."""
    head, newline, body = content.partition(b"\n")
    parts = head.split(b" ")
    if parts[0] != MAGIC or len(parts) != 3 or not newline:
        raise TraceError(_("it is not a trace; explorer.record() writes traces"))
    if parts[1] != b"%d" % SCHEMA:
        version = parts[1][:20].decode("ascii", "replace")
        text = _(
            "it is a trace of version {version}, and this explorer reads version {known};"
            " install the explorer that it was recorded with"
        )
        raise TraceError(text, version=version, known=SCHEMA)
    if parts[2] != _digest(body):
        raise TraceError(_("it is not what was written: its digest differs; copy it again"))
    try:
        trace = msgspec.msgpack.decode(body, type=Trace)
    # The last is that of a text with a lone surrogate, and of what is nested too deeply.
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _broken(str(error)) from None
    fault = next(faults(trace), None)
    if fault is not None:
        raise _broken(fault)
    return trace


def _broken(what: str) -> TraceError:
    text = _("it is a broken trace: {what}; record it again")
    return TraceError(text, what=" ".join(what.split())[:200])


# Checks of what was decoded


def faults(trace: Trace) -> Iterator[str]:
    """What of a decoded trace does not fit together."""
    if trace.schema != SCHEMA:
        yield f"schema {trace.schema}"
    yield from _long_texts(trace)
    for array in _arrays(trace):
        yield from _of_array(array)
    if trace.graph is not None:
        yield from _of_graph(trace.graph)


def _long_texts(trace: Trace) -> Iterator[str]:
    waiting: list[Any] = [msgspec.to_builtins(trace, builtin_types=(bytes,))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            yield f"a text of {len(value)} characters"
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, (list, tuple)):
            waiting += value


def _arrays(trace: Trace) -> Iterator[Array]:
    for start in trace.start:
        yield start.value
    for result in trace.results:
        yield result.value
    for change in trace.state:
        yield change.before
        yield change.after
    for summary in _summaries(trace.graph):
        if summary.whole is not None:
            yield summary.whole


def _summaries(graph: GradGraph | None) -> Iterator[Summary]:
    for node in graph.nodes if graph else ():
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
        if len(array.data) % itemsize or not fits:
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
