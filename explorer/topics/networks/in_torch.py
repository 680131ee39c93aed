"""Modules measured: starting mode, what registers a parameter, names of parts, graph slices."""

import os
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.utils.data import DataLoader

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.networks.inputs import (
    BATCH,
    INDEX,
    INDEXING,
    MANY,
    MEAN,
    ROWS,
    SAMPLES,
    VARIANCE,
    VECTOR,
    WEIGHT,
    figures_by_mode,
    starting_figures,
    while_below_tensor,
)


class NormAndDense(nn.Module):  # type: ignore[misc]  # checked without following torch
    """A linear layer after a batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.fc = nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> Any:
        """One number a row."""
        return self.fc(self.norm(x))


def starting_mode(ask: Ask) -> Found:
    """Whether new modules, PyTorch's own and a user's, are in training mode."""
    return Found(starting_figures(nn.Linear(2, 1), NormAndDense(), nn.Dropout(p=0.5)))


def modes(ask: Ask) -> Found:
    """What batch norm and dropout do after train() and eval()."""
    torch.manual_seed(0)
    return Found(figures_by_mode(run_in_mode))


def run_in_mode(training: bool) -> tuple[Any, Any, AnyArray]:
    """A batch norm's output and the mean that it remembers, and dropout's output for ones."""
    norm = nn.BatchNorm1d(2, momentum=0.1).train(training)
    drop = nn.Dropout(p=0.5).train(training)
    normalized = numbers(norm(torch.tensor(ROWS)))  # before the mean is read, which it moves
    return normalized, numbers(norm.running_mean), drop(torch.tensor(MANY)).numpy()


class Holding(nn.Module):  # type: ignore[misc]  # checked without following torch
    """Two layers in a container of some kind."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
        # Sequential alone takes its layers one by one.
        self.layers = container(*layers) if container is nn.Sequential else container(layers)


def containers(ask: Ask) -> Found:
    """How many parameters a module has that keeps two layers in a list or in a container."""
    kinds = {"list": list, "ModuleList": nn.ModuleList, "Sequential": nn.Sequential}
    return Found({name: len(list(Holding(kind).parameters())) for name, kind in kinds.items()})


class BlockAndDense(nn.Module):  # type: ignore[misc]  # checked without following torch
    """A block of two layers, and a linear layer after it."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self.fc = nn.Linear(2, 1)


def parts(ask: Ask) -> Found:
    """The names that the guide's calls give for the parts of one net, and for an added part."""
    net = BlockAndDense()
    figures: dict[str, Any] = {
        "named_children": [name for name, _ in net.named_children()],
        "named_modules": [name for name, _ in net.named_modules()],
        "parameters": [name for name, _ in net.named_parameters()],
        "parameters_type": type(net.parameters()).__name__,
    }
    net.add_module("head", nn.Linear(1, 1))
    figures["after_add_module"] = [name for name, _ in net.named_children()]
    return Found(figures)


def kinds_of_data(ask: Ask) -> Found:
    """Which kinds of data object there are, whether Variable is one, what `requires_grad` does."""
    net = nn.BatchNorm1d(2)
    net.weight.requires_grad = False
    net(torch.tensor(ROWS)).sum().backward()
    homes = {"Tensor": torch, "Parameter": nn, "Buffer": nn}
    has_gradient = {}
    for name, parameter in net.named_parameters():
        has_gradient[name] = parameter.grad is not None
    return Found(
        {
            "kinds": [name for name, home in homes.items() if hasattr(home, name)],
            # Variable is still there (2.13), as a function that returns a Tensor.
            "Variable_is": type(torch.autograd.Variable(torch.ones(1))).__name__,
            "buffers": [name for name, _ in net.named_buffers()],
            "has_gradient": has_gradient,
        }
    )


def loop_to_tensor(x: torch.Tensor, at: torch.Tensor) -> Any:
    """A sum over as many elements as a tensor says."""
    total = x.sum() * 0
    for index in range(int(at)):
        total = total + x[index]
    return total


