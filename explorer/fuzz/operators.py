"""The table of operators of random nets."""

from collections.abc import Sequence
from random import Random

from explorer.fuzz.operator import (
    HIGHEST_RANK,
    LARGEST,
    Bound,
    Fit,
    Operator,
    Options,
    Shape,
    broadcast,
    drawn_axis,
    size,
    without,
)

OPERATORS: dict[str, Operator] = {}
"""Every operator by its name."""


def _enter(
    name: str, mindspore: str, torch: str, fit: Fit, bound: Bound, arity: int | None = None
) -> None:
    operands = arity or 1 + max(place for place in range(3) if f"{{{place}}}" in torch)
    OPERATORS[name] = Operator(name, mindspore, torch, operands, fit, bound)


# Shapes


def _same(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    shape = broadcast(shapes)
    return None if shape is None or size(shape) > LARGEST else (shape, {})


def _pairwise(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    """One number of two tensors of one shape."""
    return ((), {}) if shapes[0] and len(set(shapes)) == 1 else None


def _like_the_first(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    """All of one shape."""
    return (shapes[0], {}) if len(set(shapes)) == 1 else None


def _reduced(keep: bool) -> Fit:
    def fit(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
        (shape,) = shapes
        if not shape:
            return None
        axis = drawn_axis(shape, rng)
        return without(shape, axis, keep), {"axis": str(axis)}

    return fit


def _along(least: int = 1) -> Fit:
    """Along an axis that is at least so long; the shape stays."""

    def fit(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
        shape = shapes[0]
        if not shape:
            return None
        axis = drawn_axis(shape, rng)
        if shape[axis] < least:
            return None
        return shape, {"axis": str(axis)}

    return fit


def _to_scalar(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    return (), {}


def _spread(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    """Along an axis of two elements at least: one element has no spread."""
    (shape,) = shapes
    if not shape:
        return None
    axis = drawn_axis(shape, rng)
    if shape[axis] < 2:
        return None
    return without(shape, axis, False), {"axis": str(axis)}


def _reshaped(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options]:
    left = size(shapes[0])
    shape: list[int] = []
    for factor in (2, 3, 5):
        while left % factor == 0 and len(shape) < HIGHEST_RANK - 1 and rng.random() < 0.7:
            shape.append(factor)
            left //= factor
    shape.append(left)
    rng.shuffle(shape)
    return tuple(shape), {"shape": str(tuple(shape))}


def _permuted(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if len(shape) < 2:
        return None
    order = list(range(len(shape)))
    rng.shuffle(order)
    return tuple(shape[axis] for axis in order), {"order": str(tuple(order))}


def _swapped(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if len(shape) < 2:
        return None
    return (shape[-1], *shape[1:-1], shape[0]), {}


def _with_axis(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if len(shape) >= HIGHEST_RANK:
        return None
    axis = rng.randrange(len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:]), {"axis": str(axis)}


def _without_axis(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    ones = [axis for axis, length in enumerate(shape) if length == 1]
    if not ones:
        return None
    axis = rng.choice(ones)
    return without(shape, axis, False), {"axis": str(axis)}


def _expanded(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if len(shape) >= HIGHEST_RANK or size(shape) * 2 > LARGEST:
        return None
    result = (2, *shape)
    return result, {"shape": str(result)}


def _tiled(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if not shape or size(shape) * 2 > LARGEST:
        return None
    times = [1] * len(shape)
    times[rng.randrange(len(shape))] = 2
    result = tuple(length * time for length, time in zip(shape, times, strict=True))
    return result, {"times": str(tuple(times))}


def _repeated(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if not shape or size(shape) * 2 > LARGEST:
        return None
    axis = rng.randrange(len(shape))
    result = tuple(length * 2 if place == axis else length for place, length in enumerate(shape))
    return result, {"axis": str(axis)}


def _joined(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    one, other = shapes
    if not one or len(one) != len(other):
        return None
    axis = rng.randrange(len(one))
    if without(one, axis, False) != without(other, axis, False):
        return None
    result = tuple(
        length + other[axis] if place == axis else length for place, length in enumerate(one)
    )
    return None if size(result) > LARGEST else (result, {"axis": str(axis)})


def _stacked(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    one, other = shapes
    if one != other or len(one) >= HIGHEST_RANK or size(one) * 2 > LARGEST:
        return None
    axis = rng.randrange(len(one) + 1)
    return (*one[:axis], 2, *one[axis:]), {"axis": str(axis)}


def _first_half(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    even = [axis for axis, length in enumerate(shape) if length % 2 == 0]
    if not even:
        return None
    axis = rng.choice(even)
    result = tuple(length // 2 if place == axis else length for place, length in enumerate(shape))
    return result, {"axis": str(axis), "half": str(shape[axis] // 2), "part": str(rng.randrange(2))}


def _sliced(start: int, step: int) -> Fit:
    def fit(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
        shape = shapes[0]
        if not shape or shape[0] < 2:
            return None
        return (len(range(start, shape[0], step)), *shape[1:]), {}

    return fit


def _last(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    return (shape[:-1], {}) if len(shape) >= 2 else None


def _row(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if not shape:
        return None
    return shape[1:], {"place": str(rng.randrange(shape[0]))}


def _written(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    """One whose first row takes the other."""
    one, other = shapes
    if len(one) < 2 or one[1:] != other:
        return None
    return one, {"place": str(rng.randrange(one[0]))}


def _gathered(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if not shape or size(shape) // shape[0] * 3 > LARGEST:
        return None
    places = [rng.randrange(shape[0]) for _ in range(3)]
    return (3, *shape[1:]), {"places": str(places)}


def _taken(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if len(shape) != 2:
        return None
    rows = [[rng.randrange(shape[1]) for _ in range(2)] for _ in range(shape[0])]
    return (shape[0], 2), {"places": str(rows)}


def _padded(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if not shape or size(shape) // shape[-1] * (shape[-1] + 3) > LARGEST:
        return None
    return (*shape[:-1], shape[-1] + 3), {}


def _matrix(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    return (shape, {}) if len(shape) == 2 else None


def _diagonal(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    return ((min(shape),), {}) if len(shape) == 2 else None


def _flat(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    return ((shape[0], size(shape[1:])), {}) if len(shape) >= 2 else None


def _product(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    one, other = shapes[:2]
    if len(one) != 2 or len(other) != 2 or one[1] != other[0]:
        return None
    shape = (one[0], other[1])
    if len(shapes) == 3 and broadcast([shape, shapes[2]]) != shape:
        return None
    return shape, {}


def _dense(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    one, other = shapes
    if len(one) < 2 or len(other) != 2 or one[-1] != other[1]:
        return None
    return (*one[:-1], other[0]), {}


def _batched(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    one, other = shapes
    if len(one) != 3 or len(other) != 3 or one[0] != other[0] or one[2] != other[1]:
        return None
    return (one[0], one[1], other[2]), {}


def _dot(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    one, other = shapes
    return ((), {}) if len(one) == 1 and one == other else None


def _outer(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    one, other = shapes
    if len(one) != 1 or len(other) != 1:
        return None
    return (one[0], other[0]), {}


def _normalised(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    one, other = shapes
    if len(one) < 2 or one[-1] < 3 or other != one[-1:]:
        return None
    return one, {"length": str(one[-1])}


def _convolved(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    """A row of numbers with a row of three or two."""
    one, other = shapes
    if len(one) != 1 or len(other) != 1 or not 1 < other[0] <= 3 or one[0] < other[0]:
        return None
    return (one[0] - other[0] + 1,), {}


def _pooled(shapes: Sequence[Shape], _: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if len(shape) != 2 or min(shape) < 2:
        return None
    return (shape[0] // 2, shape[1] // 2), {}


def _loss(shapes: Sequence[Shape], rng: Random) -> tuple[Shape, Options] | None:
    (shape,) = shapes
    if len(shape) != 2 or shape[1] < 2:
        return None
    return (), {"labels": str([rng.randrange(shape[1]) for _ in range(shape[0])])}


# Bounds


def _at_most(limit: float) -> Bound:
    def bound(_: Sequence[float], __: Shape) -> float:
        return limit

    return bound


def _greatest(bounds: Sequence[float], _: Shape) -> float:
    return max(bounds)


def _sum(bounds: Sequence[float], _: Shape) -> float:
    return sum(bounds)


def _times(bounds: Sequence[float], _: Shape) -> float:
    return bounds[0] * bounds[-1]


def _squared(bounds: Sequence[float], _: Shape) -> float:
    return (bounds[0] + bounds[-1]) ** 2


def _cubed(bounds: Sequence[float], _: Shape) -> float:
    return float(bounds[0] ** 3)


def _added_up(bounds: Sequence[float], shape: Shape) -> float:
    return bounds[0] * size(shape)


def _products(bounds: Sequence[float], shape: Shape) -> float:
    return bounds[0] * bounds[1] * (shape[-1] if shape else 1) + bounds[-1]


def _doubled(bounds: Sequence[float], _: Shape) -> float:
    return 2 * bounds[0] + 2


# Element by element. Where one text serves, "ops." stands for both frameworks' functions. All numbers
# are ones that every float holds: what MindSpore makes of others in float64 is known (see known.py).

_EVERYWHERE: dict[str, tuple[str, Bound]] = {
    "neg": ("-{0}", _greatest),
    "abs": ("ops.abs({0})", _greatest),
    "square": ("ops.square({0})", _squared),
    "cube": ("ops.pow({0}, 3)", _cubed),
    "sqrt": ("ops.sqrt({0} * {0} + 0.5)", _doubled),
    "rsqrt": ("ops.rsqrt({0} * {0} + 0.5)", _at_most(2)),
    "reciprocal": ("ops.reciprocal({0} * {0} + 0.5)", _at_most(2)),
    "exp": ("ops.exp(0.5 * ops.sin({0}))", _at_most(2)),
    "exp2": ("2.0 ** ops.tanh({0})", _at_most(2)),
    "expm1": ("ops.expm1(0.5 * ops.sin({0}))", _at_most(2)),
    "log": ("ops.log({0} * {0} + 0.5)", _doubled),
    "log1p": ("ops.log1p({0} * {0})", _doubled),
    "sin": ("ops.sin({0})", _at_most(1)),
    "cos": ("ops.cos({0})", _at_most(1)),
    "tan": ("ops.tan(ops.tanh({0}))", _at_most(2)),
    "asin": ("ops.asin(0.875 * ops.tanh({0}))", _at_most(2)),
    "acos": ("ops.acos(0.875 * ops.tanh({0}))", _at_most(4)),
    "atan": ("ops.atan({0})", _at_most(2)),
    "sinh": ("ops.sinh(ops.tanh({0}))", _at_most(2)),
    "cosh": ("ops.cosh(ops.tanh({0}))", _at_most(2)),
    "tanh": ("ops.tanh({0})", _at_most(1)),
    "asinh": ("ops.asinh({0})", _greatest),
    "acosh": ("ops.acosh({0} * {0} + 1.5)", _doubled),
    "atanh": ("ops.atanh(0.875 * ops.tanh({0}))", _at_most(2)),
    "sigmoid": ("ops.sigmoid({0})", _at_most(1)),
    "erf": ("ops.erf({0})", _at_most(1)),
    "erfc": ("ops.erfc({0})", _at_most(2)),
    "sign_times": ("ops.sign({0}) * {0}", _greatest),
    "floor_rest": ("{0} - ops.floor({0})", _at_most(1)),
    "clamp": ("ops.clamp({0}, -0.75, 0.875)", _at_most(1)),
    "clamp_below": ("ops.clamp({0}, min=-0.25)", _greatest),
    "scale": ("0.5 * {0} - 1.0", _doubled),
    "divide_scalar": ("1.0 / (2.0 + ops.cos({0}))", _at_most(1)),
    "where_positive": ("ops.where({0} > 0.125, {0}, 0.25 * {0})", _greatest),
}

# Those that PyTorch has among the functions of layers.
_AS_LAYERS: dict[str, tuple[str, Bound]] = {
    "relu": ("ops.relu({0})", _greatest),
    "relu6": ("ops.relu6({0})", _greatest),
    "leaky_relu": ("ops.leaky_relu({0}, 0.125)", _greatest),
    "elu": ("ops.elu({0}, 1.0)", _greatest),
    "selu": ("ops.selu({0})", _doubled),
    "celu": ("ops.celu({0}, 1.0)", _greatest),
    "silu": ("ops.silu({0})", _greatest),
    "mish": ("ops.mish({0})", _greatest),
    "softsign": ("ops.softsign({0})", _at_most(1)),
    "logsigmoid": ("ops.logsigmoid({0})", _doubled),
    "hardswish": ("ops.hardswish({0})", _greatest),
    "hardsigmoid": ("ops.hardsigmoid({0})", _at_most(1)),
    "hardtanh": ("ops.hardtanh({0}, -0.75, 0.875)", _at_most(1)),
    "softshrink": ("ops.softshrink({0}, 0.25)", _greatest),
    "hardshrink": ("ops.hardshrink({0}, 0.25)", _greatest),
    "tanhshrink": ("ops.tanhshrink({0})", _greatest),
}

for _name, (_text, _bound) in _EVERYWHERE.items():
    _enter(_name, _text, _text.replace("ops.", "torch."), _same, _bound)
for _name, (_text, _bound) in _AS_LAYERS.items():
    _enter(_name, _text, _text.replace("ops.", "functional."), _same, _bound)

_enter("gelu", "ops.gelu({0}, approximate='none')", "functional.gelu({0})", _same, _greatest)
_enter(
    "gelu_tanh",
    "ops.gelu({0}, approximate='tanh')",
    "functional.gelu({0}, approximate='tanh')",
    _same,
    _greatest,
)
_enter("softplus", "ops.softplus({0})", "functional.softplus({0})", _same, _doubled)

# Of two and three
_enter("add", "{0} + {1}", "{0} + {1}", _same, _sum)
_enter("sub", "{0} - {1}", "{0} - {1}", _same, _sum)
_enter("mul", "{0} * {1}", "{0} * {1}", _same, _times)
_enter("div", "{0} / ({1} * {1} + 0.5)", "{0} / ({1} * {1} + 0.5)", _same, _doubled)
_enter("maximum", "ops.maximum({0}, {1})", "torch.maximum({0}, {1})", _same, _greatest)
_enter("minimum", "ops.minimum({0}, {1})", "torch.minimum({0}, {1})", _same, _greatest)
_enter(
    "pow",
    "ops.pow({0} * {0} + 0.5, ops.tanh({1}))",
    "torch.pow({0} * {0} + 0.5, torch.tanh({1}))",
    _same,
    _squared,
)
_enter("atan2", "ops.atan2({0}, {1})", "torch.atan2({0}, {1})", _same, _at_most(4))
_enter("hypot", "ops.hypot({0}, {1})", "torch.hypot({0}, {1})", _same, _sum)
_enter("logaddexp", "ops.logaddexp({0}, {1})", "torch.logaddexp({0}, {1})", _same, _doubled)
_enter("squared_difference", "({0} - {1}) ** 2", "({0} - {1}) ** 2", _same, _squared)
_enter(
    "where",
    "ops.where({0} > {1}, {0}, {1} * 0.5)",
    "torch.where({0} > {1}, {0}, {1} * 0.5)",
    _same,
    _greatest,
)
_enter("lerp", "ops.lerp({0}, {1}, 0.25)", "torch.lerp({0}, {1}, 0.25)", _same, _greatest)
_enter(
    "addcmul",
    "ops.addcmul({0}, {1}, {2}, value=0.5)",
    "torch.addcmul({0}, {1}, {2}, value=0.5)",
    _same,
    lambda bounds, _: bounds[0] + bounds[1] * bounds[2],
)
_enter("mse_loss", "ops.mse_loss({0}, {1})", "functional.mse_loss({0}, {1})", _pairwise, _squared)
_enter("l1_loss", "ops.l1_loss({0}, {1})", "functional.l1_loss({0}, {1})", _pairwise, _sum)
_enter(
    "smooth_l1_loss",
    "ops.smooth_l1_loss({0}, {1}, reduction='mean')",
    "functional.smooth_l1_loss({0}, {1})",
    _pairwise,
    _sum,
)

# Along an axis
_enter("sum", "ops.sum({0}, {axis})", "torch.sum({0}, {axis})", _reduced(False), _added_up)
_enter(
    "sum_kept",
    "ops.sum({0}, {axis}, keepdim=True)",
    "torch.sum({0}, {axis}, keepdim=True)",
    _reduced(True),
    _added_up,
)
_enter("sum_of_all", "{0}.sum()", "{0}.sum()", _to_scalar, _added_up)
_enter("mean", "ops.mean({0}, {axis})", "torch.mean({0}, {axis})", _reduced(False), _greatest)
_enter(
    "mean_kept",
    "ops.mean({0}, {axis}, keep_dims=True)",
    "torch.mean({0}, {axis}, keepdim=True)",
    _reduced(True),
    _greatest,
)
_enter("mean_of_all", "{0}.mean()", "{0}.mean()", _to_scalar, _greatest)
_enter("amax", "ops.amax({0}, {axis})", "torch.amax({0}, {axis})", _reduced(False), _greatest)
_enter("amin", "ops.amin({0}, {axis})", "torch.amin({0}, {axis})", _reduced(False), _greatest)
_enter("max", "ops.max({0}, {axis})[0]", "torch.max({0}, {axis})[0]", _reduced(False), _greatest)
_enter("min", "ops.min({0}, {axis})[0]", "torch.min({0}, {axis})[0]", _reduced(False), _greatest)
_enter(
    "prod",
    "ops.prod(ops.tanh({0}), {axis})",
    "torch.prod(torch.tanh({0}), {axis})",
    _reduced(False),
    _at_most(1),
)
_enter(
    "logsumexp",
    "ops.logsumexp({0}, {axis})",
    "torch.logsumexp({0}, {axis})",
    _reduced(False),
    _doubled,
)
_enter("var", "ops.var({0}, {axis}, 1)", "torch.var({0}, {axis})", _spread, _squared)
_enter("std", "ops.std({0}, {axis}, 1)", "torch.std({0}, {axis})", _spread, _doubled)
_enter(
    "norm",
    "ops.norm({0}, dim={axis})",
    "torch.norm({0}, dim={axis})",
    _reduced(False),
    _added_up,
)
_enter("softmax", "ops.softmax({0}, {axis})", "torch.softmax({0}, {axis})", _along(2), _at_most(1))
_enter(
    "log_softmax",
    "ops.log_softmax({0}, {axis})",
    "torch.log_softmax({0}, {axis})",
    _along(2),
    _doubled,
)
_enter("cumsum", "ops.cumsum({0}, {axis})", "torch.cumsum({0}, {axis})", _along(), _added_up)
_enter(
    "cumprod",
    "ops.cumprod(ops.cos({0}), {axis})",
    "torch.cumprod(torch.cos({0}), {axis})",
    _along(),
    _at_most(1),
)
_enter("sort", "ops.sort({0}, {axis})[0]", "torch.sort({0}, {axis})[0]", _along(2), _greatest)
_enter("flip", "ops.flip({0}, ({axis},))", "torch.flip({0}, ({axis},))", _along(2), _greatest)

# Shapes, views and slices
_enter("reshape", "ops.reshape({0}, {shape})", "torch.reshape({0}, {shape})", _reshaped, _greatest)
_enter("permute", "ops.permute({0}, {order})", "torch.permute({0}, {order})", _permuted, _greatest)
_enter("swapaxes", "ops.swapaxes({0}, 0, -1)", "torch.swapaxes({0}, 0, -1)", _swapped, _greatest)
_enter(
    "unsqueeze", "ops.unsqueeze({0}, {axis})", "torch.unsqueeze({0}, {axis})", _with_axis, _greatest
)
_enter(
    "squeeze", "ops.squeeze({0}, {axis})", "torch.squeeze({0}, {axis})", _without_axis, _greatest
)
_enter(
    "broadcast_to",
    "ops.broadcast_to({0}, {shape})",
    "torch.broadcast_to({0}, {shape})",
    _expanded,
    _greatest,
)
_enter("tile", "ops.tile({0}, {times})", "torch.tile({0}, {times})", _tiled, _greatest)
_enter(
    "repeat_interleave",
    "ops.repeat_interleave({0}, 2, {axis})",
    "torch.repeat_interleave({0}, 2, {axis})",
    _repeated,
    _greatest,
)
_enter("flatten", "ops.flatten({0})", "torch.flatten({0}, 1)", _flat, _greatest)
_enter("concat", "ops.cat(({0}, {1}), {axis})", "torch.cat(({0}, {1}), {axis})", _joined, _greatest)
_enter(
    "stack", "ops.stack(({0}, {1}), {axis})", "torch.stack(({0}, {1}), {axis})", _stacked, _greatest
)
_enter(
    "split",
    "ops.split({0}, {half}, {axis})[{part}]",
    "torch.split({0}, {half}, {axis})[{part}]",
    _first_half,
    _greatest,
)
_enter(
    "chunk",
    "ops.chunk({0}, 2, {axis})[{part}]",
    "torch.chunk({0}, 2, {axis})[{part}]",
    _first_half,
    _greatest,
)
_enter("slice", "{0}[1:]", "{0}[1:]", _sliced(1, 1), _greatest)
_enter("slice_step", "{0}[::2]", "{0}[::2]", _sliced(0, 2), _greatest)
_enter("last", "{0}[..., -1]", "{0}[..., -1]", _last, _greatest)
_enter("index", "{0}[{place}]", "{0}[{place}]", _row, _greatest)
_enter(
    "gather",
    "ops.gather({0}, ms.Tensor({places}), 0)",
    "torch.index_select({0}, 0, torch.tensor({places}))",
    _gathered,
    _greatest,
)
_enter(
    "gather_elements",
    "ops.gather_elements({0}, 1, ms.Tensor({places}))",
    "torch.gather({0}, 1, torch.tensor({places}))",
    _taken,
    _greatest,
)
_enter("pad", "ops.pad({0}, (1, 2))", "functional.pad({0}, (1, 2))", _padded, _greatest)
_enter("tril", "ops.tril({0})", "torch.tril({0})", _matrix, _greatest)
_enter("triu", "ops.triu({0})", "torch.triu({0})", _matrix, _greatest)
_enter("diagonal", "ops.diagonal({0})", "torch.diagonal({0})", _diagonal, _greatest)
_enter(
    "masked_fill",
    "ops.masked_fill({0}, {0} > 0.5, 0.25)",
    "torch.masked_fill({0}, {0} > 0.5, 0.25)",
    _same,
    _greatest,
)

# Written in place, on a tensor of its own
_enter(
    "row_written",
    "{out} = {0} * 1.0; {out}[{place}] = {1}",
    "{out} = {0} * 1.0; {out}[{place}] = {1}",
    _written,
    _greatest,
)

# Products
_enter("matmul", "ops.matmul({0}, {1})", "torch.matmul({0}, {1})", _product, _products)
_enter("at", "{0} @ {1}", "{0} @ {1}", _product, _products)
_enter("addmm", "ops.addmm({2}, {0}, {1})", "torch.addmm({2}, {0}, {1})", _product, _products, 3)
_enter("dense", "ops.matmul({0}, ops.t({1}))", "functional.linear({0}, {1})", _dense, _products)
_enter("bmm", "ops.bmm({0}, {1})", "torch.bmm({0}, {1})", _batched, _products)
_enter("dot", "ops.sum({0} * {1})", "torch.dot({0}, {1})", _dot, _products)
_enter("outer", "ops.outer({0}, {1})", "torch.outer({0}, {1})", _outer, _times)

# Layers
_enter(
    "layer_norm",
    "ops.LayerNorm(-1, -1, 1e-5)({0}, {1}, {1})[0]",
    "functional.layer_norm({0}, ({length},), {1}, {1}, 1e-5)",
    _normalised,
    lambda bounds, _: 3 * bounds[1],
)
_enter(
    "conv1d",
    "ops.conv1d({0}.reshape((1, 1, -1)), {1}.reshape((1, 1, -1))).reshape((-1,))",
    "functional.conv1d({0}.reshape(1, 1, -1), {1}.reshape(1, 1, -1)).reshape(-1)",
    _convolved,
    _products,
)
_enter(
    "max_pool",
    "ops.max_pool2d(ops.unsqueeze(ops.unsqueeze({0}, 0), 0), 2, 2)[0, 0]",
    "functional.max_pool2d({0}[None, None], 2, 2)[0, 0]",
    _pooled,
    _greatest,
)
_enter(
    "avg_pool",
    "ops.avg_pool2d(ops.unsqueeze(ops.unsqueeze({0}, 0), 0), 2, 2)[0, 0]",
    "functional.avg_pool2d({0}[None, None], 2, 2)[0, 0]",
    _pooled,
    _greatest,
)
_enter(
    "cross_entropy",
    "ops.cross_entropy({0}, ms.Tensor({labels}, ms.int32))",
    "functional.cross_entropy({0}, torch.tensor({labels}))",
    _loss,
    _doubled,
)

# Control flow
_enter(
    "branch",
    "{out} = {0} * 2.0 if {0}.sum() > {1}.sum() else {1} * 3.0",
    "{out} = {0} * 2.0 if {0}.sum() > {1}.sum() else {1} * 3.0",
    _like_the_first,
    _sum,
)
_enter(
    "loop",
    "{out} = {0}\n        for _ in range(3):\n            {out} = ops.sin({out}) + {0}",
    "{out} = {0}\n        for _ in range(3):\n            {out} = torch.sin({out}) + {0}",
    _same,
    _doubled,
)
