"""The advice on surprises of MindSpore, in either style, with gradients and negative numbers."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from tests.independent.advice import mindspore_networks
from tests.independent.advice.checks import close, reproducer

X = np.array([-2.0, -0.5, 0.5, 3.0], np.float32)


def tensor(values: Any = X, dtype: Any = ms.float32) -> Any:
    """A tensor of float32, if nothing else is said."""
    return ms.Tensor(np.asarray(values), dtype)


# x as a matrix of one column, and a copy for one position, as the claims on them advise.
surprise_hessian_of_product = mindspore_networks.row_84_on_tape
surprise_same_tensor_twice = mindspore_networks.row_31


def surprise_in_place_nothing() -> None:
    """y = y * 2.0; copy_ and h[0] = … change the tensor; other optimizers learn."""

    def doubled(x: Any) -> Any:
        y = ops.exp(x)
        y = y * 2.0
        return y.sum()

    close(ms.grad(doubled)(tensor()), 2 * np.exp(X))

    def first_written(x: Any) -> Any:
        h = x * x
        h[0] = 9.0
        return h.sum()

    value, gradient = ms.value_and_grad(first_written)(tensor())
    close(value, 9 + (X[1:] ** 2).sum())
    close(gradient, np.where(np.arange(4) == 0, 0, 2 * X))

    for module in (nn, ms.experimental.optim):
        weight = ms.Parameter(tensor(), name="weight")
        module.SGD([weight], 0.1)((tensor(X),))
        close(weight, 0.9 * X)


surprise_slice_write = surprise_in_place_nothing  # writes through the original


def surprise_in_place_nothing_on_tape() -> None:
    x = tensor()
    x.copy_(tensor(-X))
    close(x, -X)


class Scaled(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """x times a number that is held in a Parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = ms.Parameter(tensor(2.0), requires_grad=False)

    def construct(self, x: Any) -> Any:
        return (x * self.scale).sum()


def surprise_captured_values() -> None:
    """A Parameter, or an input, is seen when it changes; MindSpore's operators draw anew."""
    net = Scaled()
    gradient = ms.grad(net)
    close(gradient(tensor()), [2] * 4)
    net.scale.set_data(tensor(-5.0))
    close(gradient(tensor()), [-5] * 4)

    def by_input(x: Any, scale: Any) -> Any:
        return (x * scale).sum()

    of_both = ms.grad(by_input)
    for scale in (2.0, -5.0):
        close(of_both(tensor(), tensor(scale)), [scale] * 4)

    def noisy(x: Any) -> Any:
        return (x * ops.standard_normal((4,))).sum()

    draw = ms.grad(noisy)
    assert len({float(draw(tensor()).asnumpy()[0]) for _ in range(5)}) == 5


LAMBDA, ALPHA = 1.0507009873554805, 1.6732632423543772


def surprise_selu() -> None:
    """SELU written out, at numbers of which exp is infinite too."""

    def selu(x: Any) -> Any:
        below = ALPHA * (ops.exp(ops.where(x > 0, ops.zeros_like(x), x)) - 1)
        return (LAMBDA * ops.where(x > 0, x, below)).sum()

    x = np.array([-200.0, -2.0, -0.5, 0.5, 100.0], np.float32)
    low = np.minimum(x, 0)
    value, gradient = ms.value_and_grad(selu)(tensor(x))
    close(value, LAMBDA * np.where(x > 0, x, ALPHA * np.expm1(low)).sum())
    close(gradient, LAMBDA * np.where(x > 0, 1, ALPHA * np.exp(low)))


def surprise_saturated_tanh() -> None:
    def tanh(x: Any) -> Any:
        return (2 * ops.sigmoid(2 * x) - 1).sum()

    x = np.array([-90.0, -5.0, -1.0, 1.0, 4.0, 5.0, 90.0], np.float32)
    value, gradient = ms.value_and_grad(tanh)(tensor(x))
    close(value, np.tanh(x).sum(), 1e-6)
    right = 1 / np.cosh(x.astype(np.float64)) ** 2
    np.testing.assert_allclose(gradient.asnumpy(), right, rtol=2e-2, atol=1e-7)
    assert (gradient.asnumpy() >= 0).all()


