"""The advice on tape and graph, networks and operators, in either style."""

import json
import os
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from tests.independent import mindspore_ir
from tests.independent.advice.checks import close

X = np.array([1.0, -2.0, 3.0], np.float32)


def cube(x: Any) -> Any:
    """Σ x³."""
    return (x**3).sum()


def cube_of_sum(x: Any) -> Any:
    """(Σ x)³."""
    return x.sum() ** 3


# Tape and graph


def row_22() -> None:
    """One gradient function, made once, takes batch after batch."""
    gradient = ms.grad(cube)
    for batch in (X, -X, 2 * X):
        close(gradient(ms.Tensor(batch)), 3 * batch**2)


# The same call again, forward included, with nothing kept of the one before.
row_25 = row_22
row_70 = row_22


def _saved(call: Any) -> int:
    """How many tensors the tape saves in a call."""
    seen: list[int] = []

    def pack(tensor: Any) -> Any:
        seen.append(1)
        return tensor

    def unpack(tensor: Any) -> Any:
        return tensor

    with ms.saved_tensors_hooks(pack, unpack):
        call()
    return len(seen)


def row_23_on_tape() -> None:
    """A tape is there only where a gradient function calls the forward."""
    x = ms.Tensor(X)
    assert _saved(lambda: cube(x)) == 0
    assert _saved(lambda: ms.grad(cube)(x)) > 0


def row_23_in_graph() -> None:
    """Nothing is saved for a tape, and the gradient is right."""
    x = ms.Tensor(X)
    assert _saved(lambda: ms.grad(cube)(x)) == 0
    close(ms.grad(cube)(x), 3 * X**2)


def row_24_on_tape() -> None:
    """Evaluated outside, nothing is recorded; stop_gradient around what is returned saves nothing."""
    x = ms.Tensor(X)
    assert _saved(lambda: cube(x)) == 0

    def stopped(x: Any) -> Any:
        return ops.stop_gradient(cube(x)) + x.sum()

    def plain(x: Any) -> Any:
        return cube(x) + x.sum()

    assert _saved(lambda: ms.grad(stopped)(x)) == _saved(lambda: ms.grad(plain)(x)) > 0


def row_24_in_graph() -> None:
    """Evaluated outside the gradient function the value is that of the forward."""
    close(cube(ms.Tensor(X)), (X**3).sum())


def row_26_in_graph() -> None:
    """Nested in graph style, second and third derivatives are right."""
    second = ms.grad(ms.grad(cube))
    close(second(ms.Tensor(X)), 6 * X)
    close(ms.grad(second)(ms.Tensor(X)), [6, 6, 6])
    close(ms.grad(ms.grad(cube_of_sum))(ms.Tensor(X)), [18 * X.sum()] * 3)


def row_27_in_graph() -> None:
    """One graph serves inputs that take either branch."""
    from mindspore.graph import api

    def branch(x: Any) -> Any:
        if x.sum() > 0:
            return (x * x).sum()
        return (x * x * x).sum()

    gradient = ms.grad(branch)
    close(gradient(ms.Tensor(X)), 2 * X)
    before = len(api.ms_compile_cache)
    close(gradient(ms.Tensor(-X)), 3 * X**2)
    assert len(api.ms_compile_cache) == before


def row_28_in_graph() -> None:
    """The last pass of a step's graph has the optimizer's operator in it, and more than was written."""
    net = nn.Dense(3, 1, has_bias=False)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)

    def forward(x: Any) -> Any:
        return (net(x) ** 2).sum()

    def step(x: Any) -> Any:
        _, gradients = ms.value_and_grad(forward, None, optimizer.parameters)(x)
        return optimizer(gradients)

    ms.jit(step)(ms.Tensor(X[None]))
    names = [operator.name for operator in mindspore_ir.graphs()[-1]]
    assert any("Momentum" in name for name in names), names
    assert len(names) > 4


def row_30() -> None:
    """Nothing is zeroed between calls; to accumulate, gradients are added by hand."""
    gradient = ms.grad(cube)
    first, second = gradient(ms.Tensor(X)), gradient(ms.Tensor(X))
    close(second, 3 * X**2)
    close(first + second, 6 * X**2)


def row_31() -> None:
    """One tensor at one position, a copy at the other: the gradient of that position alone.

    A function of one argument for the sum.
    """

    def product(a: Any, b: Any) -> Any:
        return (a * b).sum()

    def squares(x: Any) -> Any:
        return product(x, x)

    x = ms.Tensor(X)
    close(ms.grad(product)(x, x.copy()), X)
    close(ms.grad(squares)(x), 2 * X)


def row_84_in_graph() -> None:
    """Nested in graph style, and with a matrix of one column, the Hessian is right."""
    close(ms.grad(ms.grad(cube_of_sum))(ms.Tensor(X)), [18 * X.sum()] * 3)
    row_84_on_tape()


