"""What to write in a net of JAX's: for functions of PyTorch's, and for operations of JAX's own graphs."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from explorer.compare.causes.translations import shorter
from explorer.model.causes import Cause, Mend
from explorer.model.graph import Arguments, ArgumentValue, Node


class Call(NamedTuple):
    """A function of JAX's, and what it calls the arguments that are PyTorch's or an operation's."""

    name: str
    arguments: Mapping[str, str] = {}


AXIS = {"dim": "axis", "keepdim": "keepdims"}
WITH_DEGREES = {**AXIS, "correction": "ddof"}

OF_TORCH: dict[str, Call] = {
    "torch.nn.functional.relu": Call("jax.nn.relu"),
    "torch.nn.functional.relu6": Call("jax.nn.relu6"),
    "torch.nn.functional.gelu": Call("jax.nn.gelu", {"approximate": "approximate"}),
    "torch.nn.functional.silu": Call("jax.nn.silu"),
    "torch.nn.functional.mish": Call("jax.nn.mish"),
    "torch.sigmoid": Call("jax.nn.sigmoid"),
    "torch.tanh": Call("jnp.tanh"),
    "torch.nn.functional.softplus": Call("jax.nn.softplus"),
    "torch.nn.functional.softsign": Call("jax.nn.soft_sign"),
    "torch.nn.functional.logsigmoid": Call("jax.nn.log_sigmoid"),
    "torch.nn.functional.elu": Call("jax.nn.elu", {"alpha": "alpha"}),
    "torch.nn.functional.celu": Call("jax.nn.celu", {"alpha": "alpha"}),
    "torch.nn.functional.selu": Call("jax.nn.selu"),
    "torch.nn.functional.hardswish": Call("jax.nn.hard_swish"),
    "torch.nn.functional.hardsigmoid": Call("jax.nn.hard_sigmoid"),
    "torch.nn.functional.leaky_relu": Call(
        "jax.nn.leaky_relu", {"negative_slope": "negative_slope"}
    ),
    "torch.nn.functional.glu": Call("jax.nn.glu", AXIS),
    "torch.nn.functional.softmax": Call("jax.nn.softmax", AXIS),
    "torch.nn.functional.log_softmax": Call("jax.nn.log_softmax", AXIS),
    "torch.exp": Call("jnp.exp"),
    "torch.log": Call("jnp.log"),
    "torch.sqrt": Call("jnp.sqrt"),
    "torch.rsqrt": Call("jax.lax.rsqrt"),
    "torch.abs": Call("jnp.abs"),
    "torch.neg": Call("jnp.negative"),
    "torch.square": Call("jnp.square"),
    "torch.reciprocal": Call("jnp.reciprocal"),
    "torch.erf": Call("jax.lax.erf"),
    "torch.sin": Call("jnp.sin"),
    "torch.cos": Call("jnp.cos"),
    "torch.acos": Call("jnp.arccos"),
    "torch.sign": Call("jnp.sign"),
    "torch.add": Call("jnp.add"),
    "torch.sub": Call("jnp.subtract"),
    "torch.mul": Call("jnp.multiply"),
    "torch.div": Call("jnp.divide"),
    "torch.pow": Call("jnp.power"),
    "torch.maximum": Call("jnp.maximum"),
    "torch.minimum": Call("jnp.minimum"),
    "torch.clamp": Call("jnp.clip", {"min": "min", "max": "max"}),
    "torch.sum": Call("jnp.sum", AXIS),
    "torch.mean": Call("jnp.mean", AXIS),
    "torch.prod": Call("jnp.prod", AXIS),
    "torch.amax": Call("jnp.max", AXIS),
    "torch.amin": Call("jnp.min", AXIS),
    "torch.var": Call("jnp.var", WITH_DEGREES),
    "torch.std": Call("jnp.std", WITH_DEGREES),
    "torch.logsumexp": Call("jax.nn.logsumexp", AXIS),
    "torch.linalg.norm": Call("jnp.linalg.norm", {**AXIS, "ord": "ord"}),
    "torch.linalg.vector_norm": Call("jnp.linalg.vector_norm", {**AXIS, "ord": "ord"}),
    "torch.argmax": Call("jnp.argmax", AXIS),
    "torch.cumsum": Call("jnp.cumsum", AXIS),
    "torch.cumprod": Call("jnp.cumprod", AXIS),
    "torch.cat": Call("jnp.concatenate", AXIS),
    "torch.stack": Call("jnp.stack", AXIS),
    "torch.flip": Call("jnp.flip", {"dims": "axis"}),
    "torch.tril": Call("jnp.tril", {"diagonal": "k"}),
    "torch.triu": Call("jnp.triu", {"diagonal": "k"}),
    "torch.gather": Call("jnp.take_along_axis", AXIS),
    "torch.index_select": Call("jnp.take", AXIS),
}
"""Functions of PyTorch's that are one function in JAX (0.6.2), which is called by its usual short names."""

