"""Names of the arrays in the arguments of functions, and what PyTorch calls them as far as that is known."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax

from explorer.engines.jax.modules import NAMES
from explorer.engines.jax.optimizers import STATE
from explorer.model.arrays import AnyArray
from explorer.model.trace import StartRole

COLLECTIONS = ("params", "batch_stats")
"""What flax calls the dicts in which it keeps variables: they are in no name."""

FIELD = "."
"""What a step of a path begins with that is a field of a record."""

VALUE = f"{FIELD}value"
"""The field in which flax.nnx keeps the array of a variable (0.10.7)."""

OPTIMIZER = "opt_state"
"""What flax calls the state of an optimizer."""

FLAX = "flax.nnx."
"""The package of the modules of flax that hold arrays."""

KERNEL = "kernel"
"""What flax calls the weight of a layer whose axes lie the other way round than PyTorch's."""

DEEPEST = 2
"""Results are looked at in so many levels of tuples."""

Steps = tuple[str, ...]


class Leaf(NamedTuple):
    """An array in an argument: the argument's name, the path in it, and the array."""

    argument: str
    steps: Steps
    value: Any

    @property
    def name(self) -> str:
        """The name with that of the argument, unless that is a container of flax's."""
        first = self.steps[0].removeprefix(FIELD) if self.steps else ""
        is_flax = first in COLLECTIONS or (self.argument in COLLECTIONS and self.steps)
        return ".".join(filter(None, ("" if is_flax else self.argument, path_of(self.steps))))

    @property
    def own_name(self) -> str:
        """The name in its argument; that of the argument where this is the array itself."""
        return path_of(self.steps) or self.argument

    @property
    def of_optimizer(self) -> str | None:
        """The name of what an optimizer holds for a parameter: "fc.kernel.exp_avg"; else None."""
        is_held = any(step.removeprefix(FIELD) == OPTIMIZER for step in self.steps)
        is_held = is_held or self.argument == OPTIMIZER
        for place, step in enumerate(self.steps):
            field = step.removeprefix(FIELD)
            if field in STATE and (is_held or step.startswith(FIELD)):
                parameter = path_of(self.steps[place + 1 :])
                return f"{parameter}.{STATE[field]}" if parameter else self.name
        return self.name if is_held else None


def path_of(steps: Steps) -> str:
    """A path as the program has it: "fc.kernel" of params, fc, kernel."""
    names = [step.removeprefix(FIELD) for step in steps]
    if names and steps[-1] == VALUE:
        names.pop()
    while names and names[0] in COLLECTIONS:
        names.pop(0)
    return ".".join(names)


def in_torch(name: str) -> str:
    """PyTorch's name: "fc.weight" of "fc.kernel", "fc.weight.exp_avg" of "fc.kernel.exp_avg"."""
    parts, held = _parts(name)
    if len(parts) > 1 or parts == [KERNEL]:
        parts[-1] = NAMES.get(parts[-1], parts[-1])
    return ".".join((*parts, *held))


def is_turned(name: str, dimensions: int) -> bool:
    """Whether an array lies with its axes the other way round than PyTorch's: flax's kernels do."""
    return _parts(name)[0][-1] == KERNEL and dimensions > 1


def turned(array: AnyArray) -> AnyArray:
    """A kernel as it lies in PyTorch: outputs, inputs, space."""
    last = array.ndim - 1
    return array.transpose(last, last - 1, *range(last - 1))


def _parts(name: str) -> tuple[list[str], list[str]]:
    """The parts of a parameter's name, and what an optimizer holds for it."""
    *parts, last = name.split(".")
    return (parts, [last]) if parts and last in STATE.values() else ([*parts, last], [])


def leaves_of_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Leaf]:
    """The arrays that a function is called with, in the order of its arguments."""
    for argument, value in _by_argument(function, args, kwargs).items():
        for steps, leaf in leaves(value):
            yield Leaf(argument, steps, leaf)


def _by_argument(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    try:
        return dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return {**{f"input{place}": value for place, value in enumerate(args)}, **kwargs}


def leaves(value: Any) -> Iterator[tuple[Steps, Any]]:
    """The arrays in a nested value, with their paths; those that flax.nnx keeps by theirs."""
    for path, part in jax.tree_util.tree_flatten_with_path(value, is_leaf=_is_kept_flat)[0]:
        steps = tuple(map(_step, path))
        for inner, leaf in _inner(part):
            if hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
                yield (*steps, *inner), leaf


def _is_kept_flat(value: Any) -> bool:
    """Whether a value is one in which flax.nnx keeps variables under numbers, in place of their paths."""
    is_flax = type(value).__module__.startswith(FLAX)
    return is_flax and (hasattr(value, "states") or hasattr(value, "paths"))


def _inner(part: Any) -> Iterator[tuple[Steps, Any]]:
    if not _is_kept_flat(part):
        yield (), part
    elif hasattr(part, "states"):
        for state in part.states:
            yield from leaves(state)
    else:
        for path, held in zip(part.paths, part.leaves, strict=True):
            for inner, leaf in leaves(held):
                yield (*map(str, path), *inner), leaf


def _step(key: Any) -> str:
    if hasattr(key, "name"):
        return f"{FIELD}{key.name}"
    return str(key.key if hasattr(key, "key") else getattr(key, "idx", key))


def parts_of(value: Any) -> Iterator[Any]:
    """A result, and each part of its tuples."""
    waiting = [(value, 0)]
    while waiting:
        part, level = waiting.pop(0)
        yield part
        if type(part) in (tuple, list) and level < DEEPEST:
            waiting += [(inner, level + 1) for inner in part]


def role_of(leaf: Leaf) -> StartRole:
    """The role of an argument that is not differentiated, as far as its name says it."""
    return "optimizer" if leaf.of_optimizer else "input"
