"""The advice on optimizers and schedules, in either style; gradients are given, some negative."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.experimental import optim

from tests.independent.advice.checks import close, raises

START = np.array([1.0, -2.0, 3.0], np.float32)
GRADIENT = np.array([0.5, -1.0, 2.0], np.float32)


def parameter(name: str = "weight") -> Any:
    """A Parameter that begins at START."""
    return ms.Parameter(ms.Tensor(START), name=name)


def gradient() -> tuple[Any]:
    """GRADIENT, as optimizers take it."""
    return (ms.Tensor(GRADIENT),)


def moved(optimizer: Any, weight: Any, steps: int) -> list[Any]:
    """By how much each step moves the weight, in units of the gradient."""
    rates = []
    for _ in range(steps):
        before = weight.asnumpy().copy()
        optimizer(gradient())
        rates.append(((before - weight.asnumpy()) / GRADIENT).tolist())
    return rates


def row_54() -> None:
    """A list of rates that one wrote oneself is gone through step by step."""
    rates = [0.1, 0.1, 0.05, 0.05, 0.05, 0.01]
    weight = parameter()
    close(moved(nn.SGD([weight], rates), weight, 6), [[rate] * 3 for rate in rates])


def row_55() -> None:
    """nn moves on by itself; with an experimental optimizer the scheduler is stepped by hand."""
    right = [[0.1 * 0.5**step] * 3 for step in range(3)]
    weight = parameter()
    close(moved(nn.SGD([weight], [0.1, 0.05, 0.025]), weight, 3), right)
    weight = parameter()
    cell = nn.ExponentialDecayLR(0.1, 0.5, 1)
    close(moved(nn.SGD([weight], cell), weight, 3), right)

    weight = parameter()
    optimizer = optim.SGD([weight], 0.1)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    rates = []
    for _ in range(3):
        rates += moved(optimizer, weight, 1)
        scheduler.step()
    close(rates, right)


def row_57() -> None:
    """weight_decay set to 0 for experimental AdamW: it takes Adam's step."""
    weight, other = parameter(), parameter("other")
    optim.AdamW([weight], 0.1, weight_decay=0.0)(gradient())
    optim.Adam([other], 0.1)(gradient())
    close(weight, other.asnumpy())


def row_58() -> None:
    """A group's own momentum, of groups named at the start."""
    first, second = parameter("first"), parameter("second")
    groups = [{"params": [first], "momentum": 0.9}, {"params": [second]}]
    optimizer = optim.SGD(groups, 0.1)
    for _ in range(2):
        optimizer((ms.Tensor(GRADIENT), ms.Tensor(GRADIENT)))
    close(first, START - 0.1 * GRADIENT * (1 + 1.9))
    close(second, START - 0.1 * GRADIENT * 2)


def row_59() -> None:
    """The state is flat, by names of parameters, with the weights in it, and is loaded as is said."""
    weight = parameter()
    optimizer = nn.Momentum([weight], 0.1, 0.9)
    optimizer(gradient())
    state = optimizer.state_dict()
    assert "weight" in state
    raises((RuntimeError,), lambda: optimizer.load_state_dict(state))
    other = parameter()
    again = nn.Momentum([other], 0.1, 0.9)
    assert ms.load_param_into_net(again, state) == ([], [])
    for each in (optimizer, again):
        each(gradient())
    close(other, weight.asnumpy())


