"""Row 37: what a tensor of either framework has for moving to a device."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """Which of the methods a tensor has."""
    import torch

    return {"tensor": [name for name in ("cpu", "cuda", "to") if hasattr(torch.Tensor, name)]}


def in_mindspore_tape() -> dict[str, Any]:
    """Which of the methods a tensor has."""
    import mindspore as ms

    return {"tensor": [name for name in ("move_to", "to") if hasattr(ms.Tensor, name)]}
