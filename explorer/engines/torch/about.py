"""The version of PyTorch, and the devices that it can use here."""

import torch

from explorer.model.requests import Nothing
from explorer.model.results import About


def about(request: Nothing) -> About:
    """The version of PyTorch and the devices that it can use.

    These are the CPU always, every CUDA device, and Apple's GPU where there is one.
    """
    devices = ["cpu"]
    if torch.cuda.is_available():
        devices += [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append("mps")
    return About({"torch": str(torch.__version__)}, tuple(devices))
