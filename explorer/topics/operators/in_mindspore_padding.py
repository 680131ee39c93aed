"""Padding that people carry over to MindSpore: by hand before pooling, and a number of PyTorch's."""

from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.inputs import IMAGE, STRIDED_IMAGE, STRIDED_KERNEL


def padding_by_hand(ask: Ask) -> Found:
    """Max pooling of an image that is padded at the top and left: as printed, and as meant."""
    set_style(ask.options["style"], ask.device)
    ways = {"as printed": pooled_as_printed, "as meant": pooled_as_meant}
    return Found({name: attempt_briefly(_plane, way) for name, way in ways.items()})


def _plane(way: Any) -> Any:
    return numbers(way(ms.Tensor(IMAGE))[0, 0])


def pooled_as_printed(data: Any) -> Any:
    """The guide's lines, with its "vaild"."""
    pad = ops.Pad(((0, 0), (0, 0), (1, 0), (1, 0)))
    data = pad(data)
    return ops.MaxPool(kernel_size=2, strides=2, pad_mode="vaild")(data)


def pooled_as_meant(data: Any) -> Any:
    """The same with "valid"."""
    pad = ops.Pad(((0, 0), (0, 0), (1, 0), (1, 0)))
    data = pad(data)
    return ops.MaxPool(kernel_size=2, strides=2, pad_mode="valid")(data)


def strided_convolution(ask: Ask) -> Found:
    """A 3 x 3 convolution with stride 2 of a 4 x 4 image, by each way that padding=1 is carried over."""
    set_style("tape", ask.device)
    ways: dict[str, dict[str, Any]] = {
        "by default": {},
        "same": {"pad_mode": "same"},
        "padding=1": {"pad_mode": "pad", "padding": 1},
    }
    return Found({name: attempt_briefly(_convolved, options) for name, options in ways.items()})


def _convolved(options: dict[str, Any]) -> Any:
    layer = nn.Conv2d(1, 1, 3, 2, weight_init=ms.Tensor(STRIDED_KERNEL), **options)
    return numbers(layer(ms.Tensor(STRIDED_IMAGE)).flatten())
