"""Padding a strided convolution in PyTorch, by a number and by "same"."""

from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.in_torch_styles import placed
from explorer.topics.operators.inputs import STRIDED_IMAGE, STRIDED_KERNEL


@placed
def strided_convolution(ask: Ask) -> Found:
    """A 3 x 3 convolution with stride 2 of a 4 x 4 image."""
    ways: dict[str, Any] = {"same": "same", "padding=1": 1}
    return Found({name: attempt_briefly(_convolved, padding) for name, padding in ways.items()})


def _convolved(padding: Any) -> Any:
    layer = nn.Conv2d(1, 1, 3, 2, padding=padding, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(STRIDED_KERNEL))
        return numbers(layer(torch.tensor(STRIDED_IMAGE)).flatten())
