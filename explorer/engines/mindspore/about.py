"""What MindSpore says of itself: its version, and the devices that this wheel can really use here."""

import mindspore as ms
from mindspore import hal

from explorer.model.requests import Nothing
from explorer.model.results import About


def about(request: Nothing) -> About:
    """Version and usable devices: the CPU always, and an Ascend NPU where its runtime answers."""
    return About({"mindspore": ms.__version__}, ("cpu", *_npus()))


def _npus() -> tuple[str, ...]:
    if not hal.is_available("Ascend"):
        return ()
    return tuple(f"npu:{index}" for index in range(hal.device_count("Ascend")))
