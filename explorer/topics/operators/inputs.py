"""The inputs of the operators, the same in every library; no framework here."""

from typing import NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray

# The legacy generator gives the same numbers in every version of numpy.
_RANDOM = np.random.RandomState(0)


def _normal(*shape: int) -> AnyArray:
    return _RANDOM.standard_normal(shape).astype(np.float32)


BATCH = _normal(4, 2, 2, 2)
"""A batch of four images with two channels."""

COTANGENT = _normal(4, 2, 2, 2)
"""The factor of an output of that shape before it is summed and differentiated.

A bare sum would not do: the sum of what batch norm returns does not depend on its input.
"""

GAMMA = np.array([1.5, 0.5], np.float32)
BETA = np.array([0.25, -0.25], np.float32)
MEAN = np.array([0.5, -1.0], np.float32)
VARIANCE = np.array([2.0, 0.25], np.float32)
"""Batch norm's scale and shift, and its running statistics at the start, far from the batch's."""

MOMENTA = (0.0, 0.5, 0.9, 0.99, 1.0)  # the outer ones leave the batch's and the old ones alone
"""MindSpore's momentum; PyTorch's is 1 minus it."""

ONES = 20_000
"""How many ones dropout is given to count the share that survives."""

DRAWS = 400
"""The number of dropouts whose mean is taken."""

DROPOUT_RATE = 0.3

DROPOUT_SETTINGS: dict[str, tuple[list[float], dict[str, float]]] = {
    "p=0.3": ([], {"p": 0.3}),
    "keep_prob=0.7": ([], {"keep_prob": 0.7}),
    "0.3 alone": ([0.3], {}),
    "no argument": ([], {}),
    "p=0": ([], {"p": 0.0}),
    "p=1": ([], {"p": 1.0}),
}
"""Ways to ask MindSpore and PyTorch for dropout: arguments without a name, and those with one."""

IMAGE = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
NEGATIVE = "negative, "
"""Begins the names of what is pooled of negative numbers, among which a zero is the greatest."""
IMAGES = {"": IMAGE, NEGATIVE: -1 - IMAGE}
"""The numbers 0 to 8 and −1 to −9, by what begins the names of their figures."""
AXES = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
STRIDED_IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
STRIDED_KERNEL = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
"""A convolution whose stride of 2 leaves one zero to add in each direction: an odd number."""

LOGITS = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]], np.float32)
LABELS = np.array([0, 2], np.int32)

SMALL_PAIR = np.array([[-1e-3, 1e-3]], np.float32)
"""Mean 0 and variance 1e-6: layer norm's output tells the epsilon that was added."""

POINTS = np.linspace(-4, 4, 33, dtype=np.float32)  # in steps of 0.25, exact in float32
"""The points at which GELU is measured."""


class Window(NamedTuple):
    """A window that slides along one axis: the axis' size, the window's, and the stride."""

    size: int
    kernel: int
    stride: int

    @property
    def name(self) -> str:
        """What figures and tables call it."""
        return f"size {self.size}, kernel {self.kernel}, stride {self.stride}"


def _windows() -> dict[str, Window]:
    windows: dict[str, Window] = {}
    for size in range(3, 9):
        for kernel in range(1, min(size, 4) + 1):
            for stride in range(1, 4):
                window = Window(size, kernel, stride)
                windows[window.name] = window
    return windows


WINDOWS = _windows()
"""Every window that convolution and pooling are tried with, by its name."""

PAIRS = {name: window for name, window in WINDOWS.items() if window[1:] == (2, 2)}
"""Those of two elements that do not overlap; an odd axis leaves one element over."""

LAYERS = 20
"""How many layers of a kind give initial values: one alone has few biases."""

CONVOLUTION = (8, 16, 3)
"""Input channels, output channels, kernel size."""

DENSE = (64, 48)
"""Input and output width."""

EMBEDDING = (100, 50)
"""Entries of the table, and the length of each."""

LSTM = (40, 64)
"""Input and hidden width: the bound of its initial values is 1 / sqrt(64)."""

FEATURES, GROUPS = 4, 2
"""Of the normalisations whose initial values are looked at."""

# Drawn one after another: whoever puts a draw between these moves all that follow.
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
"""Weights of a small net by PyTorch's names.

The net is convolution, batch norm, relu, max pool, dropout, dense.
"""

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
"""What each operator is differentiated with respect to.

The input comes first, then weight and bias where there are any.
"""
