"""A PyTorch net's inference over a dataset, by batch size and by what becomes of the rest."""

from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from explorer.model.measurement import Ask, Found
from explorer.topics.in_torch import numbers
from explorer.topics.networks.batches import BATCH, MEAN, SAMPLES, VARIANCE, WEIGHT


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
