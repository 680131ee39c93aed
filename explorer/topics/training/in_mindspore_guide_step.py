"""The training step that the guide writes with a GradWrap, in MindSpore: as printed, and as meant."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.training.in_mindspore_nets import fresh_net, trained
from explorer.topics.training.inputs import RATE


def guide_step(ask: Ask) -> Found:
    """What some steps leave of the net: as printed, after set_grad(), as meant."""
    ways = {"as printed": step_as_printed, "set_grad()": with_set_grad, "as meant": step_as_meant}
    figures = {}
    for name, step_of in ways.items():
        net = fresh_net(ask.options["style"], ask.device)
        optimizer = nn.SGD(net.trainable_params(), RATE)
        figures[name] = trained(net, step_of(net, nn.MSELoss(), optimizer))
    return Found(figures)


class GradWrap(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The gradients of a net's parameters."""

    def __init__(self, network: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ms.ParameterTuple(
            filter(lambda x: x.requires_grad, network.get_parameters())
        )

    def construct(self, x: Any, label: Any) -> Any:
        """One gradient a parameter."""
        weights = self.weights
        return ops.GradOperation(get_by_list=True)(self.network, weights)(x, label)


def step_as_printed(net: Any, loss: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    """The lines of the guide, the last four of them as a function of a batch."""
    loss_net = nn.WithLossCell(net, loss)
    train_network = GradWrap(loss_net)

    def step(image: Any, label: Any) -> Any:
        output = net(image)
        loss_output = loss(output, label)
        grads = train_network(image, label)
        optimizer(grads)
        return loss_output

    return step


def with_set_grad(net: Any, loss: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    """The same, with set_grad() wherever it can be called."""
    loss_net = nn.WithLossCell(net, loss)
    train_network = GradWrap(loss_net)
    for cell in (net, loss_net, train_network):
        cell.set_grad()

    def step(image: Any, label: Any) -> Any:
        output = net(image)
        loss_output = loss(output, label)
        grads = train_network(image, label)
        optimizer(grads)
        return loss_output

    return step


def step_as_meant(net: Any, loss: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    """Loss and gradients from one forward."""
    loss_net = nn.WithLossCell(net, loss)
    train_network = ms.value_and_grad(loss_net, None, optimizer.parameters)

    def step(image: Any, label: Any) -> Any:
        loss_output, grads = train_network(image, label)
        optimizer(grads)
        return loss_output

    return step
