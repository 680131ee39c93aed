"""Functions with a kink, in MindSpore; the same names as in PyTorch's module of them, compiled from
this file.
"""

from mindspore import Tensor, ops


def relu(x: Tensor) -> Tensor:
    return ops.relu(x)


def relu_by_maximum(x: Tensor) -> Tensor:
    return ops.maximum(x, ops.zeros_like(x))


def relu_by_clamp(x: Tensor) -> Tensor:
    return ops.clamp(x, min=0.0)


def relu_by_where(x: Tensor) -> Tensor:
    return ops.where(x > 0, x, 0.0)


def relu6(x: Tensor) -> Tensor:
    return ops.relu6(x)


def leaky_relu(x: Tensor) -> Tensor:
    return ops.leaky_relu(x, 0.1)


def absolute(x: Tensor) -> Tensor:
    return ops.abs(x)


def hardtanh(x: Tensor) -> Tensor:
    return ops.hardtanh(x, -1.0, 1.0)


def hardsigmoid(x: Tensor) -> Tensor:
    return ops.hardsigmoid(x)


def hardswish(x: Tensor) -> Tensor:
    return ops.hardswish(x)


def softshrink(x: Tensor) -> Tensor:
    return ops.softshrink(x, 0.5)


def hardshrink(x: Tensor) -> Tensor:
    return ops.hardshrink(x, 0.5)


def clamp(x: Tensor) -> Tensor:
    return ops.clamp(x, 0.0, 1.0)


def sign(x: Tensor) -> Tensor:
    return ops.sign(x)


def floor(x: Tensor) -> Tensor:
    return ops.floor(x)


def l1_loss(x: Tensor, y: Tensor) -> Tensor:
    return ops.l1_loss(x, y)


def maximum(a: Tensor, b: Tensor) -> Tensor:
    return ops.maximum(a, b)


def minimum(a: Tensor, b: Tensor) -> Tensor:
    return ops.minimum(a, b)


def max_of_all(x: Tensor) -> Tensor:
    return x.max()


def max_along_axis(x: Tensor) -> Tensor:
    return ops.max(x, 0)[0]


def amax(x: Tensor) -> Tensor:
    return ops.amax(x, 0)


def max_pool(x: Tensor) -> Tensor:
    return ops.max_pool2d(x, 2, 2)


def median(x: Tensor) -> Tensor:
    return ops.median(x, 0)[0]


def topk(x: Tensor) -> Tensor:
    return ops.topk(x, 1)[0]


def cummax(x: Tensor) -> Tensor:
    return ops.cummax(x, 0)[0]


def norm_inf(x: Tensor) -> Tensor:
    return ops.norm(x, float("inf"))


def sqrt(x: Tensor) -> Tensor:
    return ops.sqrt(x)


def power_half(x: Tensor) -> Tensor:
    return x**0.5


def power_zero(x: Tensor) -> Tensor:
    return x**0.0


def power_of_zero(x: Tensor, y: Tensor) -> Tensor:
    return ops.pow(x, y)


def log(x: Tensor) -> Tensor:
    return ops.log(x)


def arccos(x: Tensor) -> Tensor:
    return ops.acos(x)


def norm(x: Tensor) -> Tensor:
    return ops.norm(x)


def norm_by_hand(x: Tensor) -> Tensor:
    return ops.sqrt((x * x).sum())


def norm_one(x: Tensor) -> Tensor:
    return ops.norm(x, 1)


def std(x: Tensor) -> Tensor:
    return ops.std(x)


def atan2(y: Tensor, x: Tensor) -> Tensor:
    return ops.atan2(y, x)


def xlogy(x: Tensor, y: Tensor) -> Tensor:
    return ops.xlogy(x, y)


def cosine_similarity(x: Tensor, y: Tensor) -> Tensor:
    return ops.cosine_similarity(x, y, 0)


def product(x: Tensor) -> Tensor:
    return ops.prod(x)


def self_division(x: Tensor) -> Tensor:
    return x / x


def where_log(x: Tensor) -> Tensor:
    return ops.where(x > 0, ops.log(x), 0.0)


def where_sqrt(x: Tensor) -> Tensor:
    return ops.where(x > 0, ops.sqrt(x), 0.0)


def where_divide(x: Tensor) -> Tensor:
    return ops.where(x != 0, 1 / x, 0.0)


def where_twice(x: Tensor) -> Tensor:
    return ops.where(x > 0, ops.log(ops.where(x > 0, x, 1.0)), 0.0)


def masked_fill(x: Tensor) -> Tensor:
    return ops.masked_fill(ops.log(x), x <= 0, 0.0)


def times_zero(x: Tensor) -> Tensor:
    return ops.sqrt(x) * 0.0


def nan_to_num(x: Tensor) -> Tensor:
    return ops.nan_to_num(ops.log(x) * x)


def branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        return ops.log(x)
    return ops.zeros_like(x)


def clamp_then_log(x: Tensor) -> Tensor:
    return ops.log(ops.clamp(x, min=1e-6))


def relu_of_nan(x: Tensor) -> Tensor:
    return ops.relu(x)


def clamp_of_nan(x: Tensor) -> Tensor:
    return ops.clamp(x, 0.0, 1.0)


def max_with_nan(a: Tensor, b: Tensor) -> Tensor:
    return ops.maximum(a, b)
