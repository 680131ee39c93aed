"""The table of operators of random nets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from explorer.fuzz import shapes
from explorer.fuzz.shapes import Fit, Shape, size
from explorer.model.engines import Framework

Bound = Callable[[Sequence[float], Shape], float]
"""How large the result may be, from the operands' bounds and the first one's shape."""


@dataclass(frozen=True)
class Operator:
    """One way to make a tensor of one, two or three others.

    ``texts`` has an expression for each framework that has the operator, in which ``{0}`` is the
    first operand; a statement assigns to ``{out}``. They avoid poles and the borders of domains: what
    a framework makes of log(0) is another question. ``needs`` names the definition (see
    DEFINITIONS) that comes before the net.
    """

    name: str
    texts: Mapping[Framework, str]
    arity: int
    fit: Fit
    bound: Bound
    needs: str = ""

    def is_in(self, frameworks: Iterable[Framework]) -> bool:
        """Whether each of these frameworks has the operator."""
        return all(framework in self.texts for framework in frameworks)


OPERATORS: dict[str, Operator] = {}
"""Every operator by its name."""

FUNCTIONS: dict[Framework, str] = {"mindspore": "ops.", "torch": "torch.", "jax": "jnp."}
"""Where a framework has functions of tensors: what "ops." of a text stands for."""

LAYERS: dict[Framework, str] = {"mindspore": "ops.", "torch": "functional.", "jax": "jax.nn."}
"""Where a framework has the functions of layers."""

NOWHERE = ""
"""The text of an operator in a framework that does not have it."""


def _enter(
    name: str,
    text: str,
    fit: Fit,
    bound: Bound,
    *,
    modules: Mapping[Framework, str] = FUNCTIONS,
    arity: int = 0,
    needs: str = "",
    **others: str,
) -> None:
    """Add an operator, whose ``text`` is that of all frameworks but ``others``.

    In the text "ops." is a framework's module in ``modules``.
    """
    while not arity or f"{{{arity}}}" in text:
        arity += 1
    OPERATORS[name] = Operator(name, _written(text, modules, others), arity, fit, bound, needs)


def _written(
    text: str, modules: Mapping[Framework, str], others: Mapping[str, str]
) -> dict[Framework, str]:
    """The texts of the frameworks that have an operator."""
    texts: dict[Framework, str] = {}
    for framework, module in modules.items():
        written = others.get(framework, text.replace("ops.", module))
        if written != NOWHERE:
            texts[framework] = written
    return texts


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


# Element by element. Where one text serves, "ops." stands for each framework's functions. All numbers
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

# Those that a framework may have among the functions of layers.
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

_OTHERWISE: dict[str, dict[str, str]] = {
    "rsqrt": {"jax": "jax.lax.rsqrt({0} * {0} + 0.5)"},
    "sigmoid": {"jax": "jax.nn.sigmoid({0})"},
    "erf": {"jax": "jax.lax.erf({0})"},
    "erfc": {"jax": "jax.lax.erfc({0})"},
    "clamp": {"jax": "jnp.clip({0}, -0.75, 0.875)"},
    "clamp_below": {"jax": "jnp.clip({0}, min=-0.25)"},
    "softsign": {"jax": "jax.nn.soft_sign({0})"},
    "logsigmoid": {"jax": "jax.nn.log_sigmoid({0})"},
    "hardswish": {"jax": "jax.nn.hard_swish({0})"},
    "hardsigmoid": {"jax": "jax.nn.hard_sigmoid({0})"},
    "hardtanh": {"jax": "jnp.clip({0}, -0.75, 0.875)"},
    "softshrink": {"jax": "jnp.where(jnp.abs({0}) <= 0.25, 0.0, {0} - 0.25 * jnp.sign({0}))"},
    "hardshrink": {"jax": "jnp.where(jnp.abs({0}) <= 0.25, 0.0, {0})"},
    "tanhshrink": {"jax": "{0} - jnp.tanh({0})"},
}
"""The texts of frameworks that write one of these in another way."""

for _name, (_text, _bound) in _EVERYWHERE.items():
    _texts = _written(_text, FUNCTIONS, _OTHERWISE.get(_name, {}))
    OPERATORS[_name] = Operator(_name, _texts, 1, shapes.same, _bound)
for _name, (_text, _bound) in _AS_LAYERS.items():
    _texts = _written(_text, LAYERS, _OTHERWISE.get(_name, {}))
    OPERATORS[_name] = Operator(_name, _texts, 1, shapes.same, _bound)

_enter(
    "gelu",
    "ops.gelu({0}, approximate='none')",
    shapes.same,
    _greatest,
    torch="functional.gelu({0})",
    jax="jax.nn.gelu({0}, approximate=False)",
)
_enter(
    "gelu_tanh",
    "ops.gelu({0}, approximate='tanh')",
    shapes.same,
    _greatest,
    modules=LAYERS,
    jax="jax.nn.gelu({0}, approximate=True)",
)
_enter("softplus", "ops.softplus({0})", shapes.same, _doubled, modules=LAYERS)

# Of two and three
_enter("add", "{0} + {1}", shapes.same, _sum)
_enter("sub", "{0} - {1}", shapes.same, _sum)
_enter("mul", "{0} * {1}", shapes.same, _times)
_enter("div", "{0} / ({1} * {1} + 0.5)", shapes.same, _doubled)
_enter("maximum", "ops.maximum({0}, {1})", shapes.same, _greatest)
_enter("minimum", "ops.minimum({0}, {1})", shapes.same, _greatest)
_enter("pow", "ops.pow({0} * {0} + 0.5, ops.tanh({1}))", shapes.same, _squared)
_enter("atan2", "ops.atan2({0}, {1})", shapes.same, _at_most(4))
_enter("hypot", "ops.hypot({0}, {1})", shapes.same, _sum)
_enter("logaddexp", "ops.logaddexp({0}, {1})", shapes.same, _doubled)
_enter("squared_difference", "({0} - {1}) ** 2", shapes.same, _squared)
_enter("where", "ops.where({0} > {1}, {0}, {1} * 0.5)", shapes.same, _greatest)
_enter(
    "lerp",
    "ops.lerp({0}, {1}, 0.25)",
    shapes.same,
    _greatest,
    jax="{0} + 0.25 * ({1} - {0})",
)
_enter(
    "addcmul",
    "ops.addcmul({0}, {1}, {2}, value=0.5)",
    shapes.same,
    lambda bounds, _: bounds[0] + bounds[1] * bounds[2],
    jax="{0} + 0.5 * {1} * {2}",
)
_enter(
    "mse_loss",
    "ops.mse_loss({0}, {1})",
    shapes.pairwise,
    _squared,
    modules=LAYERS,
    jax="(({0} - {1}) ** 2).mean()",
)
_enter(
    "l1_loss",
    "ops.l1_loss({0}, {1})",
    shapes.pairwise,
    _sum,
    modules=LAYERS,
    jax="jnp.abs({0} - {1}).mean()",
)
_enter(
    "smooth_l1_loss",
    "ops.smooth_l1_loss({0}, {1}, reduction='mean')",
    shapes.pairwise,
    _sum,
    torch="functional.smooth_l1_loss({0}, {1})",
    jax=(
        "jnp.where("
        "jnp.abs({0} - {1}) < 1.0, 0.5 * ({0} - {1}) ** 2, jnp.abs({0} - {1}) - 0.5"
        ").mean()"
    ),
)

# Along an axis
_enter("sum", "ops.sum({0}, {axis})", shapes.reduced(False), _added_up)
_enter(
    "sum_kept",
    "ops.sum({0}, {axis}, keepdim=True)",
    shapes.reduced(True),
    _added_up,
    jax="jnp.sum({0}, {axis}, keepdims=True)",
)
_enter("sum_of_all", "{0}.sum()", shapes.to_scalar, _added_up)
_enter("mean", "ops.mean({0}, {axis})", shapes.reduced(False), _greatest)
_enter(
    "mean_kept",
    "ops.mean({0}, {axis}, keep_dims=True)",
    shapes.reduced(True),
    _greatest,
    torch="torch.mean({0}, {axis}, keepdim=True)",
    jax="jnp.mean({0}, {axis}, keepdims=True)",
)
_enter("mean_of_all", "{0}.mean()", shapes.to_scalar, _greatest)
_enter(
    "amax",
    "ops.amax({0}, {axis})",
    shapes.reduced(False),
    _greatest,
    jax="jnp.max({0}, {axis})",
)
_enter(
    "amin",
    "ops.amin({0}, {axis})",
    shapes.reduced(False),
    _greatest,
    jax="jnp.min({0}, {axis})",
)
_enter(
    "max",
    "ops.max({0}, {axis})[0]",
    shapes.reduced(False),
    _greatest,
    jax="jnp.max({0}, {axis})",
)
_enter(
    "min",
    "ops.min({0}, {axis})[0]",
    shapes.reduced(False),
    _greatest,
    jax="jnp.min({0}, {axis})",
)
_enter("prod", "ops.prod(ops.tanh({0}), {axis})", shapes.reduced(False), _at_most(1))
_enter(
    "logsumexp",
    "ops.logsumexp({0}, {axis})",
    shapes.reduced(False),
    _doubled,
    jax="jax.nn.logsumexp({0}, {axis})",
)
_enter(
    "var",
    "ops.var({0}, {axis}, 1)",
    shapes.reduced(False, 2),
    _squared,
    torch="torch.var({0}, {axis})",
    jax="jnp.var({0}, {axis}, ddof=1)",
)
_enter(
    "std",
    "ops.std({0}, {axis}, 1)",
    shapes.reduced(False, 2),
    _doubled,
    torch="torch.std({0}, {axis})",
    jax="jnp.std({0}, {axis}, ddof=1)",
)
_enter(
    "norm",
    "ops.norm({0}, dim={axis})",
    shapes.reduced(False),
    _added_up,
    jax="jnp.linalg.norm({0}, axis={axis})",
)
_enter(
    "softmax",
    "ops.softmax({0}, {axis})",
    shapes.along(2),
    _at_most(1),
    jax="jax.nn.softmax({0}, {axis})",
)
_enter(
    "log_softmax",
    "ops.log_softmax({0}, {axis})",
    shapes.along(2),
    _doubled,
    jax="jax.nn.log_softmax({0}, {axis})",
)
_enter("cumsum", "ops.cumsum({0}, {axis})", shapes.along(), _added_up)
_enter("cumprod", "ops.cumprod(ops.cos({0}), {axis})", shapes.along(), _at_most(1))
_enter(
    "sort",
    "ops.sort({0}, {axis})[0]",
    shapes.along(2),
    _greatest,
    jax="jnp.sort({0}, {axis})",
)
_enter("flip", "ops.flip({0}, ({axis},))", shapes.along(2), _greatest)

# Shapes, views and slices
_enter("reshape", "ops.reshape({0}, {shape})", shapes.reshaped, _greatest)
_enter(
    "permute",
    "ops.permute({0}, {order})",
    shapes.permuted,
    _greatest,
    jax="jnp.transpose({0}, {order})",
)
_enter("swapaxes", "ops.swapaxes({0}, 0, -1)", shapes.swapped, _greatest)
_enter(
    "unsqueeze",
    "ops.unsqueeze({0}, {axis})",
    shapes.with_axis,
    _greatest,
    jax="jnp.expand_dims({0}, {axis})",
)
_enter("squeeze", "ops.squeeze({0}, {axis})", shapes.without_axis, _greatest)
_enter("broadcast_to", "ops.broadcast_to({0}, {shape})", shapes.expanded, _greatest)
_enter("tile", "ops.tile({0}, {times})", shapes.tiled, _greatest)
_enter(
    "repeat_interleave",
    "ops.repeat_interleave({0}, 2, {axis})",
    shapes.repeated,
    _greatest,
    jax="jnp.repeat({0}, 2, {axis})",
)
_enter(
    "flatten",
    "ops.flatten({0})",
    shapes.flat,
    _greatest,
    torch="torch.flatten({0}, 1)",
    jax="{0}.reshape({0}.shape[0], -1)",
)
_enter(
    "concat",
    "ops.cat(({0}, {1}), {axis})",
    shapes.joined,
    _greatest,
    jax="jnp.concatenate(({0}, {1}), {axis})",
)
_enter("stack", "ops.stack(({0}, {1}), {axis})", shapes.stacked, _greatest)
_enter(
    "split",
    "ops.split({0}, {half}, {axis})[{part}]",
    shapes.first_half,
    _greatest,
    jax="jnp.split({0}, 2, {axis})[{part}]",
)
_enter(
    "chunk",
    "ops.chunk({0}, 2, {axis})[{part}]",
    shapes.first_half,
    _greatest,
    jax="jnp.array_split({0}, 2, {axis})[{part}]",
)
_enter("slice", "{0}[1:]", shapes.sliced(1, 1), _greatest)
_enter("slice_step", "{0}[::2]", shapes.sliced(0, 2), _greatest)
_enter("last", "{0}[..., -1]", shapes.last, _greatest)
_enter("index", "{0}[{place}]", shapes.row, _greatest)
_enter(
    "gather",
    "ops.gather({0}, ms.Tensor({places}), 0)",
    shapes.gathered,
    _greatest,
    torch="torch.index_select({0}, 0, torch.tensor({places}))",
    jax="jnp.take({0}, jnp.array({places}), 0)",
)
_enter(
    "gather_elements",
    "ops.gather_elements({0}, 1, ms.Tensor({places}))",
    shapes.taken,
    _greatest,
    torch="torch.gather({0}, 1, torch.tensor({places}))",
    jax="jnp.take_along_axis({0}, jnp.array({places}), 1)",
)
_enter(
    "pad",
    "ops.pad({0}, (1, 2))",
    shapes.padded,
    _greatest,
    modules=LAYERS,
    jax="jnp.pad({0}, [(0, 0)] * ({0}.ndim - 1) + [(1, 2)])",
)
_enter("tril", "ops.tril({0})", shapes.matrix, _greatest)
_enter("triu", "ops.triu({0})", shapes.matrix, _greatest)
_enter("diagonal", "ops.diagonal({0})", shapes.diagonal, _greatest)
_enter(
    "masked_fill",
    "ops.masked_fill({0}, {0} > 0.5, 0.25)",
    shapes.same,
    _greatest,
    jax="jnp.where({0} > 0.5, 0.25, {0})",
)

# Written in place, on a tensor of its own
_enter(
    "row_written",
    "{out} = {0} * 1.0; {out}[{place}] = {1}",
    shapes.written,
    _greatest,
    jax="{out} = {0}.at[{place}].set({1})",
)

# Products
_enter("matmul", "ops.matmul({0}, {1})", shapes.product, _products)
_enter("at", "{0} @ {1}", shapes.product, _products)
_enter(
    "addmm",
    "ops.addmm({2}, {0}, {1})",
    shapes.product,
    _products,
    arity=3,
    jax="{2} + {0} @ {1}",
)
_enter(
    "dense",
    "ops.matmul({0}, ops.t({1}))",
    shapes.dense,
    _products,
    torch="functional.linear({0}, {1})",
    jax="{0} @ {1}.T",
)
_enter(
    "bmm",
    "ops.bmm({0}, {1})",
    shapes.batched,
    _products,
    jax="jnp.matmul({0}, {1})",
)
_enter(
    "dot",
    "ops.sum({0} * {1})",
    shapes.dot,
    _products,
    torch="torch.dot({0}, {1})",
    jax="jnp.dot({0}, {1})",
)
_enter("outer", "ops.outer({0}, {1})", shapes.outer, _times)

# Layers
_enter(
    "layer_norm",
    "ops.LayerNorm(-1, -1, 1e-5)({0}, {1}, {1})[0]",
    shapes.normalised,
    lambda bounds, _: 3 * bounds[1],
    torch="functional.layer_norm({0}, ({length},), {1}, {1}, 1e-5)",
    jax="jax.nn.standardize({0}, epsilon=1e-5) * {1} + {1}",
)
_enter(
    "conv1d",
    "ops.conv1d({0}.reshape((1, 1, -1)), {1}.reshape((1, 1, -1))).reshape((-1,))",
    shapes.convolved,
    _products,
    torch="functional.conv1d({0}.reshape(1, 1, -1), {1}.reshape(1, 1, -1)).reshape(-1)",
    jax="jnp.correlate({0}, {1}, 'valid')",
)
_enter(
    "max_pool",
    "ops.max_pool2d(ops.unsqueeze(ops.unsqueeze({0}, 0), 0), 2, 2)[0, 0]",
    shapes.pooled,
    _greatest,
    torch="functional.max_pool2d({0}[None, None], 2, 2)[0, 0]",
    jax="jax.lax.reduce_window({0}, -jnp.inf, jax.lax.max, (2, 2), (2, 2), 'VALID')",
)
_enter(
    "avg_pool",
    "ops.avg_pool2d(ops.unsqueeze(ops.unsqueeze({0}, 0), 0), 2, 2)[0, 0]",
    shapes.pooled,
    _greatest,
    torch="functional.avg_pool2d({0}[None, None], 2, 2)[0, 0]",
    jax="jax.lax.reduce_window({0}, 0.0, jax.lax.add, (2, 2), (2, 2), 'VALID') / 4.0",
)
_enter(
    "cross_entropy",
    "ops.cross_entropy({0}, ms.Tensor({labels}, ms.int32))",
    shapes.loss,
    _doubled,
    torch="functional.cross_entropy({0}, torch.tensor({labels}))",
    jax=("-jnp.take_along_axis(jax.nn.log_softmax({0}), jnp.array({labels})[:, None], 1).mean()"),
)

# Control flow
_enter(
    "branch",
    "{out} = {0} * 2.0 if {0}.sum() > {1}.sum() else {1} * 3.0",
    shapes.like_the_first,
    _sum,
)
_enter(
    "loop",
    "{out} = {0}\nfor _ in range(3):\n    {out} = ops.sin({out}) + {0}",
    shapes.same,
    _doubled,
)

# What is kept, run again, or written by hand


DEFINITIONS: dict[str, dict[Framework, str]] = {
    "recomputed": {
        "mindspore": """\
