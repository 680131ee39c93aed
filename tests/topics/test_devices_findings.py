"""Findings on devices that are not here: two that differ, and tables without figures."""

import math
from typing import Any

import msgspec

from explorer.model.measurement import Measured
from explorer.topics.devices.findings import Cases, difference
from explorer.topics.devices.questions import HOST, MATRIX, TOPIC
from explorer.topics.evidence import Evidence
from explorer.topics.studies import Telling
from tests.support.tellings import telling_text
from tests.support.tellings import told as told_of_all


def cases(leaf: float, outcome: str = "ok") -> dict[str, Any]:
    """A matrix of one case with one leaf."""
    return {"grad(net)(x)": {"outcome": outcome, "leaves": {"dx": leaf}}}


def as_cases(figures: dict[str, Any]) -> Cases:
    """A matrix as findings read it."""
    return msgspec.convert(figures, Cases)


def test_figures_stand_one_by_one_under_the_names_that_lead_to_them() -> None:
    refused = {"raised": "RuntimeError", "message": "no such device"}
    figures = {"tensor_to": {"cpu": True, "cuda": refused}, "kinds": ["cpu", "npu"], "none": []}
    telling = told_of_all(TOPIC, {(HOST, "torch"): figures})
    rows = [row for table in telling.tables if "what" in table.columns for row in table.rows]
    message = "RuntimeError: no such device"
    assert [row[1:] for row in rows if row[0] == "torch"] == [
        ("tensor to: cpu", "yes"),
        ("tensor to: cuda", message),
        ("kinds", "cpu, npu"),
        ("none", "none"),
    ]


def test_another_outcome_or_another_leaf_is_an_infinite_difference() -> None:
    one, near = as_cases(cases(1.0)), as_cases(cases(1.5))
    missing = as_cases({"grad(net)(x)": {"outcome": "ok", "leaves": {}}})
    assert difference(one, near) == 0.5
    assert difference(one, as_cases(cases(1.0, "raised"))) == math.inf
    assert difference(one, missing) == math.inf


def told(**by_engine: dict[str, Any]) -> Telling:
    """What is told of the answers of engines, by device; an engine's hyphen is an underscore."""
    measured = {}
    for engine, devices in by_engine.items():
        name = MATRIX.measurement_name(engine.replace("_", "-"))
        measured[name] = Measured(outcome="ok", figures=devices)
    return telling_text(TOPIC, Evidence(measured))


def test_a_second_device_is_compared_with_the_cpu() -> None:
    telling = told(
        torch_tape={"cpu": cases(1.0), "cuda:0": cases(1.25)},
        torch_graph={"cpu": cases(1.0), "cuda:0": cases(1.0)},
        mindspore_tape={"cpu": cases(1.0)},
    )
    assert telling.findings[:2] == (
        "PyTorch, tape, on cuda:0 differs from the CPU by at most 0.25 in 1 way to ask.",
        "PyTorch, graph, on cuda:0 gives exactly the CPU's gradients in 1 way to ask.",
    )
    # The table compares nothing with itself.
    differences = {row[:2]: row[-1] for row in telling.tables[-1].rows}
    assert differences == {
        ("PyTorch, tape", "cpu"): None,
        ("PyTorch, tape", "cuda:0"): 0.25,
        ("PyTorch, graph", "cpu"): None,
        ("PyTorch, graph", "cuda:0"): 0.0,
        ("MindSpore, tape", "cpu"): None,
    }
    assert "nothing to compare" not in telling.tables[-1].note
    (chart,) = telling.charts
    bars = {series.name: series.y for series in chart.series}
    # MindSpore stands first, and was asked on its own device alone.
    assert bars == {"cpu": (1.0, 1.0, 1.0), "cuda:0": (None, 1.0, 1.0)}


def test_the_cpu_alone_is_compared_with_nothing() -> None:
    telling = told(torch_tape={"cpu": cases(1.0)}, mindspore_tape={"cpu": cases(2.0)})
    assert telling.findings[0] == (
        "No devices were compared: the CPU is the only device here, and there was nothing to"
        " compare it with."
    )
    assert {row[-1] for row in telling.tables[-1].rows} == {None}
    assert "there was nothing to compare it with" in telling.tables[-1].note


def test_a_device_that_gives_other_tensors_is_said_to() -> None:
    telling = told(torch_tape={"cpu": cases(1.0), "cuda:0": cases(1.0, "raised")})
    assert "answers 1 way to ask otherwise than the CPU" in telling.findings[0]


def test_a_device_without_a_cpu_beside_it_has_nothing_to_be_compared_with() -> None:
    telling = told(mindspore_tape={"npu": cases(1.0)})
    assert telling.tables[-1].rows == (("MindSpore, tape", "npu", 1, 1, None),)
    assert not any("compared" in finding for finding in telling.findings)


def test_what_engines_answer_is_counted_and_not_taken_for_granted() -> None:
    both = {**cases(1.0), "grad(net)(y)": {"outcome": "ok", "leaves": {"dy": 1.0}}}
    one = {**cases(1.0), "grad(net)(y)": {"outcome": "raised", "leaves": {}}}
    none = {label: {"outcome": "raised", "leaves": {}} for label in both}
    of_nobody = {"grad(net)(z)": {"outcome": "raised", "leaves": {}}}
    telling = told(
        mindspore_graph={"cpu": {**both, **of_nobody}},
        mindspore_tape={"cpu": {**both, **of_nobody}},
        torch_tape={"cpu": {**one, **of_nobody}},
    )
    assert telling.findings[1:3] == (
        "2 of 3 ways to ask for a gradient get one, all but grad(net)(z) (MindSpore graph,"
        " MindSpore tape).",
        "1 of 3 ways to ask for a gradient get one (PyTorch tape).",
    )
    (chart,) = telling.charts
    assert chart.note == "Of 3 cases, every engine answers 1, some engines 1, and none 1."
    refusing = told(
        mindspore_graph={"cpu": {**both, **of_nobody}}, torch_graph={"cpu": {**none, **of_nobody}}
    )
    assert refusing.charts[0].note == (
        "Of 3 cases, every engine answers 0, some engines 2, and none 1."
    )
