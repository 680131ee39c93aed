"""The layers of MindSpore that a net is made of, and what their constructors were given.

A Cell keeps little of that: some settings under other names, some turned into others (the
``momentum`` of a batch norm is kept as 1 less it, 2.10.0). So they are noted while a net is made.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import mindspore as ms

from explorer.engines.layer_settings import BY_POSITION, framework_class, is_setting
from explorer.engines.mindspore.enumerations import readable
from explorer.engines.plain_values import plain_arguments
from explorer.model.graph import Arguments, Layer

PACKAGES = ("mindspore.nn", "mindspore.mint.nn")
"""Where MindSpore's layers are defined."""

BARE = frozenset({"Cell", "SequentialCell", "CellList", "CellDict"})
"""Classes there that are no layers."""


class Made(NamedTuple):
    """A Cell that was made, and what its constructor was given; the Cell is kept for its ``id``."""

    cell: Any
    arguments: Arguments


Constructions = dict[int, Made]
"""The Cells that were made while a net was built, by ``id``."""


@contextmanager
def constructions_noted() -> Iterator[Constructions]:
    """Note the arguments of all Cells of MindSpore's own classes that are made meanwhile."""
    made: Constructions = {}
    plain = {kind: vars(kind)["__init__"] for kind in _classes(ms.nn.Cell)}
    for kind, constructor in plain.items():
        kind.__init__ = _noting(constructor, made)
    try:
        yield made
    finally:
        for kind, constructor in plain.items():
            kind.__init__ = constructor


def layers_of(net: Any, made: Constructions) -> dict[str, Layer]:
    """The layers of a net, by path; none of a net that is a function."""
    layers: dict[str, Layer] = {}
    if not isinstance(net, ms.nn.Cell):
        return layers
    for path, cell in net.cells_and_names():
        kind = framework_class(cell, PACKAGES, BARE)
        if kind is not None:
            settings = made[id(cell)].arguments if id(cell) in made else {}
            layers[path] = Layer(f"nn.{kind.__name__}", settings)
    return layers


def _classes(base: Any) -> Iterator[Any]:
    """The classes of layers that have a constructor of their own."""
    for kind in base.__subclasses__():
        if kind.__module__.startswith(PACKAGES) and inspect.isfunction(vars(kind).get("__init__")):
            yield kind
        yield from _classes(kind)


def _noting(constructor: Callable[..., None], made: Constructions) -> Callable[..., None]:
    """A constructor that notes what it is given, unless that of a subclass has done so."""
    signature = inspect.signature(constructor)
    _, *parameters = signature.parameters.values()
    names_nothing = bool(parameters) and all(it.kind in BY_POSITION for it in parameters)

    @functools.wraps(constructor)
    def noting(self: Any, *args: Any, **kwargs: Any) -> None:
        if id(self) not in made and not names_nothing:
            made[id(self)] = Made(self, _given(signature, self, args, kwargs))
        constructor(self, *args, **kwargs)

    return noting


def _given(
    signature: inspect.Signature, cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Arguments:
    """The settings that a constructor is given, defaults filled in."""
    try:
        bound = signature.bind(cell, *args, **kwargs)
    except TypeError:
        return {}  # the constructor says itself what is wrong
    bound.apply_defaults()
    _, *parameters = signature.parameters.values()
    names = [it.name for it in parameters if it.kind not in BY_POSITION and is_setting(it.name)]
    settings = readable({name: bound.arguments[name] for name in names})
    return plain_arguments(settings).arguments
