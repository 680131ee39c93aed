"""The numbers that the operators are given, the same in every framework; no framework here."""

import numpy as np

from explorer.model.arrays import AnyArray

_RANDOM = np.random.RandomState(
    0
)  # the legacy generator gives the same numbers in every version of numpy


def _normal(*shape: int) -> AnyArray:
    return _RANDOM.standard_normal(shape).astype(np.float32)


BATCH = _normal(4, 2, 2, 2)
"""A batch of four images with two channels."""
COTANGENT = _normal(4, 2, 2, 2)
"""What an output of that shape is multiplied with before it is summed and differentiated."""
GAMMA, BETA = np.array([1.5, 0.5], np.float32), np.array([0.25, -0.25], np.float32)
MEAN, VARIANCE = np.array([0.5, -1.0], np.float32), np.array([2.0, 0.25], np.float32)
"""Running statistics at the start, far from those of the batch."""
MOMENTA = (0.0, 0.5, 0.9, 0.99, 1.0)
"""MindSpore's momentum; PyTorch's is 1 minus it."""

IMAGE = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
AXES = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
LOGITS = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]], np.float32)
LABELS = np.array([0, 2], np.int32)
SMALL_PAIR = np.array([[-1e-3, 1e-3]], np.float32)
"""Mean 0 and variance 1e-6: layer norm's output tells the epsilon that was added."""
POINTS = np.linspace(-4, 4, 33, dtype=np.float32)

SIZES = tuple(
    (size, kernel, stride)
    for size in range(3, 9)
    for kernel in range(1, 5)
    for stride in range(1, 4)
    if kernel <= size
)
"""Input size, kernel size and stride of one axis."""

PICTURES = _normal(2, 2, 6, 6)
NET = {
    "conv.weight": _normal(4, 2, 3, 3),
    "conv.bias": _normal(4),
    "norm.weight": _normal(4),
    "norm.bias": _normal(4),
    "norm.running_mean": _normal(4),
    "norm.running_var": np.abs(_normal(4)) + 0.5,
    "dense.weight": _normal(3, 16),
    "dense.bias": _normal(3),
}
"""Weights of a small net: convolution, batch norm, relu, max pool, dropout, dense."""

OPERANDS = {
    "batch norm, training": (BATCH, GAMMA, BETA),
    "batch norm, inference": (BATCH, GAMMA, BETA),
    "transpose": (AXES / 10,),
    "max pool, same": (IMAGE / 10,),
    "max pool, valid": (IMAGE / 10,),
    "average pool, valid": (PICTURES,),
    "convolution, same": (PICTURES, _normal(3, 2, 2, 2), _normal(3)),
    "convolution, valid": (PICTURES, _normal(3, 2, 3, 3), _normal(3)),
    "dense": (_normal(3, 4), _normal(2, 4), _normal(2)),
    "cross entropy, classes": (LOGITS,),
    "cross entropy, one-hot": (LOGITS,),
    "layer norm": (_normal(3, 4), _normal(4), _normal(4)),
    "gelu, exact": (POINTS,),
    "gelu, tanh": (POINTS,),
    "dropout, p = 0": (PICTURES,),
    "dropout, inference": (PICTURES,),
}
"""What each operator is differentiated by: its input first, then its weight and bias where it has
them.
"""
