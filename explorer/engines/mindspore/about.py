"""What MindSpore says of itself: its version, and the devices that it can use here."""

import mindspore as ms
from mindspore import hal

from explorer.model.requests import Nothing
from explorer.model.results import About


def about(request: Nothing) -> About:
    """Version and usable devices: the CPU always, and every Ascend NPU where its runtime answers."""
    devices = ["cpu"]
    if hal.is_available("Ascend"):
        devices += [f"npu:{index}" for index in range(hal.device_count("Ascend"))]
    return About({"mindspore": ms.__version__}, tuple(devices))