def slices(ask: Ask) -> Found:
    """What indexing by values gives on the tape, with its gradient, and what in one whole graph."""
    x = torch.tensor(VECTOR, requires_grad=True)
    at = torch.tensor(INDEX)

    def value_of(function: Any) -> Any:
        """What a function gives of the vector and the index."""
        return numbers(function(x, at))

    def gradient_of(function: Any) -> Any:
        """The gradient of the sum, which is what MindSpore differentiates of a vector."""
        return numbers(torch.autograd.grad(function(x, at).sum(), x)[0])

    figures = {}
    for function in (*INDEXING, while_below_tensor, loop_to_tensor):
        on_tape = {"value": attempt(value_of, function), "gradient": attempt(gradient_of, function)}
        whole_graph = torch.compile(function, backend="eager", fullgraph=True)
        in_graph = {"value": attempt(value_of, whole_graph), "gradient": None}
        torch._dynamo.reset()  # each function is compiled as if it were the first
        figures[f"{function.__name__}.tape"] = on_tape
        figures[f"{function.__name__}.graph"] = in_graph
    return Found(figures)


# Parameters in a container, and inference over a dataset


class HoldingParameters(nn.Module):  # type: ignore[misc]  # checked without following torch
    """Two Parameters in a container of some kind: a factor, and what is added."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        factor = nn.Parameter(torch.tensor([2.0]))
        addend = nn.Parameter(torch.tensor([1.0]))
        self.weights = container([factor, addend])

    def forward(self, x: torch.Tensor) -> Any:
        """One number."""
        return (x * self.weights[0] + self.weights[1]).sum()


def parameters_in(ask: Ask) -> Found:
    """What each container registers, what the net gives, and the gradients that a step would use."""
    figures: dict[str, Any] = {}
    for container in (list, tuple, nn.ParameterList):
        net = HoldingParameters(container)
        value = net(torch.tensor([3.0]))
        value.backward()
        figures[container.__name__] = {
            "registered": [name for name, _ in net.named_parameters()],
            "value": numbers(value),
            "gradients": [numbers(parameter.grad) for parameter in net.parameters()],
        }
    return Found(figures)


class NormNet(nn.Module):  # type: ignore[misc]  # checked without following torch
    """A linear layer after a batch norm, with given weights."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.norm.running_mean.copy_(torch.tensor(MEAN))
        self.norm.running_var.copy_(torch.tensor(VARIANCE))
        self.fc = nn.Linear(2, 1, bias=False)
        self.fc.weight = nn.Parameter(torch.tensor(WEIGHT))

    def forward(self, x: torch.Tensor) -> Any:
        """One number a sample."""
        return self.fc(self.norm(x))


def batches(ask: Ask) -> Found:
    """The outputs for all samples at inference, by the way to batch them."""
    net = NormNet().eval()
    return Found(
        {
            "one by one": inferred(net, 1),
            "by default": inferred(net, BATCH),
            "keeping the rest": inferred(net, BATCH, drop_last=False),
            "dropping the rest": inferred(net, BATCH, drop_last=True),
            "again": inferred(net, BATCH),
        }
    )


def inferred(net: nn.Module, size: int, **options: bool) -> list[Any]:
    """The outputs for the samples that the batches have."""
    outputs: list[Any] = []
    for batch in DataLoader(torch.tensor(SAMPLES), batch_size=size, **options):
        outputs += numbers(net(batch))
    return outputs


def listings(ask: Ask) -> Found:
    """Whether the guide's variable chooses among the GPUs: as printed, and as meant."""
    lines = {"as printed": lines_as_printed, "as meant": lines_as_meant}
    return Found({which: attempt(_chooses, line) for which, line in lines.items()})


def _chooses(line: Callable[[], None]) -> bool:
    """Whether PyTorch counts other GPUs after a line than before it; none need be there."""
    with patch.dict(os.environ):
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        before = torch.cuda._parse_visible_devices()
        line()
        return bool(torch.cuda._parse_visible_devices() != before)


def lines_as_printed() -> None:
    """The guide's line, which is to leave one GPU."""
    os.environ["CUDA_VISIBLE_DEVICE"] = "1"


def lines_as_meant() -> None:
    """The same with the name that CUDA reads."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
