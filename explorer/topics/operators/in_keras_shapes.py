"""Transposing, and pooling and convolution at the border, in Keras for TensorFlow's conventions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.operators.in_keras import array, keras
from explorer.topics.operators.inputs import AXES, IMAGE, WINDOWS, Window
from explorer.topics.operators.readings import zeros_around


def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    ops = keras().ops
    calls: dict[str, Callable[[], Any]] = {
        "ops.transpose(x, (3, 2, 1, 0))": lambda: ops.transpose(AXES, (3, 2, 1, 0)),
        "ops.transpose(x, 0, 3)": lambda: ops.transpose(AXES, 0, 3),
        "ops.swapaxes(x, 0, 3)": lambda: ops.swapaxes(AXES, 0, 3),
    }
    return Found({name: attempt_briefly(_transposed, call) for name, call in calls.items()})


def _transposed(call: Callable[[], Any]) -> Figures:
    transposed = array(call())
    return {"shape": transposed.shape, "elements": transposed.ravel().tolist()}


def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of 0..8 in a 3 x 3 image, windows of 2 and stride 2, by each way to pad."""
    layers = keras().layers
    image = IMAGE.reshape(1, 3, 3, 1)  # channels last
    valid = layers.MaxPooling2D(2, 2, padding="valid")
    top_left = layers.ZeroPadding2D(((1, 0), (1, 0)))
    bottom_right = layers.ZeroPadding2D(((0, 1), (0, 1)))
    ways: dict[str, Callable[[], Any]] = {
        "same": lambda: layers.MaxPooling2D(2, 2, padding="same")(image),
        "valid": lambda: valid(image),
        "zeros top and left, then valid": lambda: valid(top_left(image)),
        "zeros bottom and right, then valid": lambda: valid(bottom_right(image)),
        "padding=1": lambda: layers.MaxPooling2D(2, 2, padding=1)(image),
        "default": lambda: layers.MaxPooling2D(2, 2)(image),
    }
    return Found({name: attempt_briefly(_pooled, way) for name, way in ways.items()})


def _pooled(way: Callable[[], Any]) -> Any:
    return array(way())[0, :, :, 0].tolist()


def convolution_sides(ask: Ask) -> Found:
    """The zeros that "same" puts before and after an axis, for many windows."""
    ops = keras().ops
    return Found({name: _sides(ops, window) for name, window in WINDOWS.items()})


def _sides(ops: Any, window: Window) -> list[int]:
    """Read off a kernel that copies the first element of its window."""
    first = np.zeros((window.kernel, 1, 1), np.float32)
    first[0] = 1
    line = np.arange(1, window.size + 1, dtype=np.float32).reshape(1, window.size, 1)
    outputs = array(ops.conv(line, first, strides=window.stride, padding="same"))
    return zeros_around(outputs.ravel(), window)


def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many windows."""
    ops = keras().ops
    return Found({name: _valid(ops, window) for name, window in WINDOWS.items()})


def _valid(ops: Any, window: Window) -> list[int]:
    size, kernel, stride = window
    line = np.ones((1, size, 1), np.float32)
    weight = np.ones((kernel, 1, 1), np.float32)
    outputs = (
        ops.conv(line, weight, strides=stride, padding="valid"),
        ops.max_pool(line, kernel, strides=stride, padding="valid"),
        ops.average_pool(line, kernel, strides=stride, padding="valid"),
    )
    return [int(output.shape[1]) for output in outputs]


def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image by default, and if it has a bias."""
    layer = keras().layers.Conv2D(1, 3)
    output = layer(np.ones((1, 5, 5, 1), np.float32))
    return Found({"shape": list(output.shape[1:3]), "has_bias": layer.bias is not None})
