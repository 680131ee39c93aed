"""Modules that keep Parameters in a container, and a net's inference over a dataset."""

from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from explorer.model.measurement import Ask, Found
from explorer.topics.in_torch import numbers
from explorer.topics.networks.batches import BATCH, MEAN, SAMPLES, VARIANCE, WEIGHT


class Holding(nn.Module):  # type: ignore[misc]  # checked without following torch
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
        net = Holding(container)
        value = net(torch.tensor([3.0]))
        value.backward()
        figures[container.__name__] = {
            "registered": [name for name, _ in net.named_parameters()],
            "value": numbers(value),
            "gradients": [numbers(parameter.grad) for parameter in net.parameters()],
        }
    return Found(figures)


class Net(nn.Module):  # type: ignore[misc]  # checked without following torch
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
    net = Net().eval()
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