def surprise_lost_digits() -> None:
    def log1p(x: Any) -> Any:
        return (2 * ops.atanh(x / (2 + x))).sum()

    def expm1(x: Any) -> Any:
        return (2 * ops.sinh(x / 2) * ops.exp(x / 2)).sum()

    for x in (1e-6, -1e-6, 1e-3, -1e-3):
        of_log, by_log = ms.value_and_grad(log1p)(tensor([x]))
        of_exp, by_exp = ms.value_and_grad(expm1)(tensor([x]))
        found = [float(each.asnumpy().sum()) for each in (of_log, by_log, of_exp, by_exp)]
        right = [np.log1p(x), 1 / (1 + x), np.expm1(x), np.exp(x)]
        np.testing.assert_allclose(found, right, rtol=1e-5)

    of_sigmoid = reproducer("lost_digits").logsigmoid_otherwise
    points = np.array([-3.0, 0.0, 3.0, 18.0], np.float32)
    value, gradient = ms.value_and_grad(of_sigmoid)(tensor(points))
    np.testing.assert_allclose(value.asnumpy(), -np.logaddexp(0, -points), rtol=1e-4)
    np.testing.assert_allclose(gradient.asnumpy(), 1 / (1 + np.exp(points)), rtol=1e-4)


def surprise_unequal_outputs() -> None:
    """What the reproducer writes instead has value and gradient everywhere, equal for equal elements."""
    x = np.array([-200.0, -3.0, -1e-5, 0.0, 1e-5, 3.0, 200.0], np.float32)
    low = np.minimum(x, 0).astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-x.astype(np.float64)))
    right = {
        "softplus": (np.logaddexp(0, x), sigmoid),
        "logsigmoid": (-np.logaddexp(0, -x), 1 - sigmoid),
        "elu": (np.where(x > 0, x, np.expm1(low)), np.where(x > 0, 1, np.exp(low))),
    }
    for name, function in reproducer("unequal_outputs").OTHERWISE.items():
        value, slope = right[name]
        for point, expected, gradient in zip(x, value, slope, strict=True):
            equal = tensor(np.full(9, point))
            found, by_x = ms.value_and_grad(function)(equal)
            for outcome, wanted in ((found, expected), (by_x, gradient)):
                assert len(set(outcome.asnumpy().tolist())) == 1
                np.testing.assert_allclose(outcome.asnumpy()[0], wanted, 1e-4, 1e-7, err_msg=name)


def surprise_double_precision() -> None:
    """As a tensor of float64, 0.1 has all its digits; so has 0.125 as a number."""
    tenth = tensor(0.1, ms.float64)

    def scaled(x: Any) -> Any:
        return (x * tenth).sum()

    def by_eighth(x: Any) -> Any:
        return (x * 0.125).sum()

    x = tensor([-1.0], ms.float64)
    np.testing.assert_allclose(ms.grad(scaled)(x).asnumpy(), [0.1], rtol=1e-15)
    np.testing.assert_allclose(ms.grad(by_eighth)(x).asnumpy(), [0.125], rtol=1e-15)


def surprise_single_precision_inside() -> None:
    """exp, log and where keep all digits of float64, in gradients too."""

    def softplus(x: Any) -> Any:
        return ops.where(x > 0, x + ops.log(1 + ops.exp(-x)), ops.log(1 + ops.exp(x))).sum()

    x = np.array([-3.0, -0.1, 2.0])
    value, gradient = ms.value_and_grad(softplus)(tensor(x, ms.float64))
    np.testing.assert_allclose(float(value.asnumpy()), np.logaddexp(0, x).sum(), rtol=1e-14)
    np.testing.assert_allclose(gradient.asnumpy(), 1 / (1 + np.exp(-x)), rtol=1e-14)


def surprise_addcmul_shape() -> None:
    def written_out(a: Any, b: Any, c: Any) -> Any:
        return (a + -0.5 * b * c).sum()

    full, row = -np.ones((3, 2), np.float32), np.array([1.0, -2.0], np.float32)
    by_a, by_b, by_c = ms.grad(written_out, (0, 1, 2))(tensor(full), tensor(full), tensor(row))
    close(by_a, np.ones((3, 2)))
    close(by_b, np.tile(-0.5 * row, (3, 1)))
    close(by_c, [1.5, 1.5])


def surprise_label_gradient() -> None:
    def loss(z: Any, y: Any) -> Any:
        ones = ops.ones_like(z)
        return ops.binary_cross_entropy_with_logits(z, y, ones, ones, reduction="sum")

    y = np.array([0.0, 1.0, 0.3, 1.0], np.float32)
    by_z, by_y = ms.grad(loss, (0, 1))(tensor(), tensor(y))
    close(by_z, 1 / (1 + np.exp(-X)) - y)
    close(by_y, -X)


def surprise_masked_row() -> None:
    """Clamped, a row that is masked out has equal weights on every type and axis."""

    def last(x: Any) -> Any:
        return ops.softmax(ops.clamp(x, -1e30), -1)

    def first(x: Any) -> Any:
        return ops.softmax(ops.clamp(x, -1e30), 0)

    for dtype in (ms.float32, ms.float64):
        for function, shape in ((last, (1, 3)), (first, (3, 1))):
            value, gradient = ms.value_and_grad(function)(tensor(np.full(shape, -np.inf), dtype))
            close(value, np.full(shape, 1 / 3))
            close(gradient, np.zeros(shape))