class ByHand(nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
    """Momentum of small operators, as it is advised."""

    def __init__(self, parameters: Any, rate: float, momentum: float) -> None:
        super().__init__(rate, parameters)
        self.momentum = ms.Parameter(ms.Tensor(momentum, ms.float32), name="momentum")
        self.moments = self._parameters.clone(prefix="moments", init="zeros")

    def construct(self, gradients: Any) -> Any:
        rate = self.get_lr()
        for weight, moment, each in zip(self._parameters, self.moments, gradients):  # noqa: B905
            ops.assign(moment, moment * self.momentum + each)
            ops.assign(weight, weight - rate * moment)
        return True


def row_60() -> None:
    """nn.Momentum, and the same by hand."""
    right = START - 0.1 * GRADIENT * (1 + 1.9 + (1 + 0.9 * 1.9))
    for make in (nn.Momentum, ByHand):
        weight = parameter()
        optimizer = make([weight], 0.1, 0.9)
        for _ in range(3):
            optimizer(gradient())
        close(weight, right)


def row_62() -> None:
    """ASGD of either module takes a step against the gradient."""
    for module in (nn, optim):
        weight = parameter()
        module.ASGD([weight], 0.1)(gradient())
        close(weight, START * (1 - 1e-5) - 0.1 * GRADIENT)


def row_62_on_tape() -> None:
    """LBFGS finds the minimum of a function of one tensor."""
    from mindspore.scipy.optimize import minimize

    def function(x: Any) -> Any:
        return ((x - ms.Tensor([1.0, -2.0])) ** 2).sum()

    close(minimize(function, ms.Tensor([0.0, 0.0]), method="LBFGS").x, [1, -2], 1e-3)


def row_63() -> None:
    """Schedulers of the experimental module have PyTorch's rates; OneCycleLR becomes a list."""
    schedulers: dict[str, Callable[[Any], Any]] = {
        "StepLR": lambda optimizer: optim.lr_scheduler.StepLR(optimizer, 2, 0.5),
        "MultiStepLR": lambda optimizer: optim.lr_scheduler.MultiStepLR(optimizer, [2], 0.5),
        "LambdaLR": lambda optimizer: optim.lr_scheduler.LambdaLR(optimizer, _halved_from_two),
    }
    for name, make in schedulers.items():
        weight = parameter()
        optimizer = optim.SGD([weight], 0.1)
        scheduler = make(optimizer)
        rates = []
        for _ in range(3):
            rates += moved(optimizer, weight, 1)
            scheduler.step()
        np.testing.assert_allclose(
            rates, [[0.1] * 3, [0.1] * 3, [0.05] * 3], atol=1e-6, err_msg=name
        )

    listed = [0.01, 0.1, 0.05]
    weight = parameter()
    close(moved(nn.SGD([weight], listed), weight, 3), [[rate] * 3 for rate in listed])


def _halved_from_two(step: int) -> float:
    return 1.0 if step < 2 else 0.5


def row_65() -> None:
    """What each way of asking gives of two groups' rates."""
    first, second = parameter("first"), parameter("second")
    groups = [{"params": [first], "lr": 0.5}, {"params": [second]}]
    fixed = nn.SGD(groups, 0.1)
    close([rate.asnumpy() for rate in fixed.get_lr_parameter([first, second])], [0.5, 0.1])

    first, second = parameter("first"), parameter("second")
    groups = [{"params": [first], "lr": [0.5, 0.25]}, {"params": [second], "lr": [0.1, 0.2]}]
    listed = nn.SGD(groups, 0.1)
    close(listed.get_lr_parameter([first])[0], [0.5, 0.25])
    close([rate.asnumpy() for rate in listed.get_lr()], [0.5, 0.1])

    first, second = parameter("first"), parameter("second")
    groups = [{"params": [first], "lr": 0.5}, {"params": [second]}]
    close([float(group["lr"]) for group in optim.SGD(groups, 0.1).param_groups], [0.5, 0.1])


def row_66() -> None:
    """loss_scale by name divides the gradient alone; elsewhere it is divided by hand."""
    weight = parameter()
    nn.SGD([weight], learning_rate=0.1, weight_decay=0.5, loss_scale=4.0)(
        (ms.Tensor(4 * GRADIENT),)
    )
    close(weight, START - 0.1 * (GRADIENT + 0.5 * START))
    weight = parameter()
    optim.SGD([weight], 0.1)((ms.Tensor(4 * GRADIENT) / 4,))
    close(weight, START - 0.1 * GRADIENT)


def row_67() -> None:
    """Groups' settings are read where they are said to be."""
    for module, read in ((optim, _experimental_settings), (nn, _settings_of_nn)):
        first, second = parameter("first"), parameter("second")
        groups = [
            {"params": [first], "lr": 0.5, "weight_decay": 0.01},
            {"params": [second]},
        ]
        close(read(module.SGD(groups, 0.1)), [[0.5, 0.1], [0.01, 0.0]])


def _experimental_settings(optimizer: Any) -> Any:
    groups = optimizer.param_groups
    return [[float(group[name]) for group in groups] for name in ("lr", "weight_decay")]


def _settings_of_nn(optimizer: Any) -> Any:
    names = [each.name for each in optimizer.group_params]
    rates = [float(rate.asnumpy()) for rate in optimizer.group_lr]
    assert names == ["first", "second"]
    return [rates, [float(decay) for decay in optimizer.group_weight_decay]]


def row_64() -> None:
    """ProximalAdagrad is PyTorch's Adagrad, AdamOffload its Adam, by their formulas."""
    weight = parameter()
    nn.ProximalAdagrad([weight], learning_rate=0.1)(gradient())
    close(weight, START - 0.1 * GRADIENT / np.sqrt(0.1 + GRADIENT**2))
    weight = parameter()
    nn.AdamOffload([weight], learning_rate=0.1)(gradient())
    close(weight, START - 0.1 * np.sign(GRADIENT), 1e-4)


def row_93() -> None:
    """FTRL with one rate for all weights takes a step, and refuses a group's own."""
    first, second = parameter("first"), parameter("second")
    nn.FTRL([first, second], learning_rate=0.1)((ms.Tensor(GRADIENT), ms.Tensor(GRADIENT)))
    close(first, second.asnumpy())
    assert (first.asnumpy() != START).all()
    groups = [{"params": [parameter()], "lr": 0.5}]
    raises((TypeError, ValueError), lambda: nn.FTRL(groups, learning_rate=0.1))
