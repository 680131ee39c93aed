"""Modules of flax and equinox as the functions of parameters that JAX's engines call.

A module of flax.nnx or equinox holds parameters of its own, one of flax.linen says which it takes. As a
function it takes those of PyTorch's net, by its names, and turns each as its layer keeps it: gradients have
PyTorch's shapes. What is called otherwise goes by names that were found, or that the scenario gives.
"""

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import jax

from explorer.model.errors import RefusedNetError
from explorer.scenario.pairing import squeezed

NAMES = {
    "embedding": "weight",
    "kernel": "weight",
    "scale": "weight",
    "mean": "running_mean",
    "var": "running_var",
}
"""PyTorch's names of what flax's own layers hold, where they have another."""

STATISTICS = ("running_mean", "running_var")
"""What is held and not trained, by PyTorch's names."""

TURNED = ("Linear", "Conv")
"""Layers whose kernel has its axes the other way round: inputs before outputs, space before both."""

LAYERS = "flax.nnx.nn."
"""The package of flax's own layers (0.10.7)."""

Path = tuple[str | int, ...]

Shape = tuple[int, ...]

Parameters = Mapping[str, jax.Array]

Names = Mapping[str, str]
"""PyTorch's names of what a module holds, by its own paths, or of a module by the path of that."""

Function = Callable[..., Any]


class Held(NamedTuple):
    """An array that a module holds, by its own path: "Dense_0.kernel".

    ``names`` are those that it may have in PyTorch without being told, the usual one first;
    ``is_turned`` says that its axes lie the other way round than PyTorch's.
    """

    path: str
    names: tuple[str, ...]
    shape: Shape
    dtype: str
    is_turned: bool = False

    @property
    def is_trained(self) -> bool:
        """Whether it is a parameter, and no running statistic."""
        return self.names[0].rpartition(".")[2] not in STATISTICS

    @property
    def shape_in_torch(self) -> Shape:
        """Its shape with the axes as PyTorch has them."""
        return (*self.shape[:-3:-1], *self.shape[:-2]) if self.is_turned else self.shape

    def name(self, names: Names) -> str:
        """Its name in PyTorch by ``names``, else as far as that can be said without that net."""
        if self.path in names:
            return names[self.path]
        steps, usual = self.path.split("."), self.names[-1]
        for length in range(len(steps) - 1, 0, -1):
            module = ".".join(steps[:length])
            if module in names:
                kept = len(steps) - length
                return ".".join((names[module], *usual.split(".")[-kept:]))
        return usual

    def value(self, parameters: Parameters, names: Names) -> jax.Array:
        """What it is of the parameters of PyTorch's net, as the module keeps it."""
        own = self.name(names)
        known = self.names if own == self.names[-1] else (own,)
        name = next((name for name in known if name in parameters), known[0])
        if name not in parameters:
            raise RefusedNetError("not_a_parameter", name, ", ".join(parameters))
        value = parameters[name]
        if self.is_turned:
            value = value.transpose(*range(2, value.ndim), 1, 0)  # space, inputs, outputs
        if value.shape == self.shape:
            return value
        if squeezed(value.shape) == squeezed(self.shape):
            return value.reshape(self.shape)
        said = name if name in self.names else f"{self.path} ({name})"
        raise RefusedNetError("parameter_shape", said, str(self.shape), str(value.shape))


class Module(NamedTuple):
    """A module as a function: what it holds where it is called with some inputs, and the call with that."""

    held: Callable[..., Iterable[Held]]
    call: Callable[..., Any]


def as_function(net: Any, trains: bool = False, names: Names = MappingProxyType({})) -> Function:
    """A net that is called with parameters and inputs; a net that is such a function already stays it.

    A module is set to training or to evaluation. Each call begins with it as it was created, but for its
    parameters: what a forward changes, such as running statistics, goes with the call.

    Raises RefusedNetError, when it is called, where the module holds what is not among the parameters, or
    in another shape.
    """
    if not is_module(net):
        function: Function = net
        return function
    module = _module(net, trains)

    def call(parameters: Parameters, *inputs: Any) -> Any:
        given = {held.path: held.value(parameters, names) for held in module.held(*inputs)}
        return module.call(given, *inputs)

    return call


def held_by(net: Any, trains: bool, inputs: Iterable[Any]) -> tuple[Held, ...]:
    """What a module holds, in the order in which it declares it as far as that is known."""
    return tuple(_module(net, trains).held(*inputs)) if is_module(net) else ()


def is_module(net: Any) -> bool:
    """Whether a net is a module of one of the packages that are known."""
    return any(_is_of(package, net) for package in KINDS)


def _module(net: Any, trains: bool) -> Module:
    return next(kind(net, trains) for package, kind in KINDS.items() if _is_of(package, net))


def _is_of(package: str, net: Any) -> bool:
    known = sys.modules.get(package)
    return known is not None and isinstance(net, known.Module)


# flax.nnx