def surprise_nan_minimum() -> None:
    def bounded(x: Any) -> Any:
        return ops.where(ops.isnan(x), x, ops.minimum(x, tensor(2.0)))

    x = np.array([np.nan, -3.0, 5.0], np.float32)
    close(bounded(tensor(x))[1:], [-3, 2])
    assert np.isnan(bounded(tensor(x)).asnumpy()[0])
    close(ms.grad(bounded)(tensor(x)), [1, 1, 0])


def surprise_empty_mean() -> None:
    def guarded(x: Any) -> Any:
        if x.size == 0:
            return tensor(0.0)
        return x.mean()

    close(guarded(tensor(np.zeros(0))), 0)
    close(guarded(tensor()), X.mean())
    close(ms.grad(guarded)(tensor()), [0.25] * 4)


def surprise_power_of_zero() -> None:
    """Where x is 0 the power is left out, by two calls of where; negative bases have theirs."""

    def power(x: Any, n: Any) -> Any:
        base = ops.where(x == 0, ops.ones_like(x), x)
        return ops.where(x == 0, ops.where(n == 0, ops.ones_like(x), x * 0), base**n).sum()

    x = np.array([0.0, -2.0, 3.0], np.float32)
    close(ms.grad(power)(tensor(x), tensor(0.0)), [0, 0, 0])
    close(ms.grad(power)(tensor(x), tensor(2.0))[1:], 2 * x[1:])


def surprise_integer_input() -> None:
    def quarter(x: Any) -> Any:
        return (x * 0.25).sum()

    for x in (ms.Tensor([1.0, -2.0]), ms.Tensor([1, -2], ms.float32)):
        gradient = ms.grad(quarter)(x)
        assert gradient.dtype == ms.float32
        close(gradient, [0.25, 0.25])


def surprise_unused_parameter() -> None:
    """What is not given to the optimizer rests."""
    used, unused = (ms.Parameter(tensor([-1.0]), name=name) for name in ("used", "unused"))
    nn.SGD([used], 0.1, weight_decay=0.1)((tensor([0.0]),))
    close(used, [-0.99])
    close(unused, [-1])


def surprise_first_steps() -> None:
    """experimental AdamW takes PyTorch's first step; a lower eps does for tiny gradients of Adam."""
    weight = ms.Parameter(tensor([1.0]), name="weight")
    ms.experimental.optim.AdamW([weight], 0.1, weight_decay=0.0)((tensor([-1e-3]),))
    close(weight, [1 + 0.1], 1e-4)
    weight = ms.Parameter(tensor([1.0]), name="weight")
    nn.Adam([weight], 0.1, eps=1e-12)((tensor([-1e-8]),))
    close(weight, [1 + 0.1], 1e-2)


def surprise_zero_norm() -> None:
    """Written out with 1e-12 under the root, norm and deviation have gradients at equal elements."""

    def norm(x: Any) -> Any:
        return ops.sqrt((x * x).sum() + 1e-12)

    def deviation(x: Any) -> Any:
        return ops.sqrt(((x - x.mean()) ** 2).mean() + 1e-12)

    close(ms.grad(norm)(tensor([0.0, 0.0])), [0, 0])
    close(ms.grad(norm)(tensor([-3.0, 4.0])), [-0.6, 0.8])
    close(ms.grad(deviation)(tensor([-2.0, -2.0])), [0, 0])
    close(ms.grad(deviation)(tensor([-1.0, 1.0])), [-0.5, 0.5])
    close(ms.grad(ops.atan2)(tensor([0.002]), tensor([-0.002])), [-250], 1e-4)


def surprise_loss_reduction() -> None:
    """A mean has the gradient of the mean; so has nn.CrossEntropyLoss by default."""

    def by_reduction(z: Any) -> Any:
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        return loss(z, tensor([0, 1], ms.int32))

    def by_default(z: Any) -> Any:
        return nn.CrossEntropyLoss()(z, tensor([0, 1], ms.int32))

    z = np.array([[-1.0, 2.0], [0.5, -3.0]], np.float32)
    share = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    for loss in (by_reduction, by_default):
        close(ms.grad(loss)(tensor(z)), (share - np.eye(2)) / 2)


def surprise_padding_index() -> None:
    """Masked, the row of padding has no gradient, and the others have theirs."""
    layer = nn.Embedding(3, 2)
    indices = ms.Tensor([0, 2, 0], ms.int32)

    def masked() -> Any:
        return (layer(indices) * (indices != 0).astype(ms.float32).expand_dims(-1) * -2.0).sum()

    (gradient,) = ms.grad(masked, None, layer.trainable_params())()
    close(
        ops.stack([gradient]) if isinstance(gradient, tuple) else gradient,
        [[0, 0], [0, 0], [-2, -2]],
    )
