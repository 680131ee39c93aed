"""Modules of flax.nnx as the functions of parameters that JAX's engines call.

A module holds parameters of its own, in flax's names and layouts. As a function it takes those of
PyTorch's net, by its names, and turns each as its layer keeps it: gradients have PyTorch's shapes.
"""

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


def as_function(net: Any, trains: bool = False) -> Callable[..., Any]:
    """A net that is called with parameters and inputs; a net that is such a function already stays it.

    A module is set to training or to evaluation. Each call begins with it as it was created, but for its
    parameters: what a forward changes, such as running statistics, goes with the call.

    Raises RefusedNetError, when it is called, where the module holds what is not among the parameters, or
    in another shape.
    """
    if not is_module(net):
        function: Callable[..., Any] = net
        return function
    from flax import nnx  # an extra, which a module's own file has imported

    net.train() if trains else net.eval()
    definition, state = nnx.split(net)
    held = dict(nnx.to_flat_state(state))
    named = [path for path, value in held.items() if not issubclass(value.type, nnx.RngState)]

    def call(parameters: Mapping[str, jax.Array], *inputs: Any) -> Any:
        given = {path: held[path].replace(_given(net, path, parameters)) for path in named}
        for path, value in given.items():
            _check_shape(name_of(net, path), value.value.shape, held[path].value.shape)
        return nnx.merge(definition, nnx.from_flat_state({**held, **given}))(*inputs)

    return call


def is_module(net: Any) -> bool:
    """Whether a net is a module of flax.nnx."""
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(net, nnx.Module)


def name_of(net: Any, path: Path) -> str:
    """PyTorch's name of what a module holds at a path: "blocks.0.weight"."""
    *way, last = map(str, path)
    if _layers(_owner(net, path)):
        last = NAMES.get(last, last)
    return ".".join((*way, last))


def _given(net: Any, path: Path, parameters: Mapping[str, jax.Array]) -> jax.Array:
    """What a module holds at a path, of the parameters of PyTorch's net, as the layer keeps it."""
    name = name_of(net, path)
    if name not in parameters:
        raise RefusedNetError("not_a_parameter", name, ", ".join(parameters))
    value = parameters[name]
    if path[-1] == "kernel" and not _layers(_owner(net, path)).isdisjoint(TURNED):
        return value.transpose(*range(2, value.ndim), 1, 0)
    return value


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
