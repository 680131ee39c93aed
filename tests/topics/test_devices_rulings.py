"""Every verdict on what moves between devices, by machines with a second device and without."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.devices.questions import MOVES, TOPIC
from tests.support.topics import Ruled, ruled

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


def moves(torch: Figures, process: Figures) -> Ruled:
    return ruled(TOPIC.claims[37], {(MOVES, "torch"): torch, (MOVES, "mindspore"): process})


ASCEND = mindspore("Ascend")
ALONE = mindspore()


@pytest.mark.row(37)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (moves(pytorch("cuda:0"), ASCEND), "holds", "leave out every"),
        (moves(pytorch(), ALONE), "not_checkable_here", "Tensor.to, Tensor.move_to, Cell.to take"),
        (moves(pytorch("cuda:0"), ALONE), "not_checkable_here", "try them where there is"),
        (moves(pytorch(), ASCEND), "not_checkable_here", "Choose the device once"),
        (
            moves(pytorch("cuda:0"), mindspore("Ascend", moving=("Tensor.move_to",))),
            "holds_with_changes",
            "Tensor.move_to can move too",
        ),
        (
            moves(pytorch("cuda:0"), mindspore("Ascend", moving=("Cell.to",))),
            "holds_with_changes",
            "Cell.to can move too",
        ),
        (
            moves(pytorch("cuda:0"), mindspore("Ascend", moving=("Tensor.to", "Cell.to"))),
            "outdated",
            "",
        ),
        (moves(pytorch("cuda:0"), mindspore(again=None)), "outdated", ""),
        (
            moves(pytorch("cuda:0", left_behind="cpu"), ASCEND),
            "does_not_hold",
            "",
        ),
    ],
)
def test_only_a_second_device_that_is_there_shows_what_moves(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_a_device_that_holds_nothing_is_no_second_device() -> None:
    nowhere = pytorch()
    nowhere["net_to"]["meta"] = ["cpu", "cpu"]
    ruling = moves(nowhere, ALONE)
    assert ruling.verdict == "not_checkable_here"
    assert "meta" not in ruling.evidence
    assert "devices here beside the CPU: none (MindSpore and PyTorch)" in ruling.evidence


def test_calls_that_refuse_a_name_are_not_advised() -> None:
    refusing = mindspore()
    refusing["moved"]["CPU"] = dict.fromkeys(CALLS, NO)
    assert "Tensor.to" not in moves(pytorch(), refusing).advice
