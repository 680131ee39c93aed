"""PyTorch's net for the routes, at the common start, and the loop that all routes run in."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from explorer.topics.in_torch import numbers
from explorer.topics.training.inputs import batches, start


class Net(nn.Module):  # type: ignore[misc]  # torch is not followed by the type checker
    """Convolution, batch norm, relu and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.fc = nn.Linear(8, 1)

    def forward(self, x: Any) -> Any:
        """The net's output, of shape ``(batch, 1)``."""
        return self.fc(torch.relu(self.norm(self.conv(x))).flatten(1))


def fresh_net(device: str) -> Net:
    """The net at the common start, in training."""
    net = Net()
    values = {name: torch.from_numpy(value) for name, value in start().items()}
    net.load_state_dict(values, strict=False)  # the start has no count of batches
    net.train()
    net.to(device)
    return net


def state(net: Net) -> dict[str, Any]:
    """The numbers of weights and running statistics, as they are now."""
    values = {name: numbers(value) for name, value in net.state_dict().items()}
    del values["norm.num_batches_tracked"]  # PyTorch's batch norm alone counts its batches
    return values


def tensors(device: str) -> list[tuple[Any, Any]]:
    """The batches of STEPS steps."""
    return [(torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)) for x, y in batches()]


def trained(net: Net, step: Callable[[Any, Any], Any], device: str) -> dict[str, Any]:
    """The loss and the state after every step."""
    losses, states = [], []
    for x, y in tensors(device):
        losses.append(step(x, y).item())
        states.append(state(net))
    return {"losses": losses, "states": states}
