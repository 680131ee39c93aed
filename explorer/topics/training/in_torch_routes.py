"""PyTorch's ways to take a training step.

All start alike, and the state is kept after every step.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, raised
from explorer.topics.training.in_torch_nets import Net, fresh_net, tensors, trained
from explorer.topics.training.inputs import RATE


def loop(ask: Ask) -> Found:
    """zero_grad, backward, step."""
    net = fresh_net(ask.device)
    return Found(trained(net, loop_step(net), ask.device))


def loop_step(net: Net) -> Callable[[Any, Any], Any]:
    """The step of the loop, which returns the loss before the update."""
    optimizer = torch.optim.SGD(net.parameters(), RATE)

    def step(x: Any, y: Any) -> Any:
        """The loss before the update."""
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def functional(ask: Ask) -> Found:
    """torch.func.grad_and_value of weights and running statistics, then the update by hand."""
    net = fresh_net(ask.device)
    weights, statistics = dict(net.named_parameters()), dict(net.named_buffers())

    def forward(values: dict[str, Any], moving: dict[str, Any], x: Any, y: Any) -> Any:
        """The loss of a batch, with weights and running statistics as arguments."""
        return nn.functional.mse_loss(torch.func.functional_call(net, (values, moving), (x,)), y)

    def captured(values: dict[str, Any], x: Any, y: Any) -> Any:
        """The loss of a batch, with the running statistics left in the module."""
        return nn.functional.mse_loss(torch.func.functional_call(net, values, (x,)), y)

    def step(x: Any, y: Any) -> Any:
        """The loss before the update."""
        grads, loss = torch.func.grad_and_value(forward)(weights, statistics, x, y)
        with torch.no_grad():
            for name, weight in weights.items():
                weight -= RATE * grads[name]
        return loss

    # Batch norm updates its statistics in place: under torch.func they must be arguments (2.13.0).
    outcome = attempt(torch.func.grad(captured), weights, *tensors(ask.device)[0])
    refusal = outcome if raised(outcome) else "accepted"
    return Found({**trained(net, step, ask.device), "statistics captured": refusal})


def compiled(ask: Ask) -> Found:
    """The loop's step under torch.compile, with the backend asked for.

    Where the compiler cannot, the figure is its message.
    """
    # Another measurement in this worker may have compiled the step and counted its graph breaks.
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    _keep_inductor_here()
    net = fresh_net(ask.device)
    step = torch.compile(loop_step(net), backend=ask.options["backend"])
    figures = attempt(trained, net, step, ask.device)
    counters = torch._dynamo.utils.counters
    # The first line is the reason; stacks and advice follow it.
    breaks = {}
    for reason, count in sorted(counters["graph_break"].items()):
        breaks[reason.splitlines()[0]] = count
    return Found({**figures, "graphs": counters["stats"]["unique_graphs"], "breaks": breaks})


def _keep_inductor_here() -> None:
    """Keeps what inductor writes in the worker's own folder, and compiles in this process.

    By itself inductor compiles in processes of its own.
    """
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path.cwd() / "inductor")
    torch._inductor.config.compile_threads = 1
