"""Verdicts on devices: those of the recorded figures after a change, and of figures written down."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.devices.questions import (
    CONTEXT,
    HOST,
    MOVES,
    OUTPUTS,
)
from explorer.topics.measurements import measure
from explorer.topics.question import MINDSPORE_STYLES, Target
from explorer.workers.workers import Workers
from tests.support.rulings import Case, Written, following, ruling_in
from tests.support.topics import Change, World, put, recorded, unchanged


def a_result_that_asnumpy_refuses(world: World) -> None:
    world[HOST, "mindspore"]["result"] = {"raised": "RuntimeError", "message": "no"}


def a_gpu_that_needs_cpu(world: World) -> None:
    torch = world[HOST, "torch"]
    torch["elsewhere"]["cuda:0"] = {"raised": "TypeError", "message": "use Tensor.cpu()"}
    torch["elsewhere_by_cpu"] = {"cuda:0": [1.0, 1.0]}


def a_gpu_that_does_not(world: World) -> None:
    a_gpu_that_needs_cpu(world)
    world[HOST, "torch"]["elsewhere"]["cuda:0"] = [1.0, 1.0]


def a_device_that_nothing_leaves(world: World) -> None:
    a_gpu_that_needs_cpu(world)
    refusal = {"raised": "NotImplementedError", "message": "Cannot copy out of this device"}
    world[HOST, "torch"]["elsewhere_by_cpu"]["cuda:0"] = refusal


REFUSED = {"raised": "RuntimeError", "message": "Unsupported device target Ascend. This process"}


def context(name: str, value: object) -> Change:
    return put(CONTEXT, ["mindspore"], name, value=value)


def an_npu_and_no_warning(world: World) -> None:
    world[CONTEXT, "mindspore"] |= {
        "here": "Ascend",
        "kinds": ["CPU", "Ascend"],
        "as printed": "Ascend",
        "as meant": "Ascend",
        "warnings": [],
    }


def an_npu_that_is_not_chosen(world: World) -> None:
    an_npu_and_no_warning(world)
    world[CONTEXT, "mindspore"]["as meant"] = "CPU"


AS_IT_WAS = [[6.0, 6.0]]
READ_ONLY = {"raised": "ValueError", "message": "assignment destination is read-only"}


def on_an_npu(device: str) -> Change:
    """MindSpore runs on an NPU, and arrays are copies; its outputs say that they are on a device."""

    def change(world: World) -> None:
        for style in MINDSPORE_STYLES:
            world[OUTPUTS, style] |= {
                "target": "Ascend",
                "device": device,
                "array written": AS_IT_WAS,
            }

    return change


readable = put(HOST, ["torch"], "result_with_tape", value=[3.0])

RULINGS = [
    Case(38, a_result_that_asnumpy_refuses, "does_not_hold"),
    Case(38, a_gpu_that_needs_cpu, "holds", ".detach().cpu().numpy() in PyTorch."),
    Case(38, a_gpu_that_does_not, "does_not_hold", "right on every device"),
    Case(38, a_device_that_nothing_leaves, "does_not_hold"),
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
]


def test_a_tape_without_a_refusal_is_not_told_of() -> None:
    assert "on the tape" not in ruling_in(38, readable).evidence


CALLS = ("Tensor.to", "Tensor.move_to", "Cell.to")
NO = {"raised": "RuntimeError", "message": "can not be modified"}


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
]


def test_a_device_that_holds_nothing_is_no_second_device() -> None:
    nowhere = pytorch()
    nowhere["net_to"]["meta"] = ["cpu", "cpu"]
    ruling = ruling_in(37, moves(nowhere, ALONE))
    assert ruling.verdict == "not_checkable_here"
    assert "meta" not in ruling.evidence
    assert "devices here beside the CPU: none (MindSpore and PyTorch)" in ruling.evidence


def test_calls_that_refuse_a_name_are_not_advised() -> None:
    refusing = mindspore()
    refusing["moved"]["CPU"] = dict.fromkeys(CALLS, NO)
    assert "Tensor.to" not in ruling_in(37, moves(pytorch(), refusing)).advice


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
