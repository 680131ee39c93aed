"""MindSpore's ways to take a training step, each as the guide writes it.

All start alike, and the state is kept after every step.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import mindspore as ms
from mindspore import nn, ops, train

from explorer.model.measurement import Ask, Found
from explorer.text.messages import without_node
from explorer.topics.attempts import attempt, raised
from explorer.topics.in_mindspore import numbers
from explorer.topics.training.in_mindspore_nets import (
    GradOperationStep,
    Net,
    fresh_net,
    state,
    tensors,
    trained,
)
from explorer.topics.training.inputs import RATE, batches


def model(ask: Ask) -> Found:
    """Model.train over a data set; a callback keeps what each step left."""
    net = fresh_net(ask.options["style"], ask.device)
    keeper = StateKeeper(net)
    data = ms.dataset.GeneratorDataset(batches(), ["x", "y"], shuffle=False, num_parallel_workers=1)
    driver = train.Model(net, nn.MSELoss(), sgd(net))
    # With data sinking, several steps would run between two calls of the callback.
    driver.train(1, data, callbacks=[keeper], dataset_sink_mode=False)
    return Found({"losses": keeper.losses, "states": keeper.states})


class StateKeeper(train.Callback):  # type: ignore[misc]  # mindspore ships no types
    """Keeps the loss and the state after every step."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net
        self.losses: list[float] = []
        self.states: list[dict[str, Any]] = []

    def on_train_step_end(self, run_context: Any) -> None:
        """Called by Model after the optimizer."""
        self.losses.append(numbers(run_context.original_args().net_outputs))
        self.states.append(state(self.net))


def step_cell(ask: Ask) -> Found:
    """nn.TrainOneStepCell around nn.WithLossCell."""
    net = fresh_net(ask.options["style"], ask.device)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), sgd(net))
    step.set_train()
    return Found(trained(net, step))


def grad_operation(ask: Ask) -> Found:
    """A Cell that calls net, GradOperation(get_by_list=True) and optimizer.

    set_grad() says that a gradient will follow.
    """
    net = fresh_net(ask.options["style"], ask.device)
    network = nn.WithLossCell(net, nn.MSELoss())
    if ask.options.get("set_grad", True):
        network.set_grad()
    step = GradOperationStep(network, sgd(net))
    step.set_train()
    return Found(trained(net, step))


def functional(ask: Ask) -> Found:
    """value_and_grad of a function, then optimizer(grads); under ms.jit where it is asked for."""
    net = fresh_net(ask.options["style"], ask.device)
    step = functional_step(net).step
    return Found(trained(net, ms.jit(step) if ask.options.get("jit") else step))


class FunctionalStep(NamedTuple):
    """A step written with ms.value_and_grad, and the three callables that it consists of."""

    forward: Callable[[Any, Any], Any]
    gradients_of: Callable[[Any, Any], Any]
    optimizer: Callable[[Any], Any]
    step: Callable[[Any, Any], Any]


def functional_step(net: Net) -> FunctionalStep:
    """The functional step of a net.

    ``forward`` gives the loss of a batch, ``gradients_of`` loss and gradients, ``step`` the loss
    before the update.
    """
    loss_of, optimizer = nn.MSELoss(), sgd(net)

    def forward(x: Any, y: Any) -> Any:
        """The loss of a batch."""
        return loss_of(net(x), y)

    # optimizer(grads) pairs gradients and parameters by their order, which must be its own.
    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        """The loss before the update."""
        loss, grads = gradients_of(x, y)
        optimizer(grads)
        return loss

    return FunctionalStep(forward, gradients_of, optimizer, step)


def scaled_step(ask: Ask) -> Found:
    """nn.TrainOneStepWithLossScaleCell, once in each style: the loss, or what MindSpore says."""

    def loss(style: str) -> Any:
        """The loss that the step returns in one style."""
        net = fresh_net(style, ask.device)
        step = nn.TrainOneStepWithLossScaleCell(
            nn.WithLossCell(net, nn.MSELoss()), sgd(net), nn.FixedLossScaleUpdateCell(1024.0)
        )
        step.set_train()
        return numbers(step(*tensors()[0]))

    figures = {}
    for style in ("graph", "tape"):
        figure = attempt(loss, style)
        if raised(figure):
            figure = {**figure, "message": without_node(figure["message"])}
        figures[style] = figure
    return Found(figures)


def sgd(net: Net) -> Any:
    """The optimizer that all routes use."""
    return nn.SGD(net.trainable_params(), RATE)


# The step that the guide writes with a GradWrap: as printed, and as meant


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
