"""How PyTorch carries out a step: operators dispatched one by one, and processor time."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import processor_seconds
from explorer.topics.training.in_torch_nets import fresh_net, tensors
from explorer.topics.training.in_torch_routes import loop_step
from explorer.topics.training.inputs import RATE


class OperatorRecorder(TorchDispatchMode):  # type: ignore[misc]  # torch is not followed by the type checker
    """Records the names of the operators that are dispatched."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operators.append(str(func))
        return func(*args, **(kwargs or {}))


def dispatches(ask: Ask) -> Found:
    """The operators that forward, backward and update dispatch."""
    net = fresh_net(ask.device)
    optimizer = torch.optim.SGD(net.parameters(), RATE)
    x, y = tensors(ask.device)[0]

    def dispatched(function: Callable[[], Any]) -> tuple[Any, list[str]]:
        """What a call returns, and the operators that it dispatches."""
        with OperatorRecorder() as recorder:
            result = function()
        return result, recorder.operators

    # zero_grad is left out: gradients start as None, and it would have nothing to do.
    loss, forward = dispatched(lambda: nn.functional.mse_loss(net(x), y))
    _, backward = dispatched(loss.backward)
    _, update = dispatched(optimizer.step)
    return Found({"forward": forward, "backward": backward, "update": update})


def speed(ask: Ask) -> Found:
    """The least processor time of repeated steps, with and without torch.compile, in turn.

    The backend is aot_eager.
    """
    by_itself = loop_step(fresh_net(ask.device))
    # aot_eager needs no compiler, so that this is timed wherever PyTorch runs.
    compiled = torch.compile(loop_step(fresh_net(ask.device)), backend="aot_eager")
    batch = tensors(ask.device)[0]
    calls = {
        "by itself": lambda: by_itself(*batch).item(),
        "torch.compile": lambda: compiled(*batch).item(),
    }
    repeats = ask.options["repeats"]
    return Found({"repeats": repeats}, timings=processor_seconds(calls, repeats))
