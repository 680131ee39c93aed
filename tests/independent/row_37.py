"""Row 37: what a tensor of either framework has for moving to a device."""

from typing import Any

from tests.independent.attempts import attempt


def in_torch() -> dict[str, Any]:
    """Which of the methods a tensor has."""
    import torch

    return {"tensor": [name for name in ("cpu", "cuda", "to") if hasattr(torch.Tensor, name)]}


def in_mindspore_tape() -> dict[str, Any]:
    """Which of the methods a tensor has."""
    import mindspore as ms

    figures: dict[str, Any] = {
        "tensor": [name for name in ("move_to", "to") if hasattr(ms.Tensor, name)]
    }
    for device in ("CPU", "Ascend", "GPU"):
        figures[device] = {
            "Tensor.to": attempt(_device_of, ms.Tensor([1.0]).to, device),
            "Tensor.move_to": attempt(_device_of, ms.Tensor([1.0]).move_to, device),
            "Cell.to": attempt(_device_of_cell, device),
        }
    figures["set again"] = attempt(ms.set_device, "CPU", 1)
    return figures


def _device_of(move: Any, device: str) -> str:
    return str(move(device).device).partition(":")[0]


def _device_of_cell(device: str) -> str:
    from mindspore import nn

    return str(nn.Dense(1, 1).to(device).weight.device).partition(":")[0]
