"""The layers of PyTorch that a net is made of, and how they were made.

A module keeps what its constructor was given, under the same names (torch 2.13).
"""

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch

from explorer.engines.layer_settings import BY_POSITION, framework_class, is_setting
from explorer.engines.plain_values import plain_arguments
from explorer.engines.torch.dropout import FixedDropout
from explorer.model.graph import Layer

PACKAGES = ("torch.nn",)

BARE = frozenset({"Module", "Sequential", "ModuleList", "ModuleDict"})
"""Classes of torch.nn that are no layers."""


def layers_of(net: Any) -> dict[str, Layer]:
    """The layers of a net, by path; none of a net that is a function."""
    layers: dict[str, Layer] = {}
    if not isinstance(net, torch.nn.Module):
        return layers
    for path, module in net.named_modules():
        if isinstance(module, FixedDropout):
            (module,) = module.replaced
        kind = framework_class(module, PACKAGES, BARE)
        if kind is not None:
            settings = plain_arguments(_settings(module, kind)).arguments
            layers[path] = Layer(f"nn.{kind.__name__}", settings)
    return layers


def _settings(module: Any, kind: type) -> Iterator[tuple[str, Any]]:
    """What the constructor of ``kind`` was given for a module, as far as its attributes say it."""
    for name, default in _parameters(kind):
        if not hasattr(module, name):
            continue
        value = getattr(module, name)
        if isinstance(default, bool) and not isinstance(value, (bool, int)):
            value = value is not None  # bias=True is read off whether there is one
        yield name, value


@cache
def _parameters(kind: type) -> tuple[tuple[str, Any], ...]:
    """The settings of a class's constructor, or of the one that it hands them on to."""
    for base in kind.__mro__:
        if not inspect.isfunction(vars(base).get("__init__")):
            continue
        _, *parameters = inspect.signature(vars(base)["__init__"]).parameters.values()
        named = [parameter for parameter in parameters if parameter.kind not in BY_POSITION]
        if named or not parameters:
            return tuple((it.name, it.default) for it in named if is_setting(it.name))
    return ()
