"""MindSpore's net for the routes, the step that is a Cell, and the loop that all routes run in."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.scenario.layouts import RENAMES
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.inputs import batches, start


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Convolution, batch norm, relu and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        # By default PyTorch's Conv2d does not pad and has a bias; MindSpore's pads and has none
        # (2.10.0).
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(8, 1)

    def construct(self, x: Any) -> Any:
        """The net's output, of shape ``(batch, 1)``."""
        return self.fc(self.flatten(self.relu(self.norm(self.conv(x)))))


class GradOperationStep(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A training step written by hand, with GradOperation(get_by_list=True), as TrainOneStepCell is."""

    def __init__(self, network: Any, optimizer: Any) -> None:
        # Without a prefix the parameters keep the names that the optimizer knows.
        super().__init__(auto_prefix=False)
        self.network = network
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, x: Any, y: Any) -> Any:
        """The loss before the update."""
        loss = self.network(x, y)
        grads = self.grad(self.network, self.weights)(x, y)
        # The returned loss depends on the update, which keeps it in the graph.
        return ops.depend(loss, self.optimizer(grads))


def fresh_net(style: str, device: str) -> Net:
    """The net at the common start, in training, in graph or tape style."""
    set_style(style, device)
    net = Net()
    net.set_train()  # a Cell is in inference until it is told (2.10.0)
    values = start()
    for parameter in net.get_parameters():
        parameter.set_data(ms.Tensor(values[torch_name(parameter)]))
    return net


def torch_name(parameter: Any) -> str:
    """PyTorch's name of one of the net's parameters."""
    layer, _, name = parameter.name.rpartition(".")
    return f"{layer}.{RENAMES.get(name, name)}"


def state(net: Net) -> dict[str, Any]:
    """The numbers of weights and running statistics by PyTorch's names, as they are now."""
    return {torch_name(parameter): numbers(parameter) for parameter in net.get_parameters()}


def tensors() -> list[tuple[Any, Any]]:
    """The batches of STEPS steps."""
    return [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches()]


def trained(net: Net, step: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """The loss and the state after every step."""
    losses, states = [], []
    for x, y in tensors():
        losses.append(numbers(step(x, y)))
        states.append(state(net))
    return {"losses": losses, "states": states}
