"""Devices: findings on two that differ, and verdicts after a change and of figures written down."""

import math
from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Figures
from explorer.topics.devices.findings import Cases, difference
from explorer.topics.devices.questions import CONTEXT, HOST, MATRIX, MOVES, OUTPUTS, TOPIC
from explorer.topics.measurements import measure
from explorer.topics.question import MINDSPORE_STYLES, Target
from explorer.topics.studies import Telling
from explorer.workers.workers import Workers
from tests.support.rulings import Case, Written, following
from tests.support.tellings import told
from tests.support.topics import Change, edited, put, recorded, together, unchanged


def cases(leaf: float, outcome: str = "ok") -> dict[str, Any]:
    """A matrix of one case with one leaf."""
    return {"grad(net)(x)": {"outcome": outcome, "leaves": {"dx": leaf}}}


def test_figures_stand_one_by_one_under_the_names_that_lead_to_them() -> None:
    refused = {"raised": "RuntimeError", "message": "no such device"}
    figures = {"tensor_to": {"cpu": True, "cuda": refused}, "kinds": ["cpu", "npu"], "none": []}
    telling = told(TOPIC, {(HOST, "torch"): figures})
    rows = [row for table in telling.tables if "what" in table.columns for row in table.rows]
    message = "RuntimeError: no such device"
    assert [row[1:] for row in rows if row[0] == "torch"] == [
        ("tensor to: cpu", "yes"),
        ("tensor to: cuda", message),
        ("kinds", "cpu, npu"),
        ("none", "none"),
    ]


def test_another_outcome_or_another_leaf_is_an_infinite_difference() -> None:
    missing = {"grad(net)(x)": {"outcome": "ok", "leaves": {}}}
    figures = (cases(1.0), cases(1.5), cases(1.0, "raised"), missing)
    one, *others = (msgspec.convert(each, Cases) for each in figures)
    assert [difference(one, other) for other in others] == [0.5, math.inf, math.inf]


def told_of(**by_engine: dict[str, Any]) -> Telling:
    """What is told of the answers of engines, by device; an engine's hyphen is an underscore."""
    return told(
        TOPIC,
        {(MATRIX, engine.replace("_", "-")): devices for engine, devices in by_engine.items()},
    )


