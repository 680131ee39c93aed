"""Runs a plan in MindSpore."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim

from explorer.model.arrays import AnyArray
from tests.planted.trainings.plan import CLASSES, HIDDEN, INPUTS, Arrays, Plan

NAMES = {
    "norm.gamma": "norm.weight",
    "norm.beta": "norm.bias",
    "norm.moving_mean": "norm.running_mean",
    "norm.moving_variance": "norm.running_var",
}


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Dense(INPUTS, HIDDEN)
        self.norm = nn.BatchNorm1d(HIDDEN)
        self.fc2 = nn.Dense(HIDDEN, CLASSES)

    def construct(self, x: Any) -> Any:
        return self.fc2(ops.tanh(self.norm(self.fc1(x))))


def net_of(plan: Plan, start: Arrays) -> Any:
    """The net with a start."""
    net = Net()
    net.set_train(True)
    for parameter in net.get_parameters():
        name = NAMES.get(parameter.name, parameter.name)
        parameter.set_data(ms.Tensor(start[name]))
        if name in plan.frozen:
            parameter.requires_grad = False
    return net


def optimizer_of(plan: Plan, parameters: list[Any]) -> Any:
    module, _dot, name = plan.optimizer.rpartition(".")
    rate: dict[str, Any] = {"lr" if module == "optim" else "learning_rate": plan.rate(1)}
    if module != "optim" and len(plan.rates) > 1:
        rate["learning_rate"] = [plan.rate(n) for n in range(1, plan.steps + 1)]
    return getattr({"nn": nn, "optim": optim}[module], name)(parameters, **rate, **plan.settings)


def prepared(plan: Plan, start: Arrays) -> tuple[Any, Callable[[int, AnyArray, AnyArray], None]]:
    """The net of a plan, and what makes a step of its training."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = net_of(plan, start)
    parameters = list(net.trainable_params())
    optimizer = optimizer_of(plan, parameters)
    loss_of = nn.MSELoss()

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    gradient_of = ms.value_and_grad(forward, None, parameters)

    def step(number: int, x: AnyArray, y: AnyArray) -> None:
        _loss, gradients = gradient_of(ms.Tensor(x), ms.Tensor(y))
        if plan.optimizer.startswith("optim"):
            for group in optimizer.param_groups:
                group["lr"] = ms.Parameter(ms.Tensor(plan.rate(number), ms.float32), name="lr")
        optimizer(gradients)

    return net, step
