"""The advice on surprises of MindSpore, in either style, with gradients and negative numbers."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from tests.independent.advice.checks import close, reproducer

X = np.array([-2.0, -0.5, 0.5, 3.0], np.float32)


def tensor(values: Any = X, dtype: Any = ms.float32) -> Any:
    """A tensor of float32, if nothing else is said."""
    return ms.Tensor(np.asarray(values), dtype)


def cube_of_sum(x: Any) -> Any:
    """(Σ x)³."""
    return x.sum() ** 3


def surprise_nested_sum_in_graph() -> None:
    close(ms.grad(ms.grad(cube_of_sum))(tensor()), [24 * X.sum()] * 4)


def surprise_nested_sum_on_tape() -> None:
    """@ms.jit on the function that takes both derivatives."""

    def second(x: Any) -> Any:
        return ms.grad(ms.grad(cube_of_sum))(x)

    close(ms.jit(second)(tensor()), [24 * X.sum()] * 4)


A = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def surprise_hessian_of_product() -> None:
    """A matrix of one column; the Hessian is what differences of the gradient are."""
    matrix = tensor(A)

    def gradient(x: Any) -> Any:
        return ms.grad(_tanh_of_column)(x, matrix)

    x = np.array([-0.3, 0.5], np.float32)
    hessian = ms.jacrev(gradient)(tensor(x)).asnumpy()
    step = 1e-2
    for place in range(2):
        moved = step * np.eye(2, dtype=np.float32)[place]
        change = gradient(tensor(x + moved)) - gradient(tensor(x - moved))
        close(change.asnumpy() / (2 * step), hessian[place], 1e-2)


def _tanh_of_column(x: Any, matrix: Any) -> Any:
    return ops.tanh(ops.matmul(matrix, x.reshape(2, 1))).sum()


def surprise_product_second() -> None:
    """Elements multiplied one by one, at a zero and at negative numbers."""

    def product(x: Any) -> Any:
        return x[0:1] * x[1:2] * x[2:3]

    def summed_slope(x: Any) -> Any:
        return ms.grad(product)(x).sum()

    for a, b, c in ((-1.0, 2.0, 3.0), (0.0, -2.0, 3.0)):
        close(ms.grad(summed_slope)(tensor([a, b, c])), [b + c, a + c, a + b])


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


def surprise_in_place_nothing_on_tape() -> None:
    x = tensor()
    x.copy_(tensor(-X))
    close(x, -X)


def surprise_in_place_exp() -> None:
    def raised(x: Any) -> Any:
        y = ops.exp(x)
        y = y + 1.0
        return y.sum()

    value, gradient = ms.value_and_grad(raised)(tensor())
    close(value, (np.exp(X) + 1).sum())
    close(gradient, np.exp(X))


class NormCubed(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Σ of batch norm cubed."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(1)

    def construct(self, x: Any) -> Any:
        return (self.norm(x) ** 3).sum()


def surprise_training_mode() -> None:
    """ms.grad again after set_train; or a function for each mode, made in its mode."""
    x = X[:, None]
    root = np.sqrt(x.var() + 1e-5)
    normal = (x - x.mean()) / root
    cotangent = 3 * normal**2
    trained = (cotangent - cotangent.mean() - normal * (cotangent * normal).mean()) / root
    evaluated = 3 * x**2 / (1 + 1e-5) ** 1.5

    net = NormCubed().set_train(False)
    close(ms.grad(net)(tensor(x)), evaluated)
    net.set_train(True)
    close(ms.grad(net)(tensor(x)), trained, 1e-3)

    net = NormCubed().set_train(False)
    of_evaluation = ms.grad(net)
    close(of_evaluation(tensor(x)), evaluated)
    net.set_train(True)
    of_training = ms.grad(net)
    close(of_training(tensor(x)), trained, 1e-3)


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


def surprise_slice_write() -> None:
    def written(x: Any) -> Any:
        h = x * 1.0
        h[1] = 9.0
        return (h * h).sum()

    value, gradient = ms.value_and_grad(written)(tensor())
    close(value, (np.where(np.arange(4) == 1, 9, X) ** 2).sum())
    close(gradient, np.where(np.arange(4) == 1, 0, 2 * X))


def surprise_view_write() -> None:
    """Through the original, after any reshape."""

    def written(x: Any) -> Any:
        h = (x * 1.0).reshape(2, 2)
        h[0, 1] = 9.0
        return (h * h).sum()

    value, gradient = ms.value_and_grad(written)(tensor())
    close(value, (np.where(np.arange(4) == 1, 9, X) ** 2).sum())
    close(gradient, np.where(np.arange(4) == 1, 0, 2 * X))


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


def surprise_same_tensor_twice() -> None:
    """A copy for one position; a function of one argument for the sum."""

    def product(a: Any, b: Any) -> Any:
        return (a * b).sum()

    def squares(x: Any) -> Any:
        return product(x, x)

    x = tensor()
    close(ms.grad(product)(x, x.copy()), X)
    close(ms.grad(squares)(x), 2 * X)


def surprise_decay_by_name() -> None:
    """All parameters as one group decay alike, gamma and beta too."""
    named = [ms.Parameter(tensor([-1.0]), name=name) for name in ("weight", "gamma", "beta")]
    groups = [{"params": named, "weight_decay": 0.1}]
    nn.SGD(groups, 0.1)(tuple(tensor([0.0]) for _ in named))
    for each in named:
        close(each, [-0.99])


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


def surprise_relu_at_zero() -> None:
    """The operator ported, relu for relu, has slope 0 at 0."""
    close(ms.grad(_relu)(tensor([-1.0, 0.0, 2.0])), [0, 0, 1])


def _relu(x: Any) -> Any:
    return ops.relu(x).sum()


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


def surprise_nested_index() -> None:
    """w[..., 0] and w[0:1] can be differentiated twice."""

    def by_dots(w: Any) -> Any:
        return (w[..., 0] ** 3).sum()

    def by_slice(w: Any) -> Any:
        return (w[0:1] ** 3).sum()

    for function in (by_dots, by_slice):
        close(ms.grad(ms.grad(function))(tensor([-2.0, 3.0])), [-12, 0])


def surprise_tuple_input() -> None:
    """Tensors as arguments of their own have gradients of their own."""

    def product(a: Any, b: Any) -> Any:
        return (a * b).sum()

    by_a, by_b = ms.grad(product, (0, 1))(tensor(), tensor(-2 * X))
    close(by_a, -2 * X)
    close(by_b, X)


def surprise_slopes_at_bounds() -> None:
    """abs(x).max() shares a tie among the greatest."""

    def greatest(x: Any) -> Any:
        return ops.abs(x).max()

    close(ms.grad(greatest)(tensor([-3.0, 3.0, 1.0])), [-0.5, 0.5, 0])


def surprise_rrelu_evaluation() -> None:
    def evaluated(x: Any) -> Any:
        return ops.leaky_relu(x, (1 / 8 + 1 / 3) / 2).sum()

    close(ms.grad(evaluated)(tensor()), np.where(X > 0, 1, 11 / 48))


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
