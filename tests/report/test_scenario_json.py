"""The JSON document of a report: keys, nesting, sizes, and numbers that JSON does not have."""

import json
import math
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.compare.results.verdicts import judge
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.graph import Absence
from explorer.model.report import LeftOut, Report
from explorer.model.results import Estimate, Leaf, OracleResult, Result
from explorer.report.json import encode
from explorer.report.schemas import graph_document, report_document
from explorer.text.language import said_in
from explorer.words.graphs import ABSENCES, NOTES, why_missing
from tests.support.results import answer
from tests.support.sample_report import report, with_result

REPORT_KEYS = {
    "schema",
    "scenario",
    "title",
    "versions",
    "devices",
    "cases",
    "graphs",
    "alignments",
}
CASE_KEYS = {
    "api",
    "grad_position",
    "weights",
    "has_aux",
    "order",
    "label",
    "results",
    "verdict",
    "expected",
    "greatest",
    "groups",
}
RESULT_KEYS = {"outcome", "structure", "values", "error", "code"}
DIFFERENCE_KEYS = {"abs", "rel", "engines", "leaf", "index"}


def parsed(whole: Report) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    text = encode(report_document(whole))
    document: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return document


def values_of(leaf: Leaf) -> Any:
    """What the document has for the leaf of a report with that leaf alone."""
    result = Result(outcome="ok", structure=leaf.name, leaves=(leaf,))
    (case,) = parsed(with_result(report(), result))["cases"]
    return case["results"]["torch-tape"]["values"]


def test_cases_that_were_left_out_are_listed_by_label_with_the_reason() -> None:
    case = report().cases[0].case
    left_out = LeftOut("interrupted", (case,))
    (entry,) = parsed(msgspec.structs.replace(report(), left_out=(left_out,)))["left_out"]
    assert entry == {
        "cause": "interrupted",
        "reason": "the run was interrupted",
        "cases": [case.label],
    }


def test_it_has_the_keys_that_outside_programs_rely_on() -> None:
    document = parsed(report())
    assert set(document) >= REPORT_KEYS
    assert document["schema"] == 1
    for case in document["cases"]:
        assert set(case) >= CASE_KEYS
        for result in case["results"].values():
            assert set(result) >= RESULT_KEYS
        if case["verdict"] == "differs":
            assert set(case["greatest"]) >= DIFFERENCE_KEYS
    assert "differs" in {case["verdict"] for case in document["cases"]}


def with_groups() -> Report:
    """A report on one case with two answers that begin alike, one of them not a number at its end."""
    ramp = np.arange(8.0)
    undefined = np.where(ramp == 7, np.nan, ramp)
    results = {
        "mindspore-tape": answer(ramp, structure="dx"),
        "torch-tape": answer(undefined, structure="dx"),
        "torch-graph": answer(ramp, structure="dx"),
    }
    beside = OracleResult("ok", (Estimate("dx", pack(ramp + 1)),), framework="jax")
    oracle = OracleResult("ok", (Estimate("dx", pack(ramp)),), beside=(beside,))
    case = judge(GradCase("grad", 0), results, oracle)
    return msgspec.structs.replace(report(), cases=(case,))


def test_groups_say_who_gives_one_answer_and_where_two_differ_that_begin_alike() -> None:
    (case,) = parsed(with_groups())["cases"]
    one, other = case["groups"]
    assert one["engines"] == ["mindspore-tape", "torch-graph"]
    assert other["engines"] == ["torch-tape"]
    assert (one["oracle_agrees"], other["oracle_agrees"]) == (True, False)
    (mark,) = one["marks"]
    assert set(mark) >= DIFFERENCE_KEYS
    assert (mark["leaf"], mark["index"], mark["abs"]) == ("dx", [7], "Infinity")
    (beside_oracle,) = other["marks"]
    assert beside_oracle["engines"] == ["torch-tape", "central-differences"]


def test_the_oracle_says_whose_net_it_judged_and_what_the_others_gave() -> None:
    (case,) = parsed(with_groups())["cases"]
    oracle = case["oracle"]
    (beside,) = oracle["beside"]
    assert (oracle["framework"], beside["framework"]) == ("torch", "jax")
    assert (beside["outcome"], beside["stops"], beside["error"]) == ("ok", False, None)
    first, second = oracle["estimates"][0]["values"], beside["estimates"][0]["values"]
    assert (first[:3], second[:3]) == ([0, 1, 2], [1, 2, 3])


def test_an_int_position_is_told_from_a_one_tuple() -> None:
    positions = {case["label"]: case["grad_position"] for case in parsed(report())["cases"]}
    assert positions[GradCase("grad", 0).label] == 0
    assert positions[GradCase("grad", (0,)).label] == [0]
    assert positions[GradCase("grad", None, "one").label] is None


def test_values_nest_like_the_structure() -> None:
    by_label = {case["label"]: case for case in parsed(report(foreseen=False))["cases"]}
    case = by_label[GradCase("grad", (0, 1), "all", True).label]
    result = case["results"]["torch-tape"]
    assert result["structure"] == "(((dx, dy), (dfc.weight,)), (logits,))"
    assert result["values"][0][0] == [[[4.0, 6.0, 8.0]], -2.0]
    assert result["values"][0][1][0][0] == pytest.approx([2, 4, 6])
    assert result["values"][1] == [20.0]
    # Where an engine raised, the error is there and no value.
    raised = parsed(report())["cases"][0]["results"]["mindspore-graph"]
    assert (raised["outcome"], raised["structure"], raised["values"]) == ("raised", None, None)
    assert raised["error"]["type"] == "ValueError"


def test_up_to_1024_elements_are_listed_as_json_has_them_and_more_are_summarised() -> None:
    odd = np.array([math.nan, math.inf, -math.inf, 1.5])
    assert values_of(Leaf("dx", pack(odd))) == ["NaN", "Infinity", "-Infinity", 1.5]
    assert values_of(Leaf("dx", pack(np.ones(1024, np.float32)))) == [1.0] * 1024
    values = values_of(Leaf("dx", pack(np.ones(1025, np.float32))))
    assert (values["shape"], values["mean"], values["dtype"]) == ([1025], 1.0, "float32")


def test_the_same_report_gives_the_same_bytes() -> None:
    first, second = (encode(report_document(report())) for _ in range(2))
    assert first == second
    assert first.startswith(b'{\n  "schema": 1')


def test_it_holds_the_graphs_with_values_and_links() -> None:
    graph = parsed(report())["graphs"][0]
    assert [node["id"] for node in graph["nodes"]] == ["n0", "n1", "n2", "n3"]
    assert graph["nodes"][2]["forward"] == "n1"
    assert graph["nodes"][0]["outputs"][0]["values"] == [[4.0, 6.0, 8.0]]
    assert graph["edges"][1] == {"from": "n0", "to": "n2", "out": 0, "in": 0, "kind": "saved"}


def test_what_is_missing_is_said_in_english_whoever_reads() -> None:
    graph = report().graphs[0]
    first = msgspec.structs.replace(graph.nodes[0], missing={"source": Absence("merged")})
    lacking = msgspec.structs.replace(
        graph, nodes=(first, *graph.nodes[1:]), notes=("whole_forward",)
    )
    with said_in("zh"):
        assert why_missing(Absence("merged")) != ABSENCES["merged"]
        document = graph_document(lacking)
    assert document["nodes"][0]["missing"] == {"source": ABSENCES["merged"]}
    assert document["notes"] == [NOTES["whole_forward"]]
