"""Strict JSON documents: how they are encoded, and the parts that several documents have."""

from typing import Any

import msgspec

from explorer.model.alignment import Alignment
from explorer.model.arrays import SMALL, Array, Summary, unpack
from explorer.model.divergence import Divergence
from explorer.model.findings import ReportFinding
from explorer.model.graph import GradGraph, Output
from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.model.unpaired import Unpaired
from explorer.numeric.summaries import summarise
from explorer.text.language import ENGLISH, said_in
from explorer.text.numbers import plain
from explorer.words.divergences import Engines, divergences
from explorer.words.failures import message
from explorer.words.findings import sentence
from explorer.words.graphs import note, why_missing
from explorer.words.readings import reading
from explorer.words.unpaired import detail

Document = dict[str, Any]
"""Plain dicts, lists, strings and finite numbers, under keys in a stable order."""


def encode(document: Document) -> bytes:
    """A document as UTF-8 JSON, indented by two, with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def array_document(array: Array) -> Any:
    """All elements of a small array as nested lists; shape, dtype and statistics of a larger one.

    An array is small up to SMALL elements; one without dimensions is a bare number. What is not
    finite is "NaN", "Infinity" or "-Infinity".
    """
    elements = unpack(array)
    if elements.size <= SMALL:
        return plain(elements.tolist())
    statistics = _statistics(summarise(elements, array.dtype))
    return {"shape": list(array.shape), "dtype": array.dtype, **statistics}


def failure_document(error: Failure | None) -> Document | None:
    """An error as plain data; None where there is none."""
    if error is None:
        return None
    return {"type": error.type, "message": message(error), "source": error.source}


@said_in(ENGLISH)
def graph_document(graph: GradGraph) -> Document:
    """A gradient graph as plain data.

    The values of a node's output are statistics, with all elements under "values" when small.
    """
    nodes = []
    for node in graph.nodes:
        # Without its outputs, whose raw bytes JSON has no place for; the key keeps its own.
        document = to_builtins(msgspec.structs.replace(node, outputs=()))
        if node.missing:
            absences = node.missing.items()
            document["missing"] = {what: why_missing(absence) for what, absence in absences}
        document["outputs"] = [_output(output) for output in node.outputs]
        nodes.append(document)
    return {
        "engine": graph.engine,
        "case": graph.case,
        "stage": graph.stage,
        "nodes": nodes,
        "edges": to_builtins(graph.edges),
        "notes": list(map(note, graph.notes)),
    }


@said_in(ENGLISH)
def finding_document(finding: ReportFinding) -> Document:
    """A finding as plain data, with its sentence in English."""
    return {
        "kind": finding.kind,
        "sentence": sentence(finding),
        "names": list(finding.names),
        "expected": finding.expected,
        "reason": finding.reason,
    }


@said_in(ENGLISH)
def alignment_document(alignment: Alignment) -> Document:
    """An alignment as plain data; "same" says whether nothing at all tells the graphs apart."""
    # Divergences and reasons have keys of their own; in this document they keep their places.
    rest = msgspec.structs.replace(alignment, divergence=None, further=(), unpaired=())
    document = plain(to_builtins(rest))
    engines = alignment.left, alignment.right
    stated = list(map(_divergence, alignment.divergences, divergences(alignment)))
    document["divergence"] = stated[0] if stated else None
    document["further"] = stated[1:]
    document["unpaired"] = [_unpaired(node, engines) for node in alignment.unpaired]
    return {**document, "same": alignment.is_same}


def _unpaired(unpaired: Unpaired, engines: Engines) -> Document:
    return {
        "side": unpaired.side,
        "node": unpaired.node,
        "reason": unpaired.reason,
        "detail": detail(unpaired, engines),
    }


def _divergence(divergence: Divergence, sentence: str) -> Document:
    left, right = divergence.ends
    gap = divergence.gap
    return {
        "left": left.node,
        "right": right.node,
        "phase": divergence.phase,
        "kind": type(divergence).__struct_config__.tag,
        "sentence": sentence,
        "left_source": left.source,
        "right_source": right.source,
        "left_value": reading(left.value),
        "right_value": reading(right.value),
        "greatest": gap.greatest,
        "noise": gap.noise,
        "ratio": gap.ratio,
    }


def measured_document(measured: Measured) -> Document:
    """A measurement as plain data, with its figures and the code that ran."""
    error = None
    if measured.error:
        error = {"type": measured.error.type, "message": message(measured.error)}
    return {
        "outcome": measured.outcome,
        "figures": measured.figures,
        "timings": measured.timings,
        "graphs": [graph_document(graph) for graph in measured.graphs],
        "error": error,
        "code": measured.code,
    }


def to_builtins(record: Any) -> Any:
    """A record as dicts and lists, under the names that its fields have in JSON."""
    return msgspec.to_builtins(record, str_keys=True)


def _output(output: Output) -> Document:
    values = output.values
    statistics, elements = None, None
    if values:
        statistics = _statistics(values)
        if values.whole:
            elements = plain(unpack(values.whole).tolist())
    return {
        "shape": list(output.shape),
        "dtype": output.dtype,
        "statistics": statistics,
        "values": elements,
        "noise": plain(output.noise),
    }


def _statistics(summary: Summary) -> Document:
    # "whole" holds raw bytes; the elements stand beside the figures, under "values".
    figures: Document = plain(to_builtins(msgspec.structs.replace(summary, whole=None)))
    del figures["whole"]
    return figures