def _of_nnx(net: Any, trains: bool) -> Module:
    from flax import nnx  # an extra, which a module's own file has imported

    net.train() if trains else net.eval()
    definition, state = nnx.split(net)
    variables = dict(nnx.to_flat_state(state))
    named = [path for path, it in variables.items() if not issubclass(it.type, nnx.RngState)]
    named.sort(key=lambda path: _places(net, path))
    held = [_in_nnx(net, path, variables[path].value) for path in named]

    def call(given: Parameters, *inputs: Any) -> Any:
        values = {path: variables[path].replace(given[_path(path)]) for path in named}
        return nnx.merge(definition, nnx.from_flat_state({**variables, **values}))(*inputs)

    return Module(lambda *_inputs: held, call)


def _in_nnx(net: Any, path: Path, value: jax.Array) -> Held:
    is_turned = path[-1] == "kernel" and not _layers(_owner(net, path)).isdisjoint(TURNED)
    return Held(_path(path), (name_of(net, path),), value.shape, value.dtype.name, is_turned)


def _path(path: Path) -> str:
    return ".".join(map(str, path))


def _places(net: Any, path: Path) -> tuple[int, ...]:
    """The places of the steps of a path among the attributes of what they are steps in."""
    places = []
    for depth, step in enumerate(path):
        owner = _owner(net, path[: depth + 1])
        places.append(step if isinstance(step, int) else list(vars(owner)).index(step))
    return tuple(places)


def name_of(net: Any, path: Path) -> str:
    """PyTorch's name of what a module holds at a path: "blocks.0.weight"."""
    *way, last = map(str, path)
    if _layers(_owner(net, path)):
        last = NAMES.get(last, last)
    return ".".join((*way, last))


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


def _of_linen(net: Any, trains: bool) -> Module:
    known = inspect.signature(type(net).__call__).parameters
    modes = {name: trains is trained for name, trained in MODES.items() if name in known}

    @functools.cache
    def variables(*forms: tuple[Shape, Any]) -> tuple[Any, list[Held]]:
        """What the module holds for inputs of such forms, and the same in the order of its declaration."""
        order: list[Path] = []

        def init(*given: Any) -> Any:
            made = net.init(jax.random.key(0), *given, **modes)
            order.extend(_paths(made))
            return made

        held = jax.eval_shape(init, *(jax.ShapeDtypeStruct(*form) for form in forms))
        by_path = dict(zip(_paths(held), jax.tree_util.tree_leaves(held), strict=True))
        return held, [_in_linen(path, by_path[path]) for path in order]

    def of(inputs: Iterable[Any]) -> tuple[Any, list[Held]]:
        return variables(*((it.shape, it.dtype) for it in inputs))

    def call(given: Parameters, *inputs: Any) -> Any:
        held, _ = of(inputs)

        def value(path: Any, _form: Any) -> jax.Array:
            return given[_path(tuple(step.key for step in path)[1:])]

        values = jax.tree_util.tree_map_with_path(value, held)
        changed = [collection for collection in held if collection != "params"] if trains else False
        returned = net.apply(values, *inputs, mutable=changed, **modes)
        return returned if changed is False else returned[0]

    return Module(lambda *inputs: of(inputs)[1], call)


MODES = {"train": True, "training": True, "deterministic": False, "use_running_average": False}
"""Arguments by which modules of flax.linen are told that they train, and their value then."""


def _paths(held: Any, way: Path = ()) -> list[Path]:
    """The paths in nested dicts, in their order."""
    if not isinstance(held, Mapping):
        return [way]
    return [path for key, part in held.items() for path in _paths(part, (*way, key))]


def _in_linen(path: Path, form: Any) -> Held:
    _collection, *way, last = map(str, path)
    name = NAMES.get(last, last)
    # Of a list's items linen makes one name, "blocks_0", where PyTorch has two, "blocks.0".
    apart = [re.sub(r"_(\d+)$", r".\1", step) for step in way]
    names = ".".join((*way, name)), ".".join((*apart, name))
    is_turned = last == "kernel" and len(form.shape) > 1
    return Held(_path((*way, last)), names, form.shape, form.dtype.name, is_turned)


# equinox


def _of_equinox(net: Any, trains: bool) -> Module:
    import equinox  # an extra, which a module's own file has imported

    net = equinox.nn.inference_mode(net, not trains)
    leaves, tree = jax.tree_util.tree_flatten_with_path(net)
    paths = [
        _path(tuple(getattr(step, "name", getattr(step, "idx", step)) for step in path))
        for path, _value in leaves
    ]
    arrays = {
        path: value
        for path, (_, value) in zip(paths, leaves, strict=True)
        if equinox.is_array(value)
    }
    held = [Held(path, (path,), it.shape, it.dtype.name) for path, it in arrays.items()]

    def call(given: Parameters, *inputs: Any) -> Any:
        values = [given.get(path, it) for path, (_, it) in zip(paths, leaves, strict=True)]
        return jax.tree_util.tree_unflatten(tree, values)(*inputs)

    return Module(lambda *_inputs: held, call)


KINDS: Mapping[str, Callable[[Any, bool], Module]] = {
    "flax.nnx": _of_nnx,
    "flax.linen": _of_linen,
    "equinox": _of_equinox,
}
"""The packages whose ``Module`` a net may be."""
