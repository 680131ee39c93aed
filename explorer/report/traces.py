"""A trace in lines: what was recorded of a step, and what was not."""

from collections.abc import Iterator, Sequence

from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph
from explorer.model.ranks import OverRanks
from explorer.model.trace import Trace
from explorer.report.json import Document, to_builtins
from explorer.text.language import _
from explorer.words.traces import missing_text


def trace_lines(trace: Trace, name: str) -> Iterator[str]:
    """What a trace holds, a line each; they hold foreign text, which whoever prints them cleans."""
    yield name
    versions = ", ".join(f"{package} {version}" for package, version in trace.versions.items())
    devices = ", ".join(trace.devices)
    rows = {
        _("versions"): versions,
        _("devices"): devices,
        _("settings"): ", ".join(f"{key}={value}" for key, value in trace.settings.items()),
    }
    for key, value in rows.items():
        if value:
            yield f"  {key}: {value}"
    if trace.graph is not None:
        yield f"  {_counted(trace.graph)}"
    yield f"  {_start(trace)}"
    for result in trace.results:
        if result.value.size == 1:
            yield f"  {result.name} = {unpack(result.value).item():.6g}"
    for missing in trace.missing:
        yield f"  {missing_text(missing)}"


def missing_lines(trace: Trace, name: str) -> Iterator[str]:
    """What was not recorded of a step, a line each, with the trace's name."""
    for missing in trace.missing:
        yield f"{name}: {missing_text(missing)}"


def ranks_document(compared: Sequence[OverRanks]) -> Document:
    """The tensors of a distributed step beside those of one process as plain data."""
    rows = [{**to_builtins(tensor), "is_right": tensor.is_right} for tensor in compared]
    return {"schema": 1, "tensors": rows}


def _counted(graph: GradGraph) -> str:
    forward, backward = (
        sum(node.kind in ("op", "accumulate") and node.phase == phase for node in graph.nodes)
        for phase in ("forward", "backward")
    )
    text = _("ops: {forward} forward, {backward} backward")
    return text.format(forward=forward, backward=backward)


def _start(trace: Trace) -> str:
    counts = dict.fromkeys(("input", "parameter", "buffer"), 0)
    for start in trace.start:
        counts[start.role] = counts.get(start.role, 0) + 1
    text = _("start: {inputs} inputs, {parameters} parameters, {buffers} buffers")
    return text.format(
        inputs=counts["input"], parameters=counts["parameter"], buffers=counts["buffer"]
    )
