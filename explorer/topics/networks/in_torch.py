"""Modules measured: the mode they start in, what registers a parameter, the names of their parts,
slices in a graph.
"""

from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.networks import sample


class Pair(nn.Module):  # type: ignore[misc]  # checked without following torch
    """A linear layer after a batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.fc = nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> Any:
        """One number a row."""
        return self.fc(self.norm(x))


class Holding(nn.Module):  # type: ignore[misc]  # checked without following torch
    """Two layers in a container of some kind."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.layers = container(*layers) if container is nn.Sequential else container(layers)


def starting_mode(ask: Ask) -> Found:
    """Whether a module of PyTorch's own and one of the user's are in training mode before anything
    was said.
    """
    return Found(
        {
            "layer": nn.Linear(2, 1).training,
            "own": Pair().training,
            "dropout": nn.Dropout(p=0.5).training,
        }
    )


def modes(ask: Ask) -> Found:
    """What batch norm and dropout do after train() and eval()."""
    torch.manual_seed(0)
    x, found = torch.tensor(sample.ROWS), {}
    for training in (True, False):
        norm, drop = (
            nn.BatchNorm1d(2, momentum=0.1).train(training),
            nn.Dropout(p=0.5).train(training),
        )
        name = "training" if training else "inference"
        found[name] = {"norm": numbers(norm(x)), "running_mean": numbers(norm.running_mean)}
        kept = drop(torch.tensor(sample.MANY)).numpy()
        found[name] |= {
            "dropout_zeros": int((kept == 0).sum()),
            "dropout_values": sorted(set(kept.ravel().tolist())),
        }
    return Found(found)


def containers(ask: Ask) -> Found:
    """How many parameters a module has that keeps two layers in a plain list, a ModuleList, a
    Sequential.
    """
    kinds = {"list": list, "ModuleList": nn.ModuleList, "Sequential": nn.Sequential}
    return Found({name: len(list(Holding(kind).parameters())) for name, kind in kinds.items()})


def parts(ask: Ask) -> Found:
    """The names that the guide's calls give for the parts of one net, and for a part added by name."""
    net = Pair()
    found: dict[str, Any] = {
        "named_children": [name for name, _ in net.named_children()],
        "named_modules": [name for name, _ in net.named_modules()],
        "parameters": [name for name, _ in net.named_parameters()],
        "parameters_type": type(net.parameters()).__name__,
    }
    net.add_module("head", nn.Linear(1, 1))
    return Found({**found, "after_add_module": [name for name, _ in net.named_children()]})


def kinds_of_data(ask: Ask) -> Found:
    """Which kinds of data object there are, whether Variable is one, and what `requires_grad` does
    to them.
    """
    net = nn.BatchNorm1d(2)
    net.weight.requires_grad = False
    net(torch.tensor(sample.ROWS)).sum().backward()
    return Found(
        {
            "kinds": [
                name
                for name, home in (("Tensor", torch), ("Parameter", nn), ("Buffer", nn))
                if hasattr(home, name)
            ],
            "Variable_is": type(torch.autograd.Variable(torch.ones(1))).__name__,
            "buffers": [name for name, _ in net.named_buffers()],
            "has_gradient": {name: each.grad is not None for name, each in net.named_parameters()},
        }
    )


def by_tensor(x: torch.Tensor, at: torch.Tensor) -> Any:
    """One element at an index that is a tensor."""
    return x[at]


def slice_by_tensor(x: torch.Tensor, at: torch.Tensor) -> Any:
    """A slice whose start is a tensor."""
    return x[at:]


def by_mask(x: torch.Tensor, at: torch.Tensor) -> Any:
    """The elements above 1: how many there are depends on the values."""
    return x[x > 1]


def loop_to_tensor(x: torch.Tensor, at: torch.Tensor) -> Any:
    """A sum over as many elements as a tensor says."""
    total = x.sum() * 0
    for index in range(int(at)):
        total = total + x[index]
    return total


def slices(ask: Ask) -> Found:
    """What indexing by values gives, and its gradient, on the tape; and whether one whole graph can
    be captured of it.
    """
    x, at, found = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.tensor(1), {}
    for function in (by_tensor, slice_by_tensor, by_mask, loop_to_tensor):
        tape = attempt(lambda function=function: numbers(function(x, at)))
        gradient = attempt(
            lambda function=function: numbers(torch.autograd.grad(function(x, at).sum(), x)[0])
        )
        whole = torch.compile(function, backend="eager", fullgraph=True)
        graph = attempt(lambda whole=whole: numbers(whole(x, at)))
        torch._dynamo.reset()
        found[f"{function.__name__}.tape"] = {"value": tape, "gradient": gradient}
        found[f"{function.__name__}.graph"] = {"value": graph, "gradient": None}
    return Found(found)
