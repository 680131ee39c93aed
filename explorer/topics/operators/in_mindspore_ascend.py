"""What MindSpore's operators take on the device of the process, by dtype and by stride."""

from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import set_style

STRIDES = (1, 2, 63, 64, 100)
"""Ascend's instructions have six bits for a stride, of which 63 is the greatest."""

DTYPES = {"float32": ms.float32, "float16": ms.float16}


def ascend_operators(ask: Ask) -> Found:
    """What Conv2d, Sort and TopK give of each dtype, and convolution and pooling of each stride."""
    set_style("tape", ask.device)
    dtypes: dict[str, Any] = {}
    for name, dtype in DTYPES.items():
        dtypes[f"Conv2d {name}"] = attempt_briefly(convolved, dtype)
        dtypes[f"Sort {name}"] = attempt_briefly(ordered, dtype)
        dtypes[f"TopK {name}"] = attempt_briefly(greatest, dtype)
    strides: dict[str, Any] = {}
    for stride in STRIDES:
        strides[f"Conv2d {stride}"] = attempt_briefly(width, nn.Conv2d(1, 1, 2, stride))
        strides[f"MaxPool2d {stride}"] = attempt_briefly(width, nn.MaxPool2d(2, stride))
    return Found({"target": ms.get_context("device_target"), "dtypes": dtypes, "strides": strides})


def convolved(dtype: Any) -> str:
    """The dtype of a convolution's output."""
    return str(nn.Conv2d(1, 1, 3, dtype=dtype)(ops.ones((1, 1, 4, 4), dtype)).dtype)


def ordered(dtype: Any) -> str:
    """The dtype of a sorted tensor."""
    return str(ops.Sort()(ms.Tensor([2.0, 1.0], dtype))[0].dtype)


def greatest(dtype: Any) -> str:
    """The dtype of the greatest element."""
    return str(ops.TopK()(ms.Tensor([2.0, 1.0], dtype), 1)[0].dtype)


def width(layer: Any) -> int:
    """The width of a layer's output of an image that is 128 wide."""
    return int(layer(ops.ones((1, 1, 128, 128), ms.float32)).shape[3])
