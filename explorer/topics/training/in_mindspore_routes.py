"""MindSpore's ways to take a training step, each the guide's; all start alike, and the state is
kept after every step.
"""

from typing import Any

import mindspore as ms
from mindspore import nn, train

from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import numbers
from explorer.topics.training.given import RATE, batches
from explorer.topics.training.in_mindspore_nets import (
    GradOperationStep,
    Net,
    State,
    fresh,
    state,
    trained,
)


def model(ask: Ask) -> Found:
    """Model.train over a data set; a callback keeps what each step left."""
    net = fresh(ask.options["style"], ask.device)
    keep = Keep(net)
    data = ms.dataset.GeneratorDataset(batches(), ["x", "y"], shuffle=False, num_parallel_workers=1)
    driver = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), RATE))
    driver.train(1, data, callbacks=[keep], dataset_sink_mode=False)
    return Found({"losses": keep.losses, "states": keep.states})


class Keep(train.Callback):  # type: ignore[misc]  # mindspore ships no types
    """Keeps the loss and the state after every step."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net
        self.losses: list[float] = []
        self.states: list[State] = []

    def on_train_step_end(self, run_context: Any) -> None:
        """Called by Model after the optimizer."""
        self.losses.append(numbers(run_context.original_args().net_outputs))
        self.states.append(state(self.net))


def step_cell(ask: Ask) -> Found:
    """nn.TrainOneStepCell around nn.WithLossCell."""
    net = fresh(ask.options["style"], ask.device)
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), RATE)
    )
    step.set_train()
    return Found(trained(net, step))


def grad_operation(ask: Ask) -> Found:
    """A Cell that calls net, GradOperation(get_by_list=True) and optimizer; set_grad() says that a
    gradient will follow.
    """
    net = fresh(ask.options["style"], ask.device)
    network = nn.WithLossCell(net, nn.MSELoss())
    if ask.options.get("set_grad", True):
        network.set_grad()
    step = GradOperationStep(network, nn.SGD(net.trainable_params(), RATE))
    step.set_train()
    return Found(trained(net, step))


def functional(ask: Ask) -> Found:
    """value_and_grad of a function, then optimizer(grads); under ms.jit where it is asked for."""
    net = fresh(ask.options["style"], ask.device)
    loss_of, optimizer = nn.MSELoss(), nn.SGD(net.trainable_params(), RATE)

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        loss, grads = gradients_of(x, y)
        optimizer(grads)
        return loss

    return Found(trained(net, ms.jit(step) if ask.options.get("jit") else step))
