"""Transposing in PyTorch, and pooling and convolution at the border by each way to pad."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.in_torch_styles import placed, styled
from explorer.topics.operators.inputs import AXES, IMAGE, PAIRS, WINDOWS, Window
from explorer.topics.operators.readings import zeros_around

TRANSPOSES: dict[str, Callable[[Any], Any]] = {
    "torch.transpose(x, (3, 2, 1, 0))": lambda x: torch.transpose(x, (3, 2, 1, 0)),
    "x.permute(3, 2, 1, 0)": lambda x: x.permute(3, 2, 1, 0),
    "torch.transpose(x, 0, 3)": lambda x: torch.transpose(x, 0, 3),
    "x.transpose(0, 3)": lambda x: x.transpose(0, 3),
    "torch.swapaxes(x, 0, 3)": lambda x: torch.swapaxes(x, 0, 3),
}


@placed
def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    return Found({name: attempt_briefly(_transposed, call) for name, call in TRANSPOSES.items()})


def _transposed(call: Callable[[Any], Any]) -> Figures:
    transposed = call(torch.tensor(AXES))
    return {"shape": tuple(transposed.shape), "elements": transposed.reshape(-1).tolist()}


@placed
def max_pool_of_nine(ask: Ask) -> Found:
    """Max pooling of 0..8 in a 3 x 3 image, windows of 2 and stride 2, by each way to pad."""
    image = torch.tensor(IMAGE)
    top_left = functional.pad(image, (1, 0, 1, 0))
    bottom_right = functional.pad(image, (0, 1, 0, 1))
    ways: dict[str, tuple[dict[str, Any], torch.Tensor]] = {
        "same": ({"padding": "same"}, image),
        "valid": ({}, image),
        "zeros top and left, then valid": ({}, top_left),
        "zeros bottom and right, then valid": ({}, bottom_right),
        "padding=1": ({"padding": 1}, image),
        "ceil_mode=True": ({"ceil_mode": True}, image),
        "default": ({}, image),
    }
    figures: Figures = {}
    for name, (options, padded) in ways.items():
        figures[name] = attempt_briefly(_pooled, padded, options, ask.options["style"])
    return Found(figures)


def _pooled(image: torch.Tensor, options: dict[str, Any], style: str) -> Any:
    pool = styled(nn.MaxPool2d(2, 2, **options), style)
    return numbers(pool(image)[0, 0])


@placed
def convolution_sides(ask: Ask) -> Found:
    """The zeros that padding="same" puts before and after an axis, for many windows."""
    figures: Figures = {}
    for name, window in WINDOWS.items():
        figures[name] = attempt_briefly(_sides, window, "same")  # refused with a stride
    return Found(figures)


@placed
def convolution_sides_of_a_number(ask: Ask) -> Found:
    """The zeros that are used before and after an axis with padding=1 and windows of 2.

    A zero that is one too many is left out.
    """
    return Found({name: _sides(window, (0, 1)) for name, window in PAIRS.items()})


def _sides(window: Window, padding: Any) -> list[int]:
    """Read off a kernel that copies the first element of its window."""
    size, kernel, stride = window
    layer = nn.Conv2d(1, 1, (1, kernel), (1, stride), padding=padding, bias=False)
    with torch.no_grad():
        layer.weight.zero_()[..., 0] = 1
        outputs = layer(torch.arange(1.0, size + 1).reshape(1, 1, 1, size))
    return zeros_around(outputs.flatten().cpu().numpy(), window)


@placed
def valid_sizes(ask: Ask) -> Found:
    """Output sizes of convolution and pooling without padding, for many windows."""
    return Found({name: _valid(window) for name, window in WINDOWS.items()})


def _valid(window: Window) -> list[int]:
    kernel, stride = (1, window.kernel), (1, window.stride)
    line = torch.ones(1, 1, 1, window.size)
    layers = (
        nn.Conv2d(1, 1, kernel, stride),
        nn.MaxPool2d(kernel, stride),
        nn.AvgPool2d(kernel, stride),
    )
    return [layer(line).shape[-1] for layer in layers]


@placed
def convolution_default(ask: Ask) -> Found:
    """The shape that a 3 x 3 convolution gives a 5 x 5 image by default, and if it has a bias."""
    layer = nn.Conv2d(1, 1, 3)
    output = layer(torch.ones(1, 1, 5, 5))
    return Found({"shape": list(output.shape[2:]), "has_bias": layer.bias is not None})
