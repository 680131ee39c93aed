"""MindSpore's net for the routes, the steps that are Cells, and the loop that all routes run in."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.engines.mindspore.net import array_of
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.given import MINDSPORE_NAMES, batches, start

State = dict[str, Any]


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Convolution, batch norm, relu and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(8, 1)

    def construct(self, x: Any) -> Any:
        return self.fc(self.flatten(self.relu(self.norm(self.conv(x)))))


class GradOperationStep(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A training step written by hand, as the guide does: forward, GradOperation(get_by_list=True),
    optimizer.
    """

    def __init__(self, network: Any, optimizer: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, x: Any, y: Any) -> Any:
        loss = self.network(x, y)
        grads = self.grad(self.network, self.weights)(x, y)
        return ops.depend(loss, self.optimizer(grads))


def fresh(mode: str, device: str = "cpu") -> Net:
    """The net at the common start, in training, in graph or tape style."""
    set_style(mode, device)
    net = Net()
    net.set_train()
    values = start()
    for parameter in net.get_parameters():
        parameter.set_data(ms.Tensor(values[MINDSPORE_NAMES.get(parameter.name, parameter.name)]))
    return net


def state(net: Net) -> State:
    """Weights and running statistics by PyTorch's names."""
    return {
        MINDSPORE_NAMES.get(each.name, each.name): array_of(each).tolist()
        for each in net.get_parameters()
    }


def tensors() -> list[tuple[Any, Any]]:
    """The batches."""
    return [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches()]


def trained(net: Net, step: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """The loss and the state after every step."""
    losses, states = [], []
    for x, y in tensors():
        losses.append(numbers(step(x, y)))
        states.append(state(net))
    return {"losses": losses, "states": states}
