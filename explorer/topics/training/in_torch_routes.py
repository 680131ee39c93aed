"""PyTorch's ways to take a training step; all start alike, and the state is kept after every step."""

import os
from pathlib import Path
from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, raised
from explorer.topics.training.given import RATE
from explorer.topics.training.in_torch_nets import fresh, tensors, trained


def loop(ask: Ask) -> Found:
    """zero_grad, backward, step."""
    net = fresh(ask.device)
    optimizer = torch.optim.SGD(net.parameters(), RATE)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return Found(trained(net, step, ask.device))


def functional(ask: Ask) -> Found:
    """torch.func.grad_and_value of a function of weights and running statistics, then the update by
    hand.
    """
    net = fresh(ask.device)
    weights, statistics = dict(net.named_parameters()), dict(net.named_buffers())

    def forward(values: dict[str, Any], moving: dict[str, Any], x: Any, y: Any) -> Any:
        return nn.functional.mse_loss(torch.func.functional_call(net, (values, moving), (x,)), y)

    def captured(values: dict[str, Any], x: Any, y: Any) -> Any:
        return nn.functional.mse_loss(torch.func.functional_call(net, values, (x,)), y)

    def step(x: Any, y: Any) -> Any:
        grads, loss = torch.func.grad_and_value(forward)(weights, statistics, x, y)
        with torch.no_grad():
            for name, weight in weights.items():
                weight -= RATE * grads[name]
        return loss

    refused = attempt(torch.func.grad(captured), weights, *tensors(ask.device)[0])
    return Found(
        {
            **trained(net, step, ask.device),
            "statistics captured": refused if raised(refused) else "accepted",
        }
    )


def compiled(ask: Ask) -> Found:
    """The loop's step under torch.compile, with the backend asked for; what the compiler says is a
    figure where it cannot.
    """
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    _settle_inductor()
    net = fresh(ask.device)
    optimizer = torch.optim.SGD(net.parameters(), RATE)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    found = attempt(trained, net, torch.compile(step, backend=ask.options["backend"]), ask.device)
    counters = torch._dynamo.utils.counters
    breaks = {
        reason.splitlines()[0]: count for reason, count in sorted(counters["graph_break"].items())
    }
    return Found({**found, "graphs": counters["stats"]["unique_graphs"], "breaks": breaks})


def _settle_inductor() -> None:
    """Keeps what inductor writes in the worker's own folder, and has it compile here rather than in
    processes of its own.
    """
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path.cwd() / "inductor")
    torch._inductor.config.compile_threads = 1
