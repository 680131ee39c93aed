"""The report on a scenario as one strict JSON document."""

from typing import Any

from explorer.model.report import CaseReport, Difference, LeftOut, Report
from explorer.model.results import Estimate, Leaf, OracleResult, Result
from explorer.model.trees import Nested
from explorer.report.json import (
    Document,
    alignment_document,
    array_document,
    failure_document,
    finding_document,
    graph_document,
    to_builtins,
)
from explorer.text.language import ENGLISH, said_in
from explorer.text.numbers import plain
from explorer.words.answers import note, why_left_out
from explorer.words.cases import reason
from explorer.words.graphs import why_no_graph
from explorer.words.proofs import last_stages, proofs


@said_in(ENGLISH)
def report_document(report: Report) -> Document:
    """The report as plain data.

    ``values`` of a result nest like its ``structure``. A ``grad_position`` is null, an int, or a
    list of ints: ``0`` is the int, ``[0]`` the 1-tuple.
    """
    return {
        "schema": report.schema,
        "scenario": report.scenario,
        "title": report.title,
        "notes": report.notes,
        "versions": report.versions,
        "devices": report.devices,
        "inputs": {leaf.name: array_document(leaf.value) for leaf in report.inputs},
        "parameters": {leaf.name: array_document(leaf.value) for leaf in report.parameters},
        "findings": [finding_document(finding) for finding in report.findings],
        "cases": [_case(case) for case in report.cases],
        "left_out": [_left_out(left_out) for left_out in report.left_out],
        "graphs": [graph_document(graph) for graph in report.graphs],
        "ungraphed": {name: why_no_graph(why) for name, why in report.ungraphed.items()},
        "proofs": {
            graph.engine: to_builtins(proofs(graph)) for graph in last_stages(report.graphs)
        },
        "alignments": [alignment_document(alignment) for alignment in report.alignments],
    }


def _case(report: CaseReport) -> Document:
    case = report.case
    # JSON has no tuples: a list tells (0,) from 0.
    position: Any = case.grad_position
    if isinstance(position, tuple):
        position = list(position)
    return {
        "api": case.api,
        "grad_position": position,
        "weights": case.weights,
        "has_aux": case.has_aux,
        "order": case.order,
        "get_all": case.get_all,
        "get_by_list": case.get_by_list,
        "sens_param": case.sens_param,
        "label": case.label,
        "short": case.short,
        "results": {engine: _result(result) for engine, result in report.results.items()},
        "oracle": _oracle(report.oracle, report.oracle_agrees),
        "verdict": report.verdict,
        "expected": report.expected,
        "reason": reason(report),
        "greatest": _difference(report.greatest),
        "groups": [plain(to_builtins(group)) for group in report.groups],
        "drawn": list(report.drawn),
        "in_torch_table": report.in_torch_table,
        "in_mindspore_table": report.in_mindspore_table,
    }


def _left_out(left_out: LeftOut) -> Document:
    return {
        "cause": left_out.cause,
        "reason": why_left_out(left_out),
        "cases": [case.label for case in left_out.cases],
    }


def _result(result: Result) -> Document:
    # null, and not "": a bare tensor's structure is a name, and could be any.
    structure, values, natural = None, None, None
    if result.outcome == "ok":
        structure, natural = result.written, result.natural
        values = _values(result.nested)
    return {
        "outcome": result.outcome,
        "structure": structure,
        "values": values,
        "natural": natural,
        "ids": list(result.ids),
        "error": failure_document(result.error),
        "code": result.code,
        "note": note(result),
    }


# In quotes: Nested is recursive, and no more than a string at run time.
def _values(part: "Nested[Leaf]") -> Any:
    if part is None:
        return None
    if isinstance(part, Leaf):
        return array_document(part.value)
    if isinstance(part, dict):
        return {key: _values(item) for key, item in part.items()}
    return [_values(item) for item in part]


def _oracle(oracle: OracleResult, agrees: bool | None) -> Document:
    return {
        "outcome": oracle.outcome,
        "agrees": agrees,
        "estimates": [_estimate(estimate) for estimate in oracle.estimates],
        "stops": oracle.stops,
        "error": failure_document(oracle.error),
    }


def _estimate(estimate: Estimate) -> Document:
    return {
        "leaf": estimate.name,
        "together": list(estimate.together),
        "directions": estimate.directions,
        "values": array_document(estimate.value),
        "at_kinks": estimate.at_kinks,
        "not_finite": estimate.not_finite,
    }


def _difference(difference: Difference | None) -> Document | None:
    if difference is None:
        return None
    return dict(plain(to_builtins(difference)))
