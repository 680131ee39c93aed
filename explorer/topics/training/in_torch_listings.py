"""The guide's net in PyTorch: the parameters that its filter chooses, and what its step takes."""

from typing import Any

import numpy as np
import torch
from torch import nn, optim

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt


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
