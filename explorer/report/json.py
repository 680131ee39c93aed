"""A report as one strict JSON document."""

from typing import Any

import msgspec

from explorer.model.alignment import Alignment
from explorer.model.arrays import SMALL, Array, Summary, unpack
from explorer.model.graph import GradGraph, Output
from explorer.model.report import CaseReport, Difference, Report
from explorer.model.results import Failure, Leaf, OracleResult, Result
from explorer.model.trees import Nested
from explorer.numeric.summaries import summarise
from explorer.report.wording import short
from explorer.text.numbers import plain


def document(report: Report) -> dict[str, Any]:
    """The report as plain dicts, lists, strings and finite numbers.

    ``values`` of a result nest like its ``structure``; a leaf is a list of numbers (a bare number
    when 0-d) up to 1024 elements, and a dict of statistics beyond. A ``grad_position`` is null, an
    int, or a list of ints. What is not finite is "NaN", "Infinity" or "-Infinity".
    """
    return {
        "schema": report.schema,
        "scenario": report.scenario,
        "title": report.title,
        "notes": report.notes,
        "versions": report.versions,
        "devices": report.devices,
        "inputs": {leaf.name: array(leaf.value) for leaf in report.inputs},
        "parameters": {leaf.name: array(leaf.value) for leaf in report.parameters},
        "cases": [_case(case) for case in report.cases],
        "graphs": [graph_document(graph) for graph in report.graphs],
        "ungraphed": report.ungraphed,
        "alignments": [alignment_document(alignment) for alignment in report.alignments],
    }


def encode(content: Report | dict[str, Any]) -> bytes:
    """A report, or a document made of one, as UTF-8 JSON: stable key order, indented by two, a
    newline at the end.
    """
    made = document(content) if isinstance(content, Report) else content
    return msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n"


def array(value: Array) -> Any:
    """All elements of a small array as nested lists; shape, dtype and statistics of a larger one."""
    elements = unpack(value)
    if elements.size <= SMALL:
        return plain(elements.tolist())
    return {
        "shape": list(value.shape),
        "dtype": value.dtype,
        **_statistics(summarise(elements, value.dtype)),
    }


def graph_document(graph: GradGraph) -> dict[str, Any]:
    """A gradient graph as plain data; a node's values are statistics, with all elements under
    "values" when small.
    """
    nodes = [
        {
            **_builtins(msgspec.structs.replace(node, outputs=())),
            "outputs": [_output(output) for output in node.outputs],
        }
        for node in graph.nodes
    ]
    return {
        "engine": graph.engine,
        "case": graph.case,
        "stage": graph.stage,
        "nodes": nodes,
        "edges": _builtins(graph.edges),
        "notes": list(graph.notes),
    }


def alignment_document(alignment: Alignment) -> dict[str, Any]:
    """An alignment as plain data."""
    return dict(plain(_builtins(alignment)))


def _case(report: CaseReport) -> dict[str, Any]:
    case = report.case
    return {
        "api": case.api,
        "grad_position": list(case.grad_position)
        if isinstance(case.grad_position, tuple)
        else case.grad_position,
        "weights": case.weights,
        "has_aux": case.has_aux,
        "order": case.order,
        "get_all": case.get_all,
        "get_by_list": case.get_by_list,
        "sens_param": case.sens_param,
        "label": case.label,
        "short": short(case),
        "results": {engine: _result(result) for engine, result in report.results.items()},
        "oracle": _oracle(report.oracle, report.oracle_agrees),
        "verdict": report.verdict,
        "expected": report.expected,
        "reason": report.reason,
        "greatest": _difference(report.greatest),
    }


def _result(result: Result) -> dict[str, Any]:
    fine = result.outcome == "ok"
    return {
        "outcome": result.outcome,
        "structure": result.written if fine else None,
        "values": _values(result.nested) if fine else None,
        "natural": result.natural if fine else None,
        "ids": list(result.ids),
        "error": _failure(result.error),
        "code": result.code,
        "note": result.note,
    }


def _values(nested: "Nested[Leaf]") -> Any:
    return array(nested.value) if isinstance(nested, Leaf) else [_values(item) for item in nested]


def _oracle(oracle: OracleResult, agrees: bool | None) -> dict[str, Any]:
    return {
        "outcome": oracle.outcome,
        "agrees": agrees,
        "estimates": [
            {"leaf": each.name, "directions": each.directions, "values": array(each.value)}
            for each in oracle.estimates
        ],
        "error": _failure(oracle.error),
    }


def _failure(error: Failure | None) -> dict[str, str] | None:
    return {"type": error.type, "message": error.message, "source": error.source} if error else None


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    return dict(plain(_builtins(difference))) if difference else None


def _output(output: Output) -> dict[str, Any]:
    values = output.values
    return {
        "shape": list(output.shape),
        "dtype": output.dtype,
        "statistics": _statistics(values) if values else None,
        "values": plain(unpack(values.whole).tolist()) if values and values.whole else None,
    }


def _statistics(summary: Summary) -> dict[str, Any]:
    figures: dict[str, Any] = plain(_builtins(msgspec.structs.replace(summary, whole=None)))
    del figures["whole"]
    return figures


def _builtins(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True)
