"""What transposing means in MindSpore: an order of all axes, or two that change places."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import mint, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import set_style
from explorer.topics.operators.data import AXES

CALLS: dict[str, Callable[[Any], Any]] = {
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
    return Found({name: attempt_briefly(_moved, call) for name, call in CALLS.items()})


def _moved(call: Callable[[Any], Any]) -> dict[str, Any]:
    made = call(ms.Tensor(AXES)).asnumpy()
    return {"shape": made.shape, "elements": np.ravel(made).tolist()}
