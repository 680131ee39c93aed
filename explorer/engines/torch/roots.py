"""Nets as modules that return just what is to be differentiated.

Listings show them to the reader, so this is plain PyTorch throughout.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from explorer.model.cases import GradCase


class FirstOutput(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
    """A net of which only the first output is differentiated; the others pass as constants."""

    def __init__(self, net: Callable[..., tuple[Any, ...]]) -> None:
        super().__init__()
        self.net = net

    def forward(self, *args: torch.Tensor) -> tuple[Any, ...]:
        """All outputs, of which just the first depends on the arguments for autograd."""
        first, *others = self.net(*args)
        return first, *tree_map_only(torch.Tensor, torch.Tensor.detach, others)


class Gradient(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
    """The gradient of the sum of all elements that a net returns; again a net.

    It is taken with respect to the input at ``position``.
    """

    def __init__(self, net: Callable[..., Any], position: int) -> None:
        super().__init__()
        self.net = net
        self.position = position

    def total(self, *args: torch.Tensor) -> torch.Tensor:
        """The sum of all elements of all outputs."""
        outputs = self.net(*args)
        if isinstance(outputs, torch.Tensor):
            return outputs.sum()
        return sum(output.sum() for output in tree_leaves(outputs) if torch.is_tensor(output))

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        """The gradient, of the shape of the argument at ``position``."""
        return torch.func.grad(self.total, self.position)(*args)


class PlainOutputs(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
    """A net that returns a dict in the place of each class with fields: Dynamo knows none (torch 2.13).

    What is in such a class or a dict beside tensors and numbers, as a cache, is left out.
    """

    def __init__(self, net: Callable[..., Any]) -> None:
        super().__init__()
        self.net = net

    def plain(self, value: Any) -> Any:
        """A return value of dicts, lists, tensors and numbers."""
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in value.items()}
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
            return {name: self.plain(getattr(value, name)) for name in names}
        if isinstance(value, (tuple, list)):
            return [self.plain(item) for item in value]
        if isinstance(value, (torch.Tensor, int, float, complex)):
            return value
        return None

    def forward(self, *args: torch.Tensor) -> Any:
        """All outputs; tuples are lists."""
        return self.plain(self.net(*args))


def holds_objects(value: Any) -> bool:
    """Whether a net returned an object of another class than tuples, lists, dicts and tensors."""
    if isinstance(value, (tuple, list)):
        return any(map(holds_objects, value))
    if isinstance(value, dict):
        # A class of its own, as transformers' ModelOutput, is one even if it holds tensors alone.
        return type(value) not in (dict, OrderedDict) or any(map(holds_objects, value.values()))
    return value is not None and not isinstance(value, (torch.Tensor, int, float, complex))


class OwnOutputs(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
    """A net that returns a copy of each output, so that none is an input, a weight, or part of one.

    AOTAutograd takes such outputs out of the joint graph, and their share of the gradients with
    them (torch 2.13).
    """

    def __init__(self, net: Callable[..., Any]) -> None:
        super().__init__()
        self.net = net

    def forward(self, *args: torch.Tensor) -> Any:
        """All outputs, each in memory of its own."""
        return tree_map_only(torch.Tensor, torch.clone, self.net(*args))


def rooted(case: GradCase) -> tuple[type, ...]:
    """The modules that make of a net one whose every output a case differentiates, inner ones first."""
    wrappers: list[type] = [Gradient] * (case.order - 1)
    if case.has_aux:
        wrappers.append(FirstOutput)
    return tuple(wrappers)


def wrapped(call: Any, wrappers: tuple[type, ...], case: GradCase) -> Any:
    """A net inside of ``wrappers``, inner ones first."""
    for wrapper in wrappers:
        call = wrapper(call, case.positions[0]) if wrapper is Gradient else wrapper(call)
    return call


def wrappers_of(call: Any) -> tuple[type, ...]:
    """The modules of ours around a net, inner ones first."""
    wrappers: list[type] = []
    while isinstance(call, (FirstOutput, Gradient, OwnOutputs, PlainOutputs)):
        wrappers.insert(0, type(call))
        call = call.net
    return tuple(wrappers)
