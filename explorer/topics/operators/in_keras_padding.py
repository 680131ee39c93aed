"""Pooling and convolution at the border as TensorFlow has them, measured on Keras: "same", "valid",
and on which side.
"""

from typing import Any

import numpy as np

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.operators.data import IMAGE, SIZES
from explorer.topics.operators.in_keras import array, keras


def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of 0..8 in a 3 x 3 image with windows of 2 and a stride of 2, by each way to pad."""
    layers, image = keras().layers, IMAGE.reshape(1, 3, 3, 1)
    valid = layers.MaxPooling2D(2, 2, padding="valid")
    ways: dict[str, Any] = {
        "same": lambda: layers.MaxPooling2D(2, 2, padding="same")(image),
        "valid": lambda: valid(image),
        "zeros top and left, then valid": lambda: valid(
            layers.ZeroPadding2D(((1, 0), (1, 0)))(image)
        ),
        "zeros bottom and right, then valid": lambda: valid(
            layers.ZeroPadding2D(((0, 1), (0, 1)))(image)
        ),
        "padding=1": lambda: layers.MaxPooling2D(2, 2, padding=1)(image),
        "default": lambda: layers.MaxPooling2D(2, 2)(image),
    }
    return Found({name: attempt_briefly(_numbers, way) for name, way in ways.items()})


def _numbers(way: Any) -> Any:
    return array(way())[0, :, :, 0].tolist()


def convolution_sides(ask: Ask) -> Found:
    """The zeros that "same" puts before and after each axis, for many sizes, read off a kernel that
    copies one element.
    """
    ops = keras().ops
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": _sides(ops, size, kernel, stride)
            for size, kernel, stride in SIZES
        }
    )


def _sides(ops: Any, size: int, kernel: int, stride: int) -> list[int]:
    """Each output is the first element of its window: numbered from 1, the first that is not a zero
    tells how many were.
    """
    first = np.zeros((kernel, 1, 1), np.float32)
    first[0] = 1
    line = np.arange(1, size + 1, dtype=np.float32).reshape(1, size, 1)
    made = array(ops.conv(line, first, strides=stride, padding="same")).ravel()
    place = int(np.flatnonzero(made)[0])
    before = place * stride - (int(made[place]) - 1)
    return [before, max((made.size - 1) * stride + kernel - size, 0) - before]


def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many sizes."""
    ops = keras().ops
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": _valid(ops, size, kernel, stride)
            for size, kernel, stride in SIZES
        }
    )


def _valid(ops: Any, size: int, kernel: int, stride: int) -> list[int]:
    line, weight = np.ones((1, size, 1), np.float32), np.ones((kernel, 1, 1), np.float32)
    made = (
        ops.conv(line, weight, strides=stride, padding="valid"),
        ops.max_pool(line, kernel, strides=stride, padding="valid"),
        ops.average_pool(line, kernel, strides=stride, padding="valid"),
    )
    return [int(each.shape[1]) for each in made]


def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image when nothing is said of padding, and
    whether it has a bias.
    """
    layer = keras().layers.Conv2D(1, 3)
    return Found(
        {
            "shape": list(layer(np.ones((1, 5, 5, 1), np.float32)).shape[1:3]),
            "has_bias": layer.bias is not None,
        }
    )