def row_84_on_tape() -> None:
    """With a matrix of one column the Hessian of |A sin x|² is right, for an x below zero too."""
    a, x = np.array([[1.0, 2.0], [0.0, 1.0]], np.float32), np.array([1.0, -2.0], np.float32)
    matrix = ms.Tensor(a)

    def squares(x: Any) -> Any:
        return (ops.matmul(matrix, ops.sin(x).reshape(2, 1)) ** 2).sum()

    product = a.T @ a
    right = 2 * product * np.outer(np.cos(x), np.cos(x))
    right -= 2 * np.diag(np.sin(x) * (product @ np.sin(x)))
    for jacobian in (ms.jacfwd, ms.jacrev):
        close(jacobian(ms.grad(squares))(ms.Tensor(x)), right)


# Networks


class Normed(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Dropout of batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(1)
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x: Any) -> Any:
        return self.drop(self.norm(x))


def row_33() -> None:
    """set_train(True) draws and moves statistics, set_train(False) does neither."""
    column = ms.Tensor(X[:, None])
    net = Normed()
    net.set_train(True)
    net(column)
    moved = 0.1 * X.mean()
    close(net.norm.moving_mean, [moved])
    net.set_train(False)
    variance = 0.9 + 0.1 * X.var(ddof=1)
    close(net(column), (X[:, None] - moved) / np.sqrt(variance + 1e-5), 1e-4)
    close(net.norm.moving_mean, [moved])


row_32 = row_33


def row_34() -> None:
    """Layers of both containers are registered, and have gradients."""
    for kept in (nn.CellList, nn.SequentialCell):
        net = kept([nn.Dense(3, 3), nn.Dense(3, 1)])
        weights = net.trainable_params()
        assert len(weights) == 4
        gradients = ms.grad(_chained(net), None, weights)(ms.Tensor(-X[None]))
        assert all(gradient.asnumpy().any() for gradient in gradients[1::2])


def _chained(net: Any) -> Any:
    def function(x: Any) -> Any:
        for layer in net:
            x = layer(x)
        return x.sum()

    return function


def row_35() -> None:
    """The names of children, of all modules, and the parameters that PyTorch has."""
    net = nn.SequentialCell(
        OrderedDict(block=nn.SequentialCell([nn.Dense(3, 2)]), norm=nn.BatchNorm1d(2))
    )
    assert list(net.name_cells()) == ["block", "norm"]
    assert [name for name, _ in net.cells_and_names()] == ["", "block", "block.0", "norm"]
    # PyTorch's parameters() of such a net: weight and bias of both.
    assert len(net.trainable_params()) == 4


class Scaled(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """x times what is not trained, times what is."""

    def __init__(self) -> None:
        super().__init__()
        self.fixed = ms.Parameter(ms.Tensor([2.0, -3.0, 4.0]), requires_grad=False)
        self.trained = ms.Parameter(ms.Tensor([1.0, 1.0, -1.0]))

    def construct(self, x: Any) -> Any:
        return (x * self.fixed * self.trained).sum()


def row_88() -> None:
    """A Parameter(requires_grad=False) is not trained, is saved, and its changes are seen."""
    net = Scaled()
    assert [parameter.name for parameter in net.trainable_params()] == ["trained"]
    gradient = ms.grad(net)
    close(gradient(ms.Tensor(X)), [2, -3, -4])
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "net.ckpt")
        ms.save_checkpoint(net, path)
        assert sorted(ms.load_checkpoint(path)) == ["fixed", "trained"]
    net.fixed.set_data(ms.Tensor([-5.0, 0.0, 1.0]))
    close(net(ms.Tensor(X)), (X * [-5, 0, 1] * np.array([1, 1, -1])).sum())
    close(gradient(ms.Tensor(X)), [-5, 0, -1])


row_36 = row_88


BEFORE_ALL_ELSE = """
import json
import mindspore as ms
ms.set_device("CPU", 0)
x = ms.Tensor([1.0, -2.0])
moved = [x.to("CPU"), x.move_to("CPU"), ms.nn.Dense(2, 1).to("CPU").weight]
assert all(str(each.device).startswith("CPU") for each in moved)
print(json.dumps(ms.grad(lambda x: (x * x).sum())(x).asnumpy().tolist()))
"""


