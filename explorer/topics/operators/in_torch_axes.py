"""What transposing means in PyTorch: an order of all axes, or two that change places."""

from collections.abc import Callable
from typing import Any

import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.operators.data import AXES
from explorer.topics.operators.in_torch_styles import placed

CALLS: dict[str, Callable[[Any], Any]] = {
    "torch.transpose(x, (3, 2, 1, 0))": lambda x: torch.transpose(x, (3, 2, 1, 0)),
    "x.permute(3, 2, 1, 0)": lambda x: x.permute(3, 2, 1, 0),
    "torch.transpose(x, 0, 3)": lambda x: torch.transpose(x, 0, 3),
    "x.transpose(0, 3)": lambda x: x.transpose(0, 3),
    "torch.swapaxes(x, 0, 3)": lambda x: torch.swapaxes(x, 0, 3),
}


@placed
def axes(ask: Ask) -> Found:
    """Shape and elements of a (1, 2, 3, 4) tensor after each call."""
    return Found({name: attempt_briefly(_moved, call) for name, call in CALLS.items()})


def _moved(call: Callable[[Any], Any]) -> dict[str, Any]:
    made = call(torch.tensor(AXES))
    return {"shape": tuple(made.shape), "elements": made.reshape(-1).tolist()}
