"""The advice on calls of grad, in either style: results are unpacked and arguments given as it says."""

from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from tests.independent.advice.checks import close, close_all, raises

WEIGHT = [[2.0, 3.0, 4.0]]


class Squared(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The squared error of a dense layer, and its logits."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(3, 1, ms.Tensor(WEIGHT, ms.float32), has_bias=False)

    def construct(self, x: Any, y: Any) -> Any:
        logits = self.fc(x).squeeze()
        return (logits - y) ** 2, logits


class Case:
    """One input and one target, with what is worked out by hand of them."""

    def __init__(self, x: list[float], y: float) -> None:
        logits = float(np.dot(WEIGHT[0], x))
        error = logits - y
        self.arguments = ms.Tensor([x], ms.float32), ms.Tensor(y, ms.float32)
        self.loss, self.logits = error**2, logits
        self.dx = 2 * error * np.array(WEIGHT)
        self.dy = -2 * error
        self.dw = 2 * error * np.array([x])
        self.dx_of_sum = self.dx + np.array(WEIGHT)


CASES = (Case([1, 2, 3], 19), Case([-1, 2, -3], -10))


def _unpacked(position: Any, by_weights: bool, right: Callable[[Case], Any]) -> None:
    """What grad returns with has_aux is nested as is advised."""
    for case in CASES:
        net = Squared()
        weights = net.trainable_params() if by_weights else None
        result = ms.grad(net, position, weights, has_aux=True)(*case.arguments)
        close_all(result, (right(case), (case.logits,)))


row_1 = partial(_unpacked, 0, False, lambda case: case.dx)
row_2 = partial(_unpacked, 1, False, lambda case: case.dy)
row_3 = partial(_unpacked, (0, 1), False, lambda case: (case.dx, case.dy))
row_4 = partial(_unpacked, None, True, lambda case: (case.dw,))
row_5 = partial(_unpacked, 0, True, lambda case: (case.dx, (case.dw,)))
row_6 = partial(_unpacked, (0, 1), True, lambda case: ((case.dx, case.dy), (case.dw,)))


def row_7() -> None:
    for case in CASES:
        close(ms.grad(Squared(), 0)(*case.arguments), case.dx_of_sum)


def row_8() -> None:
    for case in CASES:
        net = Squared()
        close(ms.grad(_loss_alone(net))(*case.arguments), case.dx)
        close(ms.grad(net, 0, has_aux=True)(*case.arguments)[0], case.dx)


def _loss_alone(net: Any) -> Any:
    def loss(x: Any, y: Any) -> Any:
        return net(x, y)[0]

    return loss


def row_9() -> None:
    """With a position, with weights, with both."""
    for follow in (row_1, row_4, row_5):
        follow()


def row_10() -> None:
    for case in CASES:
        net = Squared()
        weights = net.trainable_params()
        result = ms.value_and_grad(net, 0, weights, has_aux=True)(*case.arguments)
        # The gradients are without the auxiliary outputs.
        close_all(result, ((case.loss, case.logits), (case.dx, (case.dw,))))
        result = ms.value_and_grad(net, 0)(*case.arguments)
        close_all(result, ((case.loss, case.logits), case.dx_of_sum))


def row_11() -> None:
    for case in CASES:
        net = Squared()
        weights = ms.ParameterTuple(net.trainable_params())
        older = ops.GradOperation(get_all=True, get_by_list=True)(net, weights)(*case.arguments)
        newer = ms.grad(net, (0, 1), weights)(*case.arguments)
        for old, new in zip((*older[0], *older[1]), (*newer[0], *newer[1]), strict=True):
            close(new, old)


def row_80() -> None:
    def one_output(x: Any) -> Any:
        return (x * x).sum()

    x = ms.Tensor([1.0, -2.0])
    raises((RuntimeError, ValueError), lambda: ms.grad(one_output, has_aux=True)(x))


def row_81() -> None:
    def both(x: Any) -> Any:
        return (x * x).sum(), (x * x * x).sum()

    def stopped(x: Any) -> Any:
        return (x * x).sum(), ops.stop_gradient((x * x * x).sum())

    x = ms.Tensor([1.0, -2.0])
    gradient, (beside,) = ms.grad(both, has_aux=True)(x)
    close(gradient, [2, -4])
    close(beside, -7)
    close(ms.grad(stopped)(x), [2, -4])


def row_82() -> None:
    """What is said to pass without a word does so in one of the styles; a check of one's own refuses it."""
    net = Squared()
    other = ms.Parameter(ms.Tensor([1.0]), name="other")
    (weight,) = net.trainable_params()
    passing: tuple[Any, ...] = ((weight,), [], [weight, weight], [other])
    for weights in passing:
        ms.grad(net, None, weights)(*CASES[1].arguments)  # raises where the advice is wrong
        raises((TypeError, ValueError), partial(_checked, net, None, weights))
    raises((TypeError, ValueError), lambda: _checked(net, True, None))
    raises((TypeError, ValueError), lambda: _checked(net, None, ms.Tensor([1.0])))
    close(_checked(net, 0, [weight])(*CASES[1].arguments)[0], CASES[1].dx_of_sum)


def _checked(net: Any, position: Any, weights: Any) -> Any:
    positions = position if isinstance(position, tuple) else (position,)
    if any(type(each) is not int or each < 0 for each in positions if each is not None):
        raise TypeError(f"positions are ints from 0 on, not {position!r}")
    if weights is not None:
        known = {id(parameter) for parameter in net.trainable_params()}
        chosen = [id(each) for each in weights] if isinstance(weights, list) else []
        if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= known:
            raise ValueError("weights are a list of the net's own parameters, each once")
    return ms.grad(net, position, weights)


class Misread(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """x², with a backward of one's own that may be wrong."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def construct(self, x: Any) -> Any:
        return x * x

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * self.factor * x,)


def row_91() -> None:
    """Differences tell a right bprop from a wrong one; nothing else does."""
    for factor, is_right in ((2.0, True), (3.0, False)):
        net = Misread(factor)
        x, step = np.array([1.0, -2.0], np.float32), 1e-2
        gradient = ms.grad(net)(ms.Tensor(x)).asnumpy()
        for place in range(2):
            moved = np.eye(2, dtype=np.float32)[place] * step
            ahead, behind = net(ms.Tensor(x + moved)), net(ms.Tensor(x - moved))
            slope = float((ahead - behind).sum().asnumpy()) / (2 * step)
            assert bool(abs(slope - gradient[place]) < 1e-2) == is_right