def row_73() -> None:
    """set_device before all else, in a process of its own, and no warning that it will go."""
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_ALL_ELSE],
        env={**os.environ, "GLOG_v": "2"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "deprecated" not in done.stderr
    close(json.loads(done.stdout.splitlines()[-1]), [2, -4])


row_37 = row_73


def row_38() -> None:
    close((ms.Tensor(X) * 2).asnumpy(), 2 * X)


def row_39_on_tape() -> None:
    """What graph style reads otherwise, or refuses, is right on the tape."""
    at = ms.Tensor(2, ms.int32)

    def from_list(x: Any) -> Any:
        return [x * 2, x * x, x**3][at].sum()

    def reshaped(x: Any) -> Any:
        return (x.reshape(ms.Tensor(3, ms.int32), -1) ** 2).sum()

    close(ms.grad(from_list)(ms.Tensor(X)), 3 * X**2)
    close(ms.grad(reshaped)(ms.Tensor(X)), 2 * X)
    close(ms.grad(_summed_while)(ms.Tensor(X), at), [1, 1, 0])


def row_39_in_graph() -> None:
    """Constants as indices; a length declared to the Cell that calls ms.grad; a while loop."""

    def from_list(x: Any) -> Any:
        return [x * 2, x * x, x**3][2].sum()

    close(ms.grad(from_list)(ms.Tensor(X)), 3 * X**2)
    close(ms.grad(_summed_while)(ms.Tensor(X), ms.Tensor(2, ms.int32)), [1, 1, 0])
    for cell in (Squares(), Gradient(Squares())):
        cell.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
        for length in (2, 3, 4):
            x = -np.ones(length, np.float32)
            right = length if isinstance(cell, Squares) else 2 * x
            close(cell(ms.Tensor(x)), right)
        assert len(cell.compile_cache) == 1


def _summed_while(x: Any, at: Any) -> Any:
    total = x.sum() * 0
    index = ms.Tensor(0, ms.int32)
    while index < at:
        total = total + x[index]
        index = index + 1
    return total


class Squares(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Σ x²."""

    def construct(self, x: Any) -> Any:
        return (x * x).sum()


class Gradient(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The gradient of another cell."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self.net = net

    def construct(self, x: Any) -> Any:
        return ms.grad(self.net)(x)


def row_40() -> None:
    """At inference, with given weights, the output is that of the formula."""
    net = Normed().set_train(False)
    net.norm.gamma.set_data(ms.Tensor([-2.0]))
    close(net(ms.Tensor(X[:, None])), -2 * X[:, None] / np.sqrt(1 + 1e-5))


def row_74() -> None:
    """What a ParameterTuple holds is registered, and has gradients."""

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            first = ms.Parameter(ms.Tensor([1.0, -1.0, 2.0]), name="first")
            second = ms.Parameter(ms.Tensor([3.0, 0.0, -2.0]), name="second")
            self.weights = ms.ParameterTuple([first, second])

        def construct(self, x: Any) -> Any:
            return (x * self.weights[0] * self.weights[1]).sum()

    net = Net()
    weights = net.trainable_params()
    assert [parameter.name for parameter in weights] == ["first", "second"]
    first, second = ms.grad(net, None, weights)(ms.Tensor(X))
    close(first, X * [3, 0, -2])
    close(second, X * [1, -1, 2])


def row_92() -> None:
    """The layers with a kernel size and BatchNorm2d take a step's gradients by one forward_fn."""
    net = nn.SequentialCell([nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU()]).set_train(False)

    def forward_fn(x: Any) -> Any:
        return net(x).sum()

    x = ms.Tensor(np.linspace(-2, 2, 16, dtype=np.float32).reshape(1, 1, 4, 4))
    value, gradients = ms.value_and_grad(forward_fn, None, net.trainable_params())(x)
    names = [parameter.name for parameter in net.trainable_params()]
    assert names == ["0.weight", "1.gamma", "1.beta"]
    # What goes back to gamma times gamma, which is 1, and to beta times beta, which is 0, is the value.
    close(gradients[1].sum(), value.asnumpy(), 1e-4)


class Masked(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """x where a mask, drawn before the call, is 1; the gradient is told by a tuple."""

    def construct(self, x: Any, mask: Any) -> Any:
        return x * mask

    def bprop(self, x: Any, mask: Any, out: Any, dout: Any) -> Any:
        return dout * mask * 10, ops.zeros_like(mask)


def row_75() -> None:
    """A tuple, one gradient an input; with the draw before the call, the gradient is of that draw."""
    mask = ms.Tensor(np.random.RandomState(3).choice([0.0, 1.0], 3), ms.float32)
    net = Masked()
    output = net(ms.Tensor(X), mask)
    by_x, by_mask = ms.grad(net, (0, 1))(ms.Tensor(X), mask)
    close(output, X * mask.asnumpy())
    close(by_x, 10 * mask.asnumpy())
    close(by_mask, [0, 0, 0])


# Operators


def row_42() -> None:
    """use_batch_statistics=True takes the batch at inference too, and moves its statistics."""
    norm = nn.BatchNorm1d(1, use_batch_statistics=True).set_train(False)
    output = norm(ms.Tensor(X[:, None]))
    close(output, (X[:, None] - X.mean()) / np.sqrt(X.var() + 1e-5), 1e-4)
    close(norm.moving_mean, [0.1 * X.mean()])


def row_41() -> None:
    """p named is the share that is dropped."""
    drop = nn.Dropout(p=0.2).set_train()
    kept = drop(ms.Tensor(-np.ones(20000, np.float32))).asnumpy()
    assert abs((kept == 0).mean() - 0.2) < 0.02
    close(kept[kept != 0], np.full((kept != 0).sum(), -1 / 0.8))


def row_43() -> None:
    """A momentum of 0.75 here is one of 0.25 in PyTorch, by its formula."""
    norm = nn.BatchNorm1d(1, momentum=0.75).set_train()
    norm(ms.Tensor(X[:, None]))
    close(norm.moving_mean, [0.25 * X.mean()])


def row_44() -> None:
    x = np.arange(-12.0, 12.0, dtype=np.float32).reshape(1, 2, 3, 4)
    close(ops.transpose(ms.Tensor(x), (3, 1, 2, 0)), x.transpose(3, 1, 2, 0))
    close(ms.Tensor(x).transpose(0, 3), x.swapaxes(0, 3))


def row_48() -> None:
    for size, kernel, stride in ((7, 3, 2), (8, 3, 2), (5, 5, 1), (9, 2, 3), (64, 3, 1)):
        layer = nn.Conv2d(1, 1, kernel, stride, pad_mode="valid")
        height = layer(ms.Tensor(np.ones((1, 1, size, size), np.float32))).shape[-1]
        assert height == (size - kernel) // stride + 1


row_69 = row_48


NINE = np.arange(9.0, dtype=np.float32).reshape(1, 1, 3, 3)


def row_45() -> None:
    """ceil_mode=True gives the figures, right for negative numbers too, and their gradient."""
    for x in (NINE, -NINE):
        pool = nn.MaxPool2d(2, 2, ceil_mode=True, pad_mode="pad")
        windows = [x[0, 0, i : i + 2, j : j + 2].max() for i in (0, 2) for j in (0, 2)]
        close(pool(ms.Tensor(x)), np.reshape(windows, (1, 1, 2, 2)))
        gradient = ms.grad(_sum_of(pool))(ms.Tensor(x)).asnumpy()
        assert sorted(x[gradient == 1]) == sorted(windows)


def _sum_of(layer: Any) -> Any:
    def function(x: Any) -> Any:
        return layer(x).sum()

    return function


def row_47() -> None:
    """padding=1 with a stride of 2, as PyTorch pads: value and gradient."""
    x = np.arange(16.0, dtype=np.float32).reshape(4, 4) - 7
    kernel = np.arange(-4.0, 5.0, dtype=np.float32).reshape(3, 3)
    layer = nn.Conv2d(
        1, 1, 3, 2, pad_mode="pad", padding=1, weight_init=ms.Tensor(kernel[None, None])
    )
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 1), (3, 3))[::2, ::2]
    right = (windows * kernel).sum((-1, -2))
    close(layer(ms.Tensor(x[None, None])), right[None, None])
    by_x = np.zeros((6, 6))
    for i in (0, 2):
        for j in (0, 2):
            by_x[i : i + 3, j : j + 3] += kernel
    gradient = ms.grad(_sum_of(layer))(ms.Tensor(x[None, None]))
    close(gradient, by_x[None, None, 1:-1, 1:-1])


def row_51() -> None:
    """With every setting said, GELU and layer norm have the derivatives of their formulas."""
    from math import erf

    exact = ms.grad(_sum_of(nn.GELU(approximate=False)))(ms.Tensor(X))
    share = np.array([(1 + erf(value / np.sqrt(2))) / 2 for value in X])
    close(exact, share + X * np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi))

    norm = nn.LayerNorm((3,), epsilon=1e-5)

    def cubed(x: Any) -> Any:
        return (norm(x) ** 3).sum()

    root = np.sqrt(X.var() + 1e-5)
    normal = (X - X.mean()) / root
    cotangent = 3 * normal**2
    right = (cotangent - cotangent.mean() - normal * (cotangent * normal).mean()) / root
    close(ms.grad(cubed)(ms.Tensor(X[None])), right[None], 1e-4)


def row_72() -> None:
    """An embedding set by hand starts as PyTorch's."""
    from mindspore.common.initializer import Normal

    for layer in (
        nn.Embedding(1000, 64, embedding_table=Normal(1.0)),
        ms.mint.nn.Embedding(1000, 64),
    ):
        (weight,) = layer.get_parameters()
        assert abs(weight.asnumpy().std() - 1) < 0.03