OF_OPERATIONS: dict[str, Call] = {
    "add": Call("+", {"x": "x", "y": "y"}),
    "sub": Call("-", {"x": "x", "y": "y"}),
    "mul": Call("*", {"x": "x", "y": "y"}),
    "div": Call("/", {"x": "x", "y": "y"}),
    "pow": Call("**", {"x": "x", "y": "y"}),
    "integer_pow": Call("**", {"y": "y"}),
    "max": Call("jnp.maximum", {"x": "x", "y": "y"}),
    "min": Call("jnp.minimum", {"x": "x", "y": "y"}),
    "reduce_sum": Call("jnp.sum"),  # its axes may be those of a mean, a variance or a norm
    "reduce_max": Call("jnp.max", {"axes": "axis"}),
    "reduce_min": Call("jnp.min", {"axes": "axis"}),
    "reduce_prod": Call("jnp.prod", {"axes": "axis"}),
    "argmax": Call("jnp.argmax", {"axes": "axis"}),
    "cumsum": Call("jnp.cumsum", {"axis": "axis"}),
    "cumprod": Call("jnp.cumprod", {"axis": "axis"}),
    "concatenate": Call("jnp.concatenate", {"dimension": "axis"}),
    "rev": Call("jnp.flip", {"dimensions": "axis"}),
    "transpose": Call("jnp.transpose", {"permutation": "axes"}),
    "exp": Call("jnp.exp"),
    "log": Call("jnp.log"),
    "log1p": Call("jnp.log1p"),
    "expm1": Call("jnp.expm1"),
    "tanh": Call("jnp.tanh"),
    "logistic": Call("jax.nn.sigmoid"),
    "sqrt": Call("jnp.sqrt"),
    "rsqrt": Call("jax.lax.rsqrt"),
    "square": Call("jnp.square"),
    "abs": Call("jnp.abs"),
    "neg": Call("jnp.negative"),
    "sign": Call("jnp.sign"),
    "sin": Call("jnp.sin"),
    "cos": Call("jnp.cos"),
    "erf": Call("jax.lax.erf"),
}
"""What a user writes for operations of JAX's graphs."""

VALUES: dict[str, Callable[[ArgumentValue], ArgumentValue]] = {
    "approximate": lambda value: value == "tanh" if isinstance(value, str) else value,
}
"""How a value of PyTorch's is said in JAX where it is not the same."""


def in_jax(mend: Mend) -> Mend | None:
    """What a mend of PyTorch's net is in JAX's; None where JAX has no such function."""
    return _mend(mend, OF_TORCH.get(mend.call), mend.arguments)


def mends_of_jax(cause: Cause, _: Node) -> tuple[Mend, ...]:
    """What to write on JAX's side for a cause that was found at an operation of its graph."""
    mend = Mend(side=cause.side, call=cause.other_op or cause.op, arguments=cause.arguments)
    found = _mend(mend, OF_OPERATIONS.get(mend.call), mend.arguments)
    return (found,) if found else ()


def _mend(mend: Mend, call: Call | None, given: Arguments) -> Mend | None:
    if call is None or not given.keys() <= call.arguments.keys():
        return None
    arguments = {}
    for name, value in given.items():
        said = VALUES.get(name, shorter)(value)
        arguments[call.arguments[name]] = said
    return Mend(side=mend.side, call=call.name, arguments=arguments)
