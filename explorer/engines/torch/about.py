"""The version of PyTorch, and the devices that it can use here."""

import torch

from explorer.model.requests import Nothing
from explorer.model.results import About


def about(request: Nothing) -> About:
    """The version of PyTorch and the devices that it can use.

    These are the CPU always, every CUDA device, every Ascend NPU where torch_npu is installed
    (which PyTorch imports by itself), and Apple's GPU where there is one.
    """
    devices = ["cpu"]
    for kind in ("cuda", "npu"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_available():
            devices += [f"{kind}:{index}" for index in range(module.device_count())]
    if torch.backends.mps.is_available():
        devices.append("mps")
    return About({"torch": str(torch.__version__)}, tuple(devices))
