"""The advice on loss scaling and training steps, in either style."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import amp, nn, ops

from tests.independent.advice.checks import close

X = np.array([[1.0, -2.0], [-0.5, 3.0], [2.0, 1.0], [-1.0, -1.5]], np.float32)
Y = np.array([[1.0], [-2.0], [0.5], [-1.0]], np.float32)
START = np.array([[0.5, -1.0]], np.float32)
RATE = 0.1


def dense() -> Any:
    """A dense layer from 2 to 1 without bias."""
    return nn.Dense(2, 1, ms.Tensor(START), has_bias=False)


def gradient_of(weight: Any, x: Any = X, y: Any = Y, *, mean: bool = True) -> Any:
    """The gradient of the squared errors' mean (or sum), by hand."""
    errors = x @ weight.T - y
    gradient = 2 * errors.T @ x
    return gradient / len(x) if mean else gradient


def after(steps: int) -> Any:
    """The weight after steps of SGD on the whole batch."""
    weight = START.astype(np.float64)
    for _ in range(steps):
        weight = weight - RATE * gradient_of(weight)
    return weight


def row_12() -> None:
    """Scaled inside the function that is differentiated, unscaled before the optimizer: a plain step."""
    net, scaler = dense(), amp.StaticLossScaler(1024.0)
    optimizer = nn.SGD(net.trainable_params(), RATE)

    def forward(x: Any, y: Any) -> Any:
        return scaler.scale(((net(x) - y) ** 2).mean())

    loss, gradients = ms.value_and_grad(forward, None, optimizer.parameters)(
        ms.Tensor(X), ms.Tensor(Y)
    )
    optimizer(scaler.unscale(gradients))
    close(net.weight, after(1))
    close(scaler.unscale(loss), ((X @ START.T - Y) ** 2).mean())


def row_13() -> None:
    """A step is left out where all_finite says False, and taken where it says True."""
    for scale, moves in ((np.inf, False), (np.nan, False), (1.0, True)):
        net = dense()
        optimizer = nn.SGD(net.trainable_params(), RATE)
        gradient = ms.Tensor(gradient_of(START) * np.float32(scale), ms.float32)
        if amp.all_finite((gradient,)):
            optimizer((gradient,))
        close(net.weight, after(1) if moves else START)


def row_14() -> None:
    """Cast to float32 before unscaling, a gradient of −1e-8 is kept; unscaled in float16 it is 0."""
    scaler = amp.StaticLossScaler(32768.0)
    weight = ms.Tensor([-1e-8 * 2**10, 1e-8 * 2**10], ms.float16)

    def scaled(x: Any, weight: Any) -> Any:
        return scaler.scale((x * weight * 2.0**-10).sum())

    gradient = ms.grad(scaled)(ms.Tensor([1.0, 1.0], ms.float16), weight)
    close(scaler.unscale((gradient.astype(ms.float32),))[0] * 1e8, [-1, 1], 2e-2)
    assert not scaler.unscale((gradient,))[0].asnumpy().any()


def row_15() -> None:
    """The step is skipped by its caller, then the scaler adjusts; after the window it grows back."""
    net, scaler = dense(), amp.DynamicLossScaler(1024.0, 2, 2)
    optimizer = nn.SGD(net.trainable_params(), RATE)
    finite = ms.Tensor(gradient_of(START), ms.float32)
    for gradient, scale, weight in (
        (finite * float("inf"), 512, START),
        (finite, 512, after(1)),
        (finite, 1024, after(1) - RATE * gradient_of(START)),
    ):
        is_finite = amp.all_finite((gradient,))
        if is_finite:
            optimizer((gradient,))
        scaler.adjust(is_finite)
        close(scaler.scale_value, scale)
        close(net.weight, weight)


def row_16() -> None:
    """What clip_by_global_norm returns is passed on: the step is that of the clipped gradient."""
    net = dense()
    optimizer = nn.SGD(net.trainable_params(), RATE)
    optimizer(ops.clip_by_global_norm((ms.Tensor([[-3.0, 4.0]]),)))
    close(net.weight, START - RATE * np.array([[-3, 4]]) / 5)


def row_17() -> None:
    """Divided by the number of micro-batches, gradients of a mean add up to the whole batch's."""
    net = dense()

    def forward(x: Any, y: Any) -> Any:
        return ((net(x) - y) ** 2).mean() / 2

    gradient = ms.grad(forward, None, net.trainable_params())
    parts = [gradient(ms.Tensor(X[half]), ms.Tensor(Y[half]))[0] for half in HALVES]
    close(parts[0] + parts[1], gradient_of(START))


HALVES = (slice(0, 2), slice(2, 4))


def _step(net: Any, optimizer: Any) -> Any:
    def forward(x: Any, y: Any) -> Any:
        return ((net(x) - y) ** 2).mean()

    value_and_gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        loss, gradients = value_and_gradient(x, y)
        optimizer(gradients)
        return loss

    return step


