"""Functions with a kink, in PyTorch; the same names as in the MindSpore module of them."""

import torch
from torch import Tensor
from torch.nn import functional


def relu(x: Tensor) -> Tensor:
    return torch.relu(x)


def relu_by_maximum(x: Tensor) -> Tensor:
    return torch.maximum(x, torch.zeros_like(x))


def relu_by_clamp(x: Tensor) -> Tensor:
    return torch.clamp(x, min=0.0)


def relu_by_where(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, 0.0)


def relu6(x: Tensor) -> Tensor:
    return functional.relu6(x)


def leaky_relu(x: Tensor) -> Tensor:
    return functional.leaky_relu(x, 0.1)


def absolute(x: Tensor) -> Tensor:
    return torch.abs(x)


def hardtanh(x: Tensor) -> Tensor:
    return functional.hardtanh(x, -1.0, 1.0)


def hardsigmoid(x: Tensor) -> Tensor:
    return functional.hardsigmoid(x)


def hardswish(x: Tensor) -> Tensor:
    return functional.hardswish(x)


def softshrink(x: Tensor) -> Tensor:
    return functional.softshrink(x, 0.5)


def hardshrink(x: Tensor) -> Tensor:
    return functional.hardshrink(x, 0.5)


def clamp(x: Tensor) -> Tensor:
    return torch.clamp(x, 0.0, 1.0)


def sign(x: Tensor) -> Tensor:
    return torch.sign(x)


def floor(x: Tensor) -> Tensor:
    return torch.floor(x)


def l1_loss(x: Tensor, y: Tensor) -> Tensor:
    return functional.l1_loss(x, y)


def maximum(a: Tensor, b: Tensor) -> Tensor:
    return torch.maximum(a, b)


def minimum(a: Tensor, b: Tensor) -> Tensor:
    return torch.minimum(a, b)


def max_of_all(x: Tensor) -> Tensor:
    return x.max()


def max_along_axis(x: Tensor) -> Tensor:
    return torch.max(x, 0)[0]


def amax(x: Tensor) -> Tensor:
    return torch.amax(x, 0)


def max_pool(x: Tensor) -> Tensor:
    return functional.max_pool2d(x, 2, 2)


def median(x: Tensor) -> Tensor:
    return torch.median(x, 0)[0]


def topk(x: Tensor) -> Tensor:
    return torch.topk(x, 1)[0]


def cummax(x: Tensor) -> Tensor:
    return torch.cummax(x, 0)[0]


def norm_inf(x: Tensor) -> Tensor:
    return torch.norm(x, float("inf"))


def sqrt(x: Tensor) -> Tensor:
    return torch.sqrt(x)


def power_half(x: Tensor) -> Tensor:
    return x**0.5


def power_zero(x: Tensor) -> Tensor:
    return x**0.0


def power_of_zero(x: Tensor, y: Tensor) -> Tensor:
    return torch.pow(x, y)


def log(x: Tensor) -> Tensor:
    return torch.log(x)


def arccos(x: Tensor) -> Tensor:
    return torch.acos(x)


def norm(x: Tensor) -> Tensor:
    return torch.norm(x)


def norm_by_hand(x: Tensor) -> Tensor:
    return torch.sqrt((x * x).sum())


def norm_one(x: Tensor) -> Tensor:
    return torch.norm(x, 1)


def std(x: Tensor) -> Tensor:
    return torch.std(x)


def atan2(y: Tensor, x: Tensor) -> Tensor:
    return torch.atan2(y, x)


def xlogy(x: Tensor, y: Tensor) -> Tensor:
    return torch.xlogy(x, y)


def cosine_similarity(x: Tensor, y: Tensor) -> Tensor:
    return functional.cosine_similarity(x, y, 0)


def product(x: Tensor) -> Tensor:
    return torch.prod(x)


def self_division(x: Tensor) -> Tensor:
    return x / x


def where_log(x: Tensor) -> Tensor:
    return torch.where(x > 0, torch.log(x), 0.0)


def where_sqrt(x: Tensor) -> Tensor:
    return torch.where(x > 0, torch.sqrt(x), 0.0)


def where_divide(x: Tensor) -> Tensor:
    return torch.where(x != 0, 1 / x, 0.0)


def where_twice(x: Tensor) -> Tensor:
    return torch.where(x > 0, torch.log(torch.where(x > 0, x, 1.0)), 0.0)


def masked_fill(x: Tensor) -> Tensor:
    return torch.masked_fill(torch.log(x), x <= 0, 0.0)


def times_zero(x: Tensor) -> Tensor:
    return torch.sqrt(x) * 0.0


def nan_to_num(x: Tensor) -> Tensor:
    return torch.nan_to_num(torch.log(x) * x)


def branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        return torch.log(x)
    return torch.zeros_like(x)


def clamp_then_log(x: Tensor) -> Tensor:
    return torch.log(torch.clamp(x, min=1e-6))


def relu_of_nan(x: Tensor) -> Tensor:
    return torch.relu(x)


def clamp_of_nan(x: Tensor) -> Tensor:
    return torch.clamp(x, 0.0, 1.0)


def max_with_nan(a: Tensor, b: Tensor) -> Tensor:
    return torch.maximum(a, b)