class Recomputed(nn.Cell):
    def construct(self, x):
        return ops.sin(x) * x

recomputed = Recomputed()
recomputed.recompute()
""",
        "torch": """\
def sine_times(x):
    return torch.sin(x) * x

def recomputed(x):
    return checkpoint(sine_times, x, use_reentrant=False)
""",
        "jax": """\
@jax.checkpoint
def recomputed(x):
    return jnp.sin(x) * x
""",
    },
    "own_backward": {
        "mindspore": """\
class OwnBackward(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)

    def bprop(self, x, out, dout):
        return (dout * (1.0 - out * out),)

own_backward = OwnBackward()
""",
        "torch": """\
class OwnBackward(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        result = torch.tanh(x)
        context.save_for_backward(result)
        return result

    @staticmethod
    def backward(context, gradient):
        (result,) = context.saved_tensors
        return gradient * (1.0 - result * result)

own_backward = OwnBackward.apply
""",
        "jax": """\
@jax.custom_vjp
def own_backward(x):
    return jnp.tanh(x)

def forward(x):
    result = jnp.tanh(x)
    return result, result

def backward(result, gradient):
    return (gradient * (1.0 - result * result),)

own_backward.defvjp(forward, backward)
""",
    },
}
"""The layers and functions that stand before a net, by the name that an operator needs, in each framework."""

OPENINGS: dict[Framework, str] = {
    "mindspore": """\
import mindspore as ms
from mindspore import nn, ops
""",
    "torch": """\
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
""",
    "jax": """\
import jax
import jax.numpy as jnp
""",
}
"""The imports with which a net begins."""

_enter(
    "recomputed",
    "recomputed({0})",
    shapes.same,
    _greatest,
    needs="recomputed",
)
_enter(
    "own_backward",
    "own_backward({0})",
    shapes.same,
    _at_most(1),
    needs="own_backward",
)
_enter(
    "detached",
    "ops.stop_gradient({0}) * {1}",
    shapes.same,
    _times,
    torch="{0}.detach() * {1}",
    jax="jax.lax.stop_gradient({0}) * {1}",
)
_enter(
    "data",
    "{0}.data * {1}",
    shapes.same,
    _times,
    jax=NOWHERE,
)
_enter(
    "masked_sum",
    "ops.masked_select({0}, {0} > 0.125).sum()",
    shapes.to_scalar,
    _added_up,
    jax="{0}[{0} > 0.125].sum()",
)
_enter("boolean_mask", "{0} * ({0} > {1})", shapes.same, _greatest)
