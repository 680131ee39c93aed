"""The figures of the claims on devices, and of the studies of devices and of two ranks."""

import os
import re
import tempfile
from typing import Any

import numpy as np

from tests.independent.attempts import attempt


# Row 37: what a tensor of either framework has for moving to a device.
def row_37_in_torch(torch: Any) -> dict[str, Any]:
    """Which of the methods a tensor has."""
    return {"tensor": [name for name in ("cpu", "cuda", "to") if hasattr(torch.Tensor, name)]}


def row_37_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """Which of the methods a tensor has."""
    figures: dict[str, Any] = {
        "tensor": [name for name in ("move_to", "to") if hasattr(ms.Tensor, name)]
    }
    for device in ("CPU", "Ascend", "GPU"):
        figures[device] = {
            "Tensor.to": attempt(_device_of, ms.Tensor([1.0]).to, device),
            "Tensor.move_to": attempt(_device_of, ms.Tensor([1.0]).move_to, device),
            "Cell.to": attempt(_device_of, lambda name: ms.nn.Dense(1, 1).to(name).weight, device),
        }
    figures["set again"] = attempt(ms.set_device, "CPU", 1)
    return figures


def _device_of(move: Any, device: str) -> str:
    return str(move(device).device).partition(":")[0]


# Row 38: what reads a result on the host.
def row_38_in_torch(torch: Any) -> dict[str, Any]:
    """What numpy() says of a result on the tape."""
    result = torch.ones(2, requires_grad=True) * 1.5
    return dict(attempt(result.numpy, with_message=True))


def row_38_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """Whether asnumpy() reads a gradient at once."""

    def total(x: Any) -> Any:
        return x.sum()

    return {"gradient": ms.grad(total)(ms.Tensor([5.0, 6.0])).asnumpy().tolist()}


# Row 73: the device of a process after set_context, and what is said of it.
WARNING = re.compile(r"For 'context.set_context', .*")


def row_73_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The device after a call for the CPU, what it warns of, and what a call for Ascend raises."""

    def to_ascend() -> Any:
        ms.set_context(device_target="Ascend", device_id=0)
        return ms.get_context("device_target")

    refused = attempt(to_ascend)
    # What MindSpore logs goes to the process's standard error.
    with tempfile.TemporaryFile("w+") as log:
        shown = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            ms.set_context(device_target="CPU", device_id=0)
        finally:
            os.dup2(shown, 2)
            os.close(shown)
        log.seek(0)
        warnings = WARNING.findall(log.read())
    return {"CPU": ms.get_context("device_target"), "Ascend": refused, "warnings": warnings}


# Row 79: writing 7 into the first element of an output, which is [[6, 6]].
def row_79_closed_form() -> dict[str, Any]:
    """What is left where the writing reaches the output."""
    return {"written": [[7.0, 6.0]]}


def row_79_in_torch(torch: Any) -> dict[str, Any]:
    """Writing to the output itself, and what the way to its array raises."""
    weight = torch.ones(2, 3, requires_grad=True)
    output = torch.tensor([[1.0, 2.0, 3.0]]) @ weight.T

    def array() -> Any:
        return output.numpy().tolist()

    refused = attempt(array)
    output[0, 0] = 7.0
    another = torch.tensor([[1.0, 2.0, 3.0]]) @ weight.T
    another.detach().numpy()[0, 0] = 7.0
    return {
        "written": output.tolist(),
        "array": refused,
        "array of the detached": another.tolist(),
    }


def row_79_in_mindspore(ms: Any) -> dict[str, Any]:
    """Writing to the output itself, and to the array of another."""
    net, x = ms.nn.Dense(3, 2, "ones", "zeros"), ms.Tensor(np.array([[1, 2, 3]], np.float32))
    output, another = net(x), net(x)
    output[0, 0] = 7.0
    another.asnumpy()[0, 0] = 7.0
    return {"written": output.asnumpy().tolist(), "by its array": another.asnumpy().tolist()}


# Row 61: the guide's net on two ranks: the second has another input and another target.
RATE = 2.0**-10


def row_61_closed_form() -> dict[str, Any]:
    """Each rank's gradient, their mean and sum, and the weight after a step along the mean."""
    ranks = ([2.0, 4.0, 6.0], [84.0, 168.0, 252.0])
    total = np.sum(ranks, axis=0)
    mean = total / len(ranks)
    weight = np.array([2.0, 3.0, 4.0])
    return {
        "local": [[ranks[0]], [ranks[1]]],
        "mean on each": [[mean.tolist()]] * 2,
        "mean": [mean.tolist()],
        "sum": [total.tolist()],
        "after a step": [(weight - RATE * mean).tolist()],
    }


# The study of devices: which of its devices each framework can use here.
def study_devices_in_torch(torch: Any) -> dict[str, Any]:
    """By what each of PyTorch's backends says."""
    return {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "xpu": torch.xpu.is_available(),
    }


def study_devices_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """By MindSpore's context, which can be set to a target that is here alone."""
    from mindspore.hal import is_available

    return {target: bool(is_available(target)) for target in ("CPU", "Ascend", "GPU")}
