"""MindSpore's version, and the devices that it can use on this machine."""

import mindspore as ms
from mindspore import hal

from explorer.model.requests import Nothing
from explorer.model.results import About


def about(request: Nothing) -> About:
    """MindSpore's version and devices: the CPU, and every Ascend NPU whose runtime answers."""
    devices = ["cpu"]
    if hal.is_available("Ascend"):
        devices += [f"npu:{index}" for index in range(hal.device_count("Ascend"))]
    return About({"mindspore": ms.__version__}, tuple(devices))
