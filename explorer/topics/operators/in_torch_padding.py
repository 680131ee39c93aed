"""Pooling and convolution at the border in PyTorch: what padding="same", a number and padding by
hand do, and on which side.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.data import IMAGE, SIZES
from explorer.topics.operators.in_torch_styles import placed, styled


@placed
def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of 0..8 in a 3 x 3 image with windows of 2 and a stride of 2, by each way to pad."""
    image, run = torch.tensor(IMAGE), ask.options["style"]
    valid = nn.MaxPool2d(2, 2)
    ways: dict[str, Any] = {
        "same": lambda: styled(nn.MaxPool2d(2, 2, padding="same"), run)(image),
        "valid": lambda: styled(valid, run)(image),
        "zeros top and left, then valid": lambda: styled(valid, run)(
            functional.pad(image, (1, 0, 1, 0))
        ),
        "zeros bottom and right, then valid": lambda: styled(valid, run)(
            functional.pad(image, (0, 1, 0, 1))
        ),
        "padding=1": lambda: styled(nn.MaxPool2d(2, 2, padding=1), run)(image),
        "ceil_mode=True": lambda: styled(nn.MaxPool2d(2, 2, ceil_mode=True), run)(image),
        "default": lambda: styled(valid, run)(image),
    }
    return Found({name: attempt_briefly(_numbers, way) for name, way in ways.items()})


def _numbers(way: Any) -> Any:
    return numbers(way()[0, 0])


@placed
def convolution_sides(ask: Ask) -> Found:
    """The zeros that padding="same" puts before and after an axis, for many sizes, read off a
    kernel that copies one element.
    """
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": attempt_briefly(
                _sides, size, kernel, stride
            )
            for size, kernel, stride in SIZES
        }
    )


def _sides(size: int, kernel: int, stride: int, padding: Any = "same") -> list[int]:
    """Each output is the first element of its window: numbered from 1, the first that is not a zero
    tells how many were.
    """
    layer = nn.Conv2d(1, 1, (1, kernel), (1, stride), padding=padding, bias=False)
    with torch.no_grad():
        layer.weight.zero_()[..., 0] = 1
        made = layer(torch.arange(1.0, size + 1).reshape(1, 1, 1, size)).flatten()
    place = int(made.nonzero()[0])
    before = place * stride - (int(made[place]) - 1)
    return [before, max((made.numel() - 1) * stride + kernel - size, 0) - before]


@placed
def convolution_sides_of_a_number(ask: Ask) -> Found:
    """The zeros that are used before and after an axis with padding=1 and windows of 2: the one
    that is too many is left out.
    """
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": _sides(size, kernel, stride, (0, 1))
            for size, kernel, stride in SIZES
            if (kernel, stride) == (2, 2)
        }
    )


@placed
def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many sizes."""
    return Found(
        {
            f"size {size}, kernel {kernel}, stride {stride}": _valid(size, kernel, stride)
            for size, kernel, stride in SIZES
        }
    )


def _valid(size: int, kernel: int, stride: int) -> list[int]:
    line = torch.ones(1, 1, 1, size)
    layers = (
        nn.Conv2d(1, 1, (1, kernel), (1, stride)),
        nn.MaxPool2d((1, kernel), (1, stride)),
        nn.AvgPool2d((1, kernel), (1, stride)),
    )
    return [layer(line).shape[-1] for layer in layers]


@placed
def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image when nothing is said of padding, and
    whether it has a bias.
    """
    layer = nn.Conv2d(1, 1, 3)
    return Found(
        {"shape": list(layer(torch.ones(1, 1, 5, 5)).shape[2:]), "has_bias": layer.bias is not None}
    )
