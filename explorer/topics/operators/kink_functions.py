"""Functions with a kink, written once for both frameworks, and the table of kinks that they make.

A function's docstring is the name of its kink in tables and findings. The names ``ops`` and
``functional`` stand for a framework's modules once ``load_kinks`` has bound them. GRAPH_MODE
resolves them as it does any global, and compiles a function in spite of its decorator (MindSpore
2.10.0).
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

from explorer.topics.operators.kinks import Group, Kink

ops: Any = None
"""Functions of tensors: `torch`, or `mindspore.ops`."""

functional: Any = None
"""Layers as functions: `torch.nn.functional`, or `mindspore.ops`."""

KINKS: dict[str, Kink] = {}
"""Every kink by the name of its function."""

Function = TypeVar("Function", bound=Callable[..., Any])


def kink(group: Group, *inputs: Any) -> Callable[[Function], Function]:
    """Enter a function into the table, with a group and with inputs that hit its kink."""

    def enter(function: Function) -> Function:
        name, where = function.__name__, function.__doc__ or ""
        KINKS[name] = Kink(name, where, group, inputs, function)
        return function

    return enter


# One function in four ways: its gradient at 0 depends on the operator that it is written with.
@kink("corners", [0])
def relu(x: Any) -> Any:
    """relu at 0"""
    return ops.relu(x)


@kink("corners", [0])
def relu_by_maximum(x: Any) -> Any:
    """relu written maximum(x, 0), at 0"""
    return ops.maximum(x, ops.zeros_like(x))


@kink("corners", [0])
def relu_by_clamp(x: Any) -> Any:
    """relu written clamp(x, min=0), at 0"""
    return ops.clamp(x, min=0.0)


@kink("corners", [0])
def relu_by_where(x: Any) -> Any:
    """relu written where(x > 0, x, 0), at 0"""
    return ops.where(x > 0, x, 0.0)


@kink("corners", [0, 6])
def relu6(x: Any) -> Any:
    """relu6 at 0 and 6"""
    return functional.relu6(x)


@kink("corners", [0])
def leaky_relu(x: Any) -> Any:
    """leaky relu (slope 0.1) at 0"""
    return functional.leaky_relu(x, 0.1)


@kink("corners", [0])
def absolute(x: Any) -> Any:
    """abs at 0"""
    return ops.abs(x)


@kink("corners", [0, 1])
def clamp(x: Any) -> Any:
    """clamp to [0, 1] at both bounds"""
    return ops.clamp(x, 0.0, 1.0)


@kink("corners", [-1, 1])
def hardtanh(x: Any) -> Any:
    """hardtanh at -1 and 1"""
    return functional.hardtanh(x, -1.0, 1.0)


# Flat on both sides but for the middle: its formula decides which side the corner belongs to.
@kink("corners", [-3, 3])
def hardsigmoid(x: Any) -> Any:
    """hardsigmoid at -3 and 3"""
    return functional.hardsigmoid(x)


@kink("corners", [-3, 3])
def hardswish(x: Any) -> Any:
    """hardswish at -3 and 3"""
    return functional.hardswish(x)


@kink("corners", [-0.5, 0.5])
def softshrink(x: Any) -> Any:
    """softshrink (0.5) at -0.5 and 0.5"""
    return functional.softshrink(x, 0.5)


@kink("corners", [-0.5, 0.5])
def hardshrink(x: Any) -> Any:
    """hardshrink (0.5) at -0.5 and 0.5"""
    return functional.hardshrink(x, 0.5)


# Steps: the derivative is 0 wherever there is one.
@kink("corners", [0])
def sign(x: Any) -> Any:
    """sign at 0"""
    return ops.sign(x)


@kink("corners", [1])
def floor(x: Any) -> Any:
    """floor at 1"""
    return ops.floor(x)


@kink("corners", [1], [1])
def l1_loss(x: Any, y: Any) -> Any:
    """L1 loss of equal numbers"""
    return functional.l1_loss(x, y)


# |x| summed, with a corner at the element that is 0.
@kink("corners", [0, 1])
def norm_one(x: Any) -> Any:
    """1-norm with a zero in it"""
    return ops.norm(x, 1)


@kink("ties", [1], [1])
def maximum(a: Any, b: Any) -> Any:
    """maximum of two equal numbers"""
    return ops.maximum(a, b)


@kink("ties", [1], [1])
def minimum(a: Any, b: Any) -> Any:
    """minimum of two equal numbers"""
    return ops.minimum(a, b)


# Without an axis the gradient may be shared among the greatest; with one it has an index to go to.
@kink("ties", [1, 1, 0])
def max_of_all(x: Any) -> Any:
    """x.max() with two greatest"""
    return x.max()


@kink("ties", [1, 1, 0])
def max_along_axis(x: Any) -> Any:
    """max along an axis with two greatest"""
    return ops.max(x, 0)[0]


@kink("ties", [1, 1, 0])
def amax(x: Any) -> Any:
    """amax with two greatest"""
    return ops.amax(x, 0)


# One window: where among equal elements does the gradient go?
@kink("ties", [[[[1, 1], [1, 1]]]])
def max_pool(x: Any) -> Any:
    """2x2 max pool of equal numbers"""
    return functional.max_pool2d(x, 2, 2)


# The order of equal elements decides which of them is the middle one.
@kink("ties", [1, 1, 1])
def median(x: Any) -> Any:
    """median of equal numbers"""
    return ops.median(x, 0)[0]


@kink("ties", [1, 1, 0])
def topk(x: Any) -> Any:
    """topk(1) with two greatest"""
    return ops.topk(x, 1)[0]


@kink("ties", [1, 1, 0])
def cummax(x: Any) -> Any:
    """cummax with two greatest"""
    return ops.cummax(x, 0)[0]


@kink("ties", [1, 1, 0])
def norm_inf(x: Any) -> Any:
    """infinity norm with two greatest"""
    return ops.norm(x, float("inf"))


@kink("steep", [0])
def sqrt(x: Any) -> Any:
    """sqrt at 0"""
    return ops.sqrt(x)


@kink("steep", [0])
def power_half(x: Any) -> Any:
    """x ** 0.5 at 0"""
    return x**0.5


# By the rule 0 * x ** -1, which is 0 * inf at 0.
@kink("steep", [0])
def power_zero(x: Any) -> Any:
    """x ** 0.0 at 0"""
    return x**0.0


# With respect to the exponent: 0 ** y * log(0), which is 0 * -inf unless y = 0 is treated apart.
@kink("steep", [0, 0], [0, 2])
def power_of_zero(x: Any, y: Any) -> Any:
    """pow(0, y) at y = 0 and 2"""
    return ops.pow(x, y)


@kink("steep", [0])
def log(x: Any) -> Any:
    """log at 0"""
    return ops.log(x)


@kink("steep", [1])
def arccos(x: Any) -> Any:
    """acos at 1"""
    return ops.acos(x)


# By the rule x / norm(x), which is 0 / 0.
@kink("steep", [0, 0])
def norm(x: Any) -> Any:
    """norm of the zero vector"""
    return ops.norm(x)


@kink("steep", [0, 0])
def norm_by_hand(x: Any) -> Any:
    """sqrt(sum(x * x)) of the zero vector"""
    return ops.sqrt((x * x).sum())


# By the rule (x - mean) / ((n - 1) * std), which is 0 / 0.
@kink("steep", [1, 1])
def std(x: Any) -> Any:
    """std of equal numbers"""
    return ops.std(x)


# Both derivatives divide by x * x + y * y.
@kink("steep", [0], [0])
def atan2(y: Any, x: Any) -> Any:
    """atan2 at (0, 0)"""
    return ops.atan2(y, x)


# The value 0 * log(0) is 0 by definition; the derivatives are log(y) and x / y.
@kink("steep", [0], [0])
def xlogy(x: Any, y: Any) -> Any:
    """xlogy at (0, 0)"""
    return ops.xlogy(x, y)


# A small constant keeps the quotient finite; the gradient is as large as its reciprocal.
@kink("steep", [0, 0], [1, 1])
def cosine_similarity(x: Any, y: Any) -> Any:
    """cosine similarity with the zero vector"""
    return functional.cosine_similarity(x, y, 0)


# A product divided by its element is 0 / 0 where the element is 0.
@kink("steep", [0, 2, 3])
def product(x: Any) -> Any:
    """prod with a zero in it"""
    return ops.prod(x)


@kink("steep", [0])
def self_division(x: Any) -> Any:
    """x / x at 0"""
    return x / x


# The gradient of the branch that is not taken is multiplied by 0: an infinite one becomes NaN.
@kink("dead", [0, 1])
def where_log(x: Any) -> Any:
    """where(x > 0, log(x), 0) at 0 and 1"""
    return ops.where(x > 0, ops.log(x), 0.0)


@kink("dead", [0, 1])
def where_sqrt(x: Any) -> Any:
    """where(x > 0, sqrt(x), 0) at 0 and 1"""
    return ops.where(x > 0, ops.sqrt(x), 0.0)


@kink("dead", [0, 1])
def where_divide(x: Any) -> Any:
    """where(x != 0, 1 / x, 0) at 0 and 1"""
    return ops.where(x != 0, 1 / x, 0.0)


# The remedy: the log never sees what is not taken.
@kink("dead", [0, 1])
def where_twice(x: Any) -> Any:
    """where outside and inside the log, at 0 and 1"""
    return ops.where(x > 0, ops.log(ops.where(x > 0, x, 1.0)), 0.0)


@kink("dead", [0, 1])
def masked_fill(x: Any) -> Any:
    """log masked where x <= 0, at 0 and 1"""
    return ops.masked_fill(ops.log(x), x <= 0, 0.0)


# A mask by multiplication: 0 * inf again.
@kink("dead", [0, 1])
def times_zero(x: Any) -> Any:
    """sqrt(x) * 0 at 0 and 1"""
    return ops.sqrt(x) * 0.0


# Repairs the value; the gradient still passes through the log.
@kink("dead", [0, 1])
def nan_to_num(x: Any) -> Any:
    """nan_to_num(log(x) * x) at 0 and 1"""
    return ops.nan_to_num(ops.log(x) * x)


# Dynamo refuses to capture a branch on a value in one graph (PyTorch 2.13.0).
@kink("dead", [0])
def branch(x: Any) -> Any:
    """if x.sum() > 0: log(x), else zeros, at 0"""
    if x.sum() > 0:
        return ops.log(x)
    return ops.zeros_like(x)


# Another remedy: the clamp passes no gradient on to the element that is out of bounds.
@kink("dead", [0, 1])
def clamp_then_log(x: Any) -> Any:
    """log(clamp(x, min=1e-6)) at 0 and 1"""
    return ops.log(ops.clamp(x, min=1e-6))


# A comparison with NaN is false: which side is that?
@kink("dead", [math.nan])
def relu_of_nan(x: Any) -> Any:
    """relu of NaN"""
    return ops.relu(x)


@kink("dead", [math.nan])
def clamp_of_nan(x: Any) -> Any:
    """clamp of NaN"""
    return ops.clamp(x, 0.0, 1.0)


@kink("dead", [math.nan], [1])
def max_with_nan(a: Any, b: Any) -> Any:
    """maximum of NaN and 1"""
    return ops.maximum(a, b)
