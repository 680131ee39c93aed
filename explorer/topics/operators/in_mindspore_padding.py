"""Pooling and convolution at the border in MindSpore: what "same", "valid" and padding by hand do,
and on which side.
"""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.data import IMAGE, SIZES


def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of 0..8 in a 3 x 3 image with windows of 2 and a stride of 2, by each way to pad."""
    set_style(ask.options["style"], ask.device)
    image = ms.Tensor(IMAGE)
    valid = nn.MaxPool2d(2, 2, pad_mode="valid")
    ways: dict[str, Any] = {
        "same": lambda: nn.MaxPool2d(2, 2, pad_mode="same")(image),
        "valid": lambda: valid(image),
        "zeros top and left, then valid": lambda: valid(ops.pad(image, (1, 0, 1, 0))),
        "zeros bottom and right, then valid": lambda: valid(ops.pad(image, (0, 1, 0, 1))),
        "padding=1": lambda: nn.MaxPool2d(2, 2, pad_mode="pad", padding=1)(image),
        "ceil_mode=True": lambda: nn.MaxPool2d(2, 2, pad_mode="pad", ceil_mode=True)(image),
        "default": lambda: nn.MaxPool2d(2, 2)(image),
    }
    return Found({name: attempt_briefly(_numbers, way) for name, way in ways.items()})


def _numbers(way: Any) -> Any:
    return numbers(way()[0, 0])


def convolution_sides(ask: Ask) -> Found:
    """The zeros that "same" puts before and after each axis, for many sizes, read off a kernel that
    copies one element.
    """
    set_style("tape", ask.device)
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": _sides(size, kernel, stride)
            for size, kernel, stride in SIZES
        }
    )


def _sides(size: int, kernel: int, stride: int, **padding: Any) -> list[int]:
    """Each output is the first element of its window: numbered from 1, the first that is not a zero
    tells how many were.
    """
    first = np.zeros((1, 1, 1, kernel), np.float32)
    first[..., 0] = 1
    layer = nn.Conv2d(
        1,
        1,
        (1, kernel),
        (1, stride),
        **(padding or {"pad_mode": "same"}),
        weight_init=ms.Tensor(first),
    )
    made = (
        layer(ms.Tensor(np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, 1, size)))
        .asnumpy()
        .ravel()
    )
    place = int(np.flatnonzero(made)[0])
    before = place * stride - (int(made[place]) - 1)
    return [before, max((made.size - 1) * stride + kernel - size, 0) - before]


def convolution_sides_of_a_number(ask: Ask) -> Found:
    """The zeros that are used before and after an axis with padding=1 and windows of 2: the one
    that is too many is left out.
    """
    set_style("tape", ask.device)
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": _sides(
                size, kernel, stride, pad_mode="pad", padding=(0, 0, 1, 1)
            )
            for size, kernel, stride in SIZES
            if (kernel, stride) == (2, 2)
        }
    )


def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many sizes."""
    set_style("tape", ask.device)
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": _valid(size, kernel, stride)
            for size, kernel, stride in SIZES
        }
    )


def _valid(size: int, kernel: int, stride: int) -> list[int]:
    line = ms.Tensor(np.ones((1, 1, 1, size), np.float32))
    layers = (
        nn.Conv2d(1, 1, (1, kernel), (1, stride), pad_mode="valid"),
        nn.MaxPool2d((1, kernel), (1, stride), pad_mode="valid"),
        nn.AvgPool2d((1, kernel), (1, stride), pad_mode="valid"),
    )
    return [layer(line).shape[-1] for layer in layers]


def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image when nothing is said of padding, and
    whether it has a bias.
    """
    set_style("tape", ask.device)
    layer = nn.Conv2d(1, 1, 3)
    return Found(
        {
            "shape": list(layer(ms.Tensor(np.ones((1, 1, 5, 5), np.float32))).shape[2:]),
            "has_bias": bool(layer.has_bias),
        }
    )
