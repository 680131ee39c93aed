"""Modules of flax and equinox as the functions of parameters that JAX's engines call.

A module of flax.nnx or equinox holds parameters of its own, one of flax.linen says which it takes. As a
function it takes those of PyTorch's net, by its names, and turns each as its layer keeps it: gradients have
PyTorch's shapes.
"""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import jax

from explorer.model.errors import RefusedNetError

NAMES = {
    "embedding": "weight",
    "kernel": "weight",
    "scale": "weight",
    "mean": "running_mean",
    "var": "running_var",
}
"""PyTorch's names of what flax's own layers hold, where they have another."""

TURNED = ("Linear", "Conv")
"""Layers whose kernel has its axes the other way round: inputs before outputs, space before both."""

LAYERS = "flax.nnx.nn."
"""The package of flax's own layers (0.10.7)."""

Path = tuple[str | int, ...]


Parameters = Mapping[str, jax.Array]

Function = Callable[..., Any]


def as_function(net: Any, trains: bool = False) -> Function:
    """A net that is called with parameters and inputs; a net that is such a function already stays it.

    A module is set to training or to evaluation. Each call begins with it as it was created, but for its
    parameters: what a forward changes, such as running statistics, goes with the call.

    Raises RefusedNetError, when it is called, where the module holds what is not among the parameters, or
    in another shape.
    """
    for package, function_of in KINDS.items():
        if _is_of(package, net):
            return function_of(net, trains)
    function: Function = net
    return function


def is_module(net: Any) -> bool:
    """Whether a net is a module of one of the packages that are known."""
    return any(_is_of(package, net) for package in KINDS)


def _is_of(package: str, net: Any) -> bool:
    known = sys.modules.get(package)
    return known is not None and isinstance(net, known.Module)


# flax.nnx


def _of_nnx(net: Any, trains: bool) -> Function:
    from flax import nnx  # an extra, which a module's own file has imported

    net.train() if trains else net.eval()
    definition, state = nnx.split(net)
    held = dict(nnx.to_flat_state(state))
    named = [path for path, value in held.items() if not issubclass(value.type, nnx.RngState)]

    def call(parameters: Parameters, *inputs: Any) -> Any:
        given = {path: held[path].replace(_given(net, path, parameters)) for path in named}
        for path, value in given.items():
            _check_shape(name_of(net, path), value.value.shape, held[path].value.shape)
        return nnx.merge(definition, nnx.from_flat_state({**held, **given}))(*inputs)

    return call


def name_of(net: Any, path: Path) -> str:
    """PyTorch's name of what a module holds at a path: "blocks.0.weight"."""
    *way, last = map(str, path)
    if _layers(_owner(net, path)):
        last = NAMES.get(last, last)
    return ".".join((*way, last))


def _given(net: Any, path: Path, parameters: Parameters) -> jax.Array:
    """What a module holds at a path, of the parameters of PyTorch's net, as the layer keeps it."""
    value = _named(name_of(net, path), parameters)
    is_turned = path[-1] == "kernel" and not _layers(_owner(net, path)).isdisjoint(TURNED)
    return _as_kernel(value) if is_turned else value


def _named(name: str, parameters: Parameters) -> jax.Array:
    if name not in parameters:
        raise RefusedNetError("not_a_parameter", name, ", ".join(parameters))
    return parameters[name]


def _as_kernel(weight: jax.Array) -> jax.Array:
    """A weight of PyTorch's as flax's layers keep it: space, inputs, outputs."""
    return weight.transpose(*range(2, weight.ndim), 1, 0)


def _check_shape(name: str, given: tuple[int, ...], own: tuple[int, ...]) -> None:
    if given != own:
        raise RefusedNetError("parameter_shape", name, str(own), str(given))


def _owner(net: Any, path: Path) -> Any:
    """The module that holds what is at a path."""
    for step in path[:-1]:
        net = net[step] if isinstance(step, int) else getattr(net, step)
    return net


def _layers(module: Any) -> set[str]:
    """The names of flax's own layers that a module is one of; empty for one of the net's own."""
    kinds = type(module).__mro__
    return {kind.__name__ for kind in kinds if kind.__module__.startswith(LAYERS)}


# flax.linen


def _of_linen(net: Any, trains: bool) -> Function:
    known = inspect.signature(type(net).__call__).parameters
    modes = {name: trains is trained for name, trained in MODES.items() if name in known}

    def call(parameters: Parameters, *inputs: Any) -> Any:
        forms = [jax.ShapeDtypeStruct(it.shape, it.dtype) for it in inputs]
        held = jax.eval_shape(lambda *given: net.init(jax.random.key(0), *given, **modes), *forms)

        def given(path: Any, form: Any) -> jax.Array:
            _collection, *way, last = (step.key for step in path)
            name = _name_in(parameters, way, NAMES.get(last, last))
            value = _named(name, parameters)
            value = _as_kernel(value) if last == "kernel" and value.ndim > 1 else value
            _check_shape(name, value.shape, form.shape)
            return value

        variables = jax.tree_util.tree_map_with_path(given, held)
        changed = [collection for collection in held if collection != "params"] if trains else False
        returned = net.apply(variables, *inputs, mutable=changed, **modes)
        return returned if changed is False else returned[0]

    return call


MODES = {"train": True, "training": True, "deterministic": False, "use_running_average": False}
"""Arguments by which modules of flax.linen are told that they train, and their value then."""


def _name_in(parameters: Parameters, way: list[str], last: str) -> str:
    """A name: of a list's items linen makes one, "blocks_0", where PyTorch has two, "blocks.0"."""
    name = ".".join((*way, last))
    apart = ".".join((*(re.sub(r"_(\d+)$", r".\1", step) for step in way), last))
    return apart if name not in parameters and apart in parameters else name


# equinox


def _of_equinox(net: Any, trains: bool) -> Function:
    import equinox  # an extra, which a module's own file has imported

    net = equinox.nn.inference_mode(net, not trains)
    held, tree = jax.tree_util.tree_flatten_with_path(net)

    def call(parameters: Parameters, *inputs: Any) -> Any:
        given = [
            _as_in_equinox(path, value, parameters) if equinox.is_array(value) else value
            for path, value in held
        ]
        return jax.tree_util.tree_unflatten(tree, given)(*inputs)

    return call


def _as_in_equinox(path: Any, own: jax.Array, parameters: Parameters) -> jax.Array:
    name = ".".join(str(getattr(step, "name", getattr(step, "idx", step))) for step in path)
    value = _named(name, parameters)
    if value.size == own.size and value.ndim == 1:
        value = value.reshape(own.shape)  # the bias of a convolution has an axis for each of space
    _check_shape(name, value.shape, own.shape)
    return value


KINDS: Mapping[str, Callable[[Any, bool], Function]] = {
    "flax.nnx": _of_nnx,
    "flax.linen": _of_linen,
    "equinox": _of_equinox,
}
"""The packages whose ``Module`` a net may be."""