def test_a_second_device_is_compared_with_the_cpu() -> None:
    telling = told_of(
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
    telling = told_of(torch_tape={"cpu": cases(1.0)}, mindspore_tape={"cpu": cases(2.0)})
    assert telling.findings[0] == (
        "No devices were compared: the CPU is the only device here, and there was nothing to"
        " compare it with."
    )
    assert {row[-1] for row in telling.tables[-1].rows} == {None}
    assert "there was nothing to compare it with" in telling.tables[-1].note


def test_a_device_that_gives_other_tensors_is_said_to() -> None:
    telling = told_of(torch_tape={"cpu": cases(1.0), "cuda:0": cases(1.0, "raised")})
    assert "answers 1 way to ask otherwise than the CPU" in telling.findings[0]


def test_a_device_without_a_cpu_beside_it_has_nothing_to_be_compared_with() -> None:
    telling = told_of(mindspore_tape={"npu": cases(1.0)})
    assert telling.tables[-1].rows == (("MindSpore, tape", "npu", 1, 1, None),)
    assert not any("compared" in finding for finding in telling.findings)


def test_what_engines_answer_is_counted_and_not_taken_for_granted() -> None:
    both = {**cases(1.0), "grad(net)(y)": {"outcome": "ok", "leaves": {"dy": 1.0}}}
    one = {**cases(1.0), "grad(net)(y)": {"outcome": "raised", "leaves": {}}}
    none = {label: {"outcome": "raised", "leaves": {}} for label in both}
    of_nobody = {"grad(net)(z)": {"outcome": "raised", "leaves": {}}}
    telling = told_of(
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
    refusing = told_of(
        mindspore_graph={"cpu": {**both, **of_nobody}}, torch_graph={"cpu": {**none, **of_nobody}}
    )
    assert refusing.charts[0].note == (
        "Of 3 cases, every engine answers 0, some engines 2, and none 1."
    )


def a_gpu(directly: Any, by_cpu: Any) -> Change:
    """A result of PyTorch on a GPU gives this array, and that one by its cpu()."""
    return together(
        put(HOST, ["torch"], "elsewhere", "cuda:0", value=directly),
        put(HOST, ["torch"], "elsewhere_by_cpu", value={"cuda:0": by_cpu}),
    )


ONES = [1.0, 1.0]
NEEDS_CPU = {"raised": "TypeError", "message": "use Tensor.cpu()"}
NO_COPY = {"raised": "NotImplementedError", "message": "Cannot copy out of this device"}
REFUSED = {"raised": "RuntimeError", "message": "Unsupported device target Ascend. This process"}


def context(name: str, value: object) -> Change:
    return put(CONTEXT, ["mindspore"], name, value=value)


AN_NPU = dict.fromkeys(("here", "as printed", "as meant"), "Ascend")
KINDS = {"kinds": ["CPU", "Ascend"], "warnings": []}
an_npu_and_no_warning = edited(CONTEXT, ["mindspore"], lambda it: it.update(AN_NPU, **KINDS))
an_npu_that_is_not_chosen = together(an_npu_and_no_warning, context("as meant", "CPU"))

NO = {"raised": "RuntimeError", "message": "can not be modified"}
AS_IT_WAS = [[6.0, 6.0]]
READ_ONLY = {"raised": "ValueError", "message": "assignment destination is read-only"}


def on_an_npu(device: str) -> Change:
    """MindSpore runs on an NPU, and arrays are copies; its outputs say that they are on a device."""
    figures = {"target": "Ascend", "device": device, "array written": AS_IT_WAS}
    return edited(OUTPUTS, MINDSPORE_STYLES, lambda it: it.update(figures))


readable = put(HOST, ["torch"], "result_with_tape", value=[3.0])

RULINGS = [
    Case(38, put(HOST, ["mindspore"], "result", value=NO), "does_not_hold"),
    Case(38, a_gpu(NEEDS_CPU, ONES), "holds", ".detach().cpu().numpy() in PyTorch."),
    Case(38, a_gpu(ONES, ONES), "does_not_hold", "right on every device"),
    Case(38, a_gpu(NEEDS_CPU, NO_COPY), "does_not_hold"),
    Case(73, unchanged, "holds_with_changes", "Write set_device(target, number)"),
    Case(73, context("warnings", ["of something else"]), "not_checkable_here", "nothing to choose"),
    Case(73, context("as meant", REFUSED), "outdated"),
    Case(73, an_npu_and_no_warning, "holds"),
    Case(73, an_npu_that_is_not_chosen, "does_not_hold"),
    Case(
        79, unchanged, "not_checkable_here", "memory in graph and tape: copy it to keep the output."
    ),
    Case(
        79,
        put(OUTPUTS, ["mindspore-graph"], "array written", value=AS_IT_WAS),
        "not_checkable_here",
        "memory in tape: copy",
    ),
    Case(79, on_an_npu("CPU"), "holds", "Read and write outputs at once."),
    Case(79, on_an_npu("Ascend:0"), "outdated", "expect them on the device"),
    Case(
        79,
        put(OUTPUTS, ["mindspore-graph"], "array written", value=READ_ONLY),
        "depends_on_style",
        "asnumpy().copy()",
    ),
    Case(
        79,
        put(OUTPUTS, MINDSPORE_STYLES, "element written", value=READ_ONLY),
        "does_not_hold",
        "asnumpy().copy()",
    ),
    # A refusal on the tape is told where there is one.
    Case(38, unchanged, "not_checkable_here", "", "numpy() of a result on the tape: RuntimeError"),
    Case(38, readable, "not_checkable_here", unseen="on the tape"),
]

CALLS = ("Tensor.to", "Tensor.move_to", "Cell.to")


def pytorch(*devices: str, left_behind: str = "") -> Figures:
    """What `.to` did with the devices beside the CPU: "meta" is everywhere, and holds nothing."""
    places = {device: device for device in (*devices, "meta")}
    net_to = {device: [device, left_behind or device] for device in places}
    return {"usable": list(devices), "tensor_to": places, "net_to": net_to}


def mindspore(*available: str, moving: tuple[str, ...] = (), again: Any = NO) -> Figures:
    """A process on the CPU, beside which there are other kinds, and calls that take things there."""
    moved: dict[str, dict[str, Any]] = {"CPU": dict.fromkeys(CALLS, "CPU")}
    for kind in ("Ascend", "GPU"):
        is_there = kind in available
        moved[kind] = {call: kind if is_there and call in moving else NO for call in CALLS}
    return {
        "target": "CPU",
        "available": list(available),
        "moved": moved,
        "set_device_again": again,
    }


def moves(torch: Figures, process: Figures) -> Written:
    return {(MOVES, "torch"): torch, (MOVES, "mindspore"): process}


ASCEND = mindspore("Ascend")
ALONE = mindspore()
REFUSING = {**ALONE, "moved": {**ALONE["moved"], "CPU": dict.fromkeys(CALLS, NO)}}
NOWHERE = {**pytorch(), "net_to": {"meta": ["cpu", "cpu"]}}
NO_DEVICE = "devices here besides the CPU: none (MindSpore and PyTorch)"


# Only a second device that is there shows what moves.
RULINGS += [
    Case(37, moves(pytorch("cuda:0"), ASCEND), "holds", "leave out every"),
    Case(
        37, moves(pytorch(), ALONE), "not_checkable_here", "Tensor.to, Tensor.move_to, Cell.to take"
    ),
    Case(37, moves(pytorch("cuda:0"), ALONE), "not_checkable_here", "try them where there is"),
    Case(37, moves(pytorch(), ASCEND), "not_checkable_here", "Choose the device once"),
    Case(
        37,
        moves(pytorch("cuda:0"), mindspore("Ascend", moving=("Tensor.move_to",))),
        "holds_with_changes",
        "Tensor.move_to can move too",
    ),
    Case(
        37,
        moves(pytorch("cuda:0"), mindspore("Ascend", moving=("Cell.to",))),
        "holds_with_changes",
        "Cell.to can move too",
    ),
    Case(
        37,
        moves(pytorch("cuda:0"), mindspore("Ascend", moving=("Tensor.to", "Cell.to"))),
        "outdated",
    ),
    Case(37, moves(pytorch("cuda:0"), mindspore(again=None)), "outdated"),
    Case(37, moves(pytorch("cuda:0", left_behind="cpu"), ASCEND), "does_not_hold"),
    # A device that holds nothing is no second one, and calls that refuse a name are not advised.
    Case(37, moves(NOWHERE, ALONE), "not_checkable_here", "", NO_DEVICE, unseen="meta"),
    Case(37, moves(pytorch(), REFUSING), "not_checkable_here", unsaid="Tensor.to"),
]


test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)


@pytest.mark.whole
@pytest.mark.mindspore
def test_choosing_the_device_that_is_here_leaves_the_worker_usable() -> None:
    outputs = OUTPUTS.by(*MINDSPORE_STYLES).measurements(Target())
    # Not what this session has measured already: the outputs of a worker that was asked before.
    with Workers() as one_worker:
        measure(CONTEXT.measurements(Target()), one_worker)
        after = measure(outputs, one_worker)
    for measurement in outputs:
        assert after[measurement.name].figures == recorded(outputs)[measurement.name].figures
