"""Transposing in MindSpore, and pooling and convolution at the border by each way to pad."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import mint, nn, ops

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.inputs import AXES, IMAGE, PAIRS, WINDOWS, Window
from explorer.topics.operators.readings import zeros_around

TRANSPOSES: dict[str, Callable[[Any], Any]] = {
    "ops.transpose(x, (3, 2, 1, 0))": lambda x: ops.transpose(x, (3, 2, 1, 0)),
    "x.permute(3, 2, 1, 0)": lambda x: x.permute(3, 2, 1, 0),
    "ops.transpose(x, 0, 3)": lambda x: ops.transpose(x, 0, 3),
    "x.transpose(0, 3)": lambda x: x.transpose(0, 3),
    "ops.swapaxes(x, 0, 3)": lambda x: ops.swapaxes(x, 0, 3),
    "mint.transpose(x, 0, 3)": lambda x: mint.transpose(x, 0, 3),
}


def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    set_style("tape", ask.device)
    return Found({name: attempt_briefly(_transposed, call) for name, call in TRANSPOSES.items()})


def _transposed(call: Callable[[Any], Any]) -> Figures:
    transposed = call(ms.Tensor(AXES)).asnumpy()
    return {"shape": transposed.shape, "elements": transposed.ravel().tolist()}


def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of 0..8 in a 3 x 3 image, windows of 2 and stride 2, by each way to pad."""
    set_style(ask.options["style"], ask.device)
    image = ms.Tensor(IMAGE)
    valid = nn.MaxPool2d(2, 2, pad_mode="valid")
    ways: dict[str, Callable[[], Any]] = {
        "same": lambda: nn.MaxPool2d(2, 2, pad_mode="same")(image),
        "valid": lambda: valid(image),
        "zeros top and left, then valid": lambda: valid(ops.pad(image, (1, 0, 1, 0))),
        "zeros bottom and right, then valid": lambda: valid(ops.pad(image, (0, 1, 0, 1))),
        "padding=1": lambda: nn.MaxPool2d(2, 2, pad_mode="pad", padding=1)(image),
        "ceil_mode=True": lambda: nn.MaxPool2d(2, 2, pad_mode="pad", ceil_mode=True)(image),
        "default": lambda: nn.MaxPool2d(2, 2)(image),
    }
    return Found({name: attempt_briefly(_pooled, way) for name, way in ways.items()})


def _pooled(way: Callable[[], Any]) -> Any:
    return numbers(way()[0, 0])


def convolution_sides(ask: Ask) -> Found:
    """The zeros that "same" puts before and after an axis, for many windows."""
    set_style("tape", ask.device)
    same = {"pad_mode": "same"}
    return Found({name: _sides(window, same) for name, window in WINDOWS.items()})


def convolution_sides_of_a_number(ask: Ask) -> Found:
    """The zeros that are used before and after an axis with padding=1 and windows of 2.

    A zero that is one too many is left out.
    """
    set_style("tape", ask.device)
    one = {"pad_mode": "pad", "padding": (0, 0, 1, 1)}  # top, bottom, left, right
    return Found({name: _sides(window, one) for name, window in PAIRS.items()})


def _sides(window: Window, padding: dict[str, Any]) -> list[int]:
    """Read off a kernel that copies the first element of its window."""
    size, kernel, stride = window
    first = np.zeros((1, 1, 1, kernel), np.float32)
    first[..., 0] = 1
    line = np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, 1, size)
    layer = nn.Conv2d(1, 1, (1, kernel), (1, stride), **padding, weight_init=ms.Tensor(first))
    return zeros_around(layer(ms.Tensor(line)).asnumpy().ravel(), window)


def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many windows."""
    set_style("tape", ask.device)
    return Found({name: _valid(window) for name, window in WINDOWS.items()})


def _valid(window: Window) -> list[int]:
    kernel, stride = (1, window.kernel), (1, window.stride)
    line = ms.Tensor(np.ones((1, 1, 1, window.size), np.float32))
    layers = (
        nn.Conv2d(1, 1, kernel, stride, pad_mode="valid"),
        nn.MaxPool2d(kernel, stride, pad_mode="valid"),
        nn.AvgPool2d(kernel, stride, pad_mode="valid"),
    )
    return [layer(line).shape[-1] for layer in layers]


def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image by default, and if it has a bias."""
    set_style("tape", ask.device)
    layer = nn.Conv2d(1, 1, 3)
    output = layer(ms.Tensor(np.ones((1, 1, 5, 5), np.float32)))
    return Found({"shape": list(output.shape[2:]), "has_bias": bool(layer.has_bias)})
