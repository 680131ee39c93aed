"""How PyTorch carries out one step: operators dispatched one by one, and the time of repeated
steps.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import processor_seconds
from explorer.topics.training.given import RATE
from explorer.topics.training.in_torch_nets import fresh, tensors


class Counting(TorchDispatchMode):  # type: ignore[misc]  # torch is not followed by the type checker
    """Counts the operators that are dispatched."""

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.ops.append(str(func))
        return func(*args, **(kwargs or {}))


def dispatches(ask: Ask) -> Found:
    """The operators that forward, backward and update dispatch."""
    net = fresh(ask.device)
    optimizer = torch.optim.SGD(net.parameters(), RATE)
    x, y = tensors(ask.device)[0]

    def counted(function: Callable[[], Any]) -> tuple[Any, list[str]]:
        with Counting() as counting:
            result = function()
        return result, counting.ops

    loss, forward = counted(lambda: nn.functional.mse_loss(net(x), y))
    _, backward = counted(loss.backward)
    _, update = counted(optimizer.step)
    return Found({"forward": forward, "backward": backward, "update": update})


def speed(ask: Ask) -> Found:
    """The least processor time of repeated steps, by themselves and under torch.compile
    (aot_eager), in turn.
    """
    steps = {
        "by itself": _step(ask.device),
        "torch.compile": torch.compile(_step(ask.device), backend="aot_eager"),
    }
    batch = tensors(ask.device)[0]
    calls = {name: lambda step=step: step(*batch).item() for name, step in steps.items()}
    return Found(
        {"repeats": ask.options["repeats"]},
        timings=processor_seconds(calls, ask.options["repeats"]),
    )


def _step(device: str) -> Callable[[Any, Any], Any]:
    net = fresh(device)
    optimizer = torch.optim.SGD(net.parameters(), RATE)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step
