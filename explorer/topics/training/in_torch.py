"""PyTorch's ways to take a training step, and how it carries them out."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn, optim
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, processor_seconds, raised
from explorer.topics.in_torch import numbers
from explorer.topics.training.inputs import RATE, batches, start


class ConvNet(nn.Module):  # type: ignore[misc]  # torch is not followed by the type checker
    """Convolution, batch norm, relu and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.fc = nn.Linear(8, 1)

    def forward(self, x: Any) -> Any:
        """The net's output, of shape ``(batch, 1)``."""
        return self.fc(torch.relu(self.norm(self.conv(x))).flatten(1))


def fresh_net(device: str) -> ConvNet:
    """The net at the common start, in training."""
    net = ConvNet()
    values = {name: torch.from_numpy(value) for name, value in start().items()}
    net.load_state_dict(values, strict=False)  # the start has no count of batches
    net.train()
    net.to(device)
    return net


def state(net: ConvNet) -> dict[str, Any]:
    """The numbers of weights and running statistics, as they are now."""
    values = {name: numbers(value) for name, value in net.state_dict().items()}
    del values["norm.num_batches_tracked"]  # PyTorch's batch norm alone counts its batches
    return values


def tensors(device: str) -> list[tuple[Any, Any]]:
    """The batches of STEPS steps."""
    return [(torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)) for x, y in batches()]


def trained(net: ConvNet, step: Callable[[Any, Any], Any], device: str) -> dict[str, Any]:
    """The loss and the state after every step."""
    losses, states = [], []
    for x, y in tensors(device):
        losses.append(step(x, y).item())
        states.append(state(net))
    return {"losses": losses, "states": states}


# The routes


def loop(ask: Ask) -> Found:
    """zero_grad, backward, step."""
    net = fresh_net(ask.device)
    return Found(trained(net, loop_step(net), ask.device))


def loop_step(net: ConvNet) -> Callable[[Any, Any], Any]:
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


# How a step is carried out


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


# The guide's net: the parameters that its filter chooses, and what its step takes


class Net(nn.Module):  # type: ignore[misc]  # torch is not followed by the type checker
    """Convolution, batch norm and relu."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3)
        self.bn = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()

    def forward(self, x: Any) -> Any:
        """A picture of 64 channels."""
        return self.relu(self.bn(self.conv(x)))


def filters(ask: Ask) -> Found:
    """What the optimizer holds that the guide gives all but the convolution's parameters."""
    return Found({"as printed": attempt(printed_filter), "as meant": attempt(meant_filter)})


def printed_filter() -> list[str]:
    """The filter with the condition as it is printed."""
    model = Net()
    all_params = model.named_parameters()
    target_params = []
    for name, params in all_params:
        if "conv" in name:
            target_params.append(params)
    optim_sgd = optim.SGD(params=target_params, lr=0.01)
    return _names(model, optim_sgd)


def meant_filter() -> list[str]:
    """The filter with the condition turned round."""
    model = Net()
    all_params = model.named_parameters()
    target_params = []
    for name, params in all_params:
        if "conv" not in name:
            target_params.append(params)
    optim_sgd = optim.SGD(params=target_params, lr=0.01)
    return _names(model, optim_sgd)


def _names(model: Net, optimizer: Any) -> list[str]:
    """The names of the parameters that an optimizer holds."""
    # PyTorch's parameters do not know their names: they are told by which object they are.
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    (group,) = optimizer.param_groups
    return [names[id(parameter)] for parameter in group["params"]]


def shapes(ask: Ask) -> Found:
    """The shape of the net's output in a step with the label of each listing."""
    return Found(
        {
            "as printed": attempt(printed_step),
            "with MindSpore's label": attempt(step, Net(), (1, 64, 64, 32)),
            "padded as in MindSpore": attempt(padded_alike),
        }
    )


def printed_step() -> list[int]:
    """The net and the label of the guide's listing for PyTorch."""
    return step(Net(), (1, 64, 62, 30))


def padded_alike() -> list[int]:
    """A net whose convolution pads as MindSpore's does, with MindSpore's label."""
    model = Net()
    model.conv = nn.Conv2d(3, 64, 3, padding="same")
    return step(model, (1, 64, 64, 32))


def step(model: Net, label_shape: tuple[int, ...]) -> list[int]:
    """The shape of the output of a net that has taken a step."""
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    loss_fn = nn.MSELoss()
    image = torch.tensor(np.random.rand(1, 3, 64, 32).astype(np.float32))
    label = torch.tensor(np.random.rand(*label_shape).astype(np.float32))
    optimizer.zero_grad()
    output = model(image)
    loss = loss_fn(output, label)
    loss.backward()
    optimizer.step()
    return list(output.shape)
