"""Modules measured: starting mode, what registers a parameter, names of parts, graph slices."""

from typing import Any

import torch
from torch import nn

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.networks.shared import (
    INDEX,
    INDEXING,
    MANY,
    ROWS,
    VECTOR,
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