def row_19() -> None:
    """Three steps with nothing zeroed between them."""
    net = dense()
    step = _step(net, nn.SGD(net.trainable_params(), RATE))
    for _ in range(3):
        step(ms.Tensor(X), ms.Tensor(Y))
    close(net.weight, after(3))


def row_21() -> None:
    """The whole step decorated is compiled into one graph, and has the same weights.

    Its time is not a test's matter.
    """
    from mindspore.graph import api

    net = dense()
    step = ms.jit(_step(net, nn.SGD(net.trainable_params(), RATE)))
    before = len(api.ms_compile_cache)
    for _ in range(2):
        step(ms.Tensor(X), ms.Tensor(Y))
    assert len(api.ms_compile_cache) == before + 1
    close(net.weight, after(2))


row_20 = row_21


class NormAndDense(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Batch norm, then a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.fc = dense()

    def construct(self, x: Any) -> Any:
        return self.fc(self.norm(x))


def row_52() -> None:
    """One forward a step: batch norm's mean moves by a tenth of the batch's, once."""
    for train in (_one_value_and_grad, _train_one_step_cell):
        net = NormAndDense().set_train()
        train(net, nn.SGD(net.trainable_params(), RATE))
        close(net.norm.moving_mean, 0.1 * X.mean(0))


def _one_value_and_grad(net: Any, optimizer: Any) -> None:
    _step(net, optimizer)(ms.Tensor(X), ms.Tensor(Y))


def _train_one_step_cell(net: Any, optimizer: Any) -> None:
    with_loss = nn.WithLossCell(net, nn.MSELoss())
    nn.TrainOneStepCell(with_loss, optimizer).set_train()(ms.Tensor(X), ms.Tensor(Y))


def row_86() -> None:
    """A smaller scale takes the overflow away; a dynamic scaler comes to it by itself."""
    start = ms.Tensor([-60.0, 60.0], ms.float16)

    def squares(x: Any, scale: Any) -> Any:
        return (x * x * scale).sum()

    gradient = ms.grad(squares)
    assert not amp.all_finite((gradient(start, ms.Tensor(1024.0, ms.float16)),))
    close(gradient(start, ms.Tensor(1.0, ms.float16)), [-120, 120])

    scaler = amp.DynamicLossScaler(1024.0, 2, 100)
    for _ in range(4):
        scale = scaler.scale_value.astype(ms.float16)
        is_finite = amp.all_finite((gradient(start, scale),))
        scaler.adjust(is_finite)
    assert is_finite
    assert float(scaler.scale_value.asnumpy()) < 1024


def row_94() -> None:
    """A sound loss with an infinite gradient is found by all_finite of the gradients."""

    def root(x: Any) -> Any:
        return ops.sqrt(x).sum()

    value, gradient = ms.value_and_grad(root)(ms.Tensor([0.0, 4.0]))
    close(value, 2)
    assert not amp.all_finite((gradient,))
    assert amp.all_finite((ms.grad(root)(ms.Tensor([1.0, 4.0])),))


def row_76() -> None:
    """Without amp_level a cell cast by to_float computes in its type, and the others in theirs."""

    class Two(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.half = dense().to_float(ms.float16)
            self.whole = nn.Dense(1, 1, ms.Tensor([[1.0]]), has_bias=False)

        def construct(self, x: Any) -> Any:
            half = self.half(x)
            return half, self.whole(half.astype(ms.float32))

    net = Two()

    def second_output(x: Any) -> Any:
        return net(x)[1].sum()

    ms.Model(net)
    half, whole = net(ms.Tensor(X))
    assert (half.dtype, whole.dtype) == (ms.float16, ms.float32)
    close(whole, X @ START.T, 1e-3)
    gradient = ms.grad(second_output, None, net.trainable_params())(ms.Tensor(X))[0]
    close(gradient, X.sum(0, keepdims=True), 1e-3)


def row_79() -> None:
    """A copy keeps the output where the array is written to."""
    output = dense()(ms.Tensor(X))
    kept = output.asnumpy().copy()
    output.asnumpy()[:] = -7.0
    close(kept, X @ START.T)


def row_53() -> None:
    """Parameters chosen by name are the ones that an optimizer moves."""
    net = NormAndDense()
    chosen = [parameter for parameter in net.trainable_params() if "norm" not in parameter.name]
    assert [parameter.name for parameter in chosen] == ["fc.weight"]
    optimizer = nn.SGD(chosen, RATE)
    optimizer((ms.Tensor([[1.0, -1.0]]),))
    close(net.fc.weight, START - RATE * np.array([[1, -1]]))
    close(net.norm.gamma, [1, 1])


def row_68() -> None:
    """Of a net with a convolution, all but its parameters."""

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 2, has_bias=True)
            self.fc = nn.Dense(2, 1)

    names = [each.name for each in Net().trainable_params() if "conv" not in each.name]
    assert names == ["fc.weight", "fc.bias"]
