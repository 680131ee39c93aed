"""The study of devices: which of its devices each framework can use here."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """By what each of PyTorch's backends says."""
    import torch

    return {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "xpu": torch.xpu.is_available(),
    }


def in_mindspore_tape() -> dict[str, Any]:
    """By MindSpore's context, which can be set to a target that is here alone."""
    from mindspore.hal import is_available

    return {target: bool(is_available(target)) for target in ("CPU", "Ascend", "GPU")}
