"""The modules of a program that are found as they run: their names, and what they are called with."""

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.nn.modules import module as hooks

from explorer.engines.step_names import free_name, joined, nested_tensors, numbered
from explorer.engines.torch.layers import layers_of
from explorer.engines.torch.source_lines import RunningModule
from explorer.model.graph import Layer

Called = Callable[[torch.nn.Module, Any, Any], None]
"""What is called with an outermost module before it runs, and its arguments, by position and by name."""

Returned = Callable[[torch.nn.Module, Any], None]
"""What is called with an outermost module that has run, and what it returned."""

WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
}
"""Modules of PyTorch that only wrap another one, by class: the attribute with that one (2.13).

Their names are not part of paths, so that parameters go by the names that they have unwrapped.
"""

HOOK_WARNING = "Using `torch.compile\\(module\\)` when there are global hooks"
"""How PyTorch warns of hooks for all modules where one is compiled (2.13): they are not the program's."""


class FoundModules(RunningModule):
    """Knows which module of a program runs; ``roots`` are its outermost modules, by prefix.

    The first one with parameters has no prefix, and each other one its class's name. Those of
    ``known`` have the names that they are given there. ``called`` and ``returned`` are called around
    each outermost module, and do not raise.
    """

    def __init__(
        self, known: Mapping[str, torch.nn.Module], called: Called, returned: Returned
    ) -> None:
        super().__init__(None)
        self.roots: dict[str, torch.nn.Module] = {}
        self._called = called
        self._returned = returned
        self._filter: Any = None
        for name, module in known.items():
            self.add(module, name)

    def add(self, module: torch.nn.Module, prefix: str | None = None) -> str:
        """Note an outermost module, under a prefix of its own, which is returned."""
        if prefix is None:
            prefix = self._free_prefix(module)
        self._paths.setdefault(id(module), prefix)
        inside = unwrapped(module)
        self.roots[prefix] = inside
        for path, inner in inside.named_modules():
            self._paths.setdefault(id(inner), joined(prefix, path))
        return prefix

    def __enter__(self) -> "FoundModules":
        super().__enter__()
        warnings.filterwarnings("ignore", HOOK_WARNING)
        self._filter = warnings.filters[0]
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        # The program may have changed the list, or put another one in its place.
        if self._filter in warnings.filters:
            warnings.filters.remove(self._filter)  # type: ignore[attr-defined]  # a list

    def layers(self) -> dict[str, Layer]:
        """The layers of all roots, by path."""
        layers: dict[str, Layer] = {}
        for prefix, module in self.roots.items():
            for path, layer in layers_of(module).items():
                layers[joined(prefix, path)] = layer
        return layers

    def _free_prefix(self, module: torch.nn.Module) -> str:
        module = unwrapped(module)
        has_parameters = next(module.parameters(), None) is not None
        if has_parameters and "" not in self.roots:
            return ""
        return free_name(type(module).__name__, self.roots)

    def _enter(self, module: Any, args: Any) -> None:
        if torch.compiler.is_compiling():
            return  # hooks of modules in a compiled function are compiled with it
        if len(self._stack) == 1:
            # PyTorch hands keyword arguments to no hook for all modules (2.13): they are read where it
            # calls this.
            self._called(module, args, sys._getframe(1).f_locals.get("kwargs"))
        super()._enter(module, args)

    def _leave(self, module: Any, args: Any, output: Any) -> None:
        if len(self._stack) == 1 or torch.compiler.is_compiling():
            return  # it was running already when this began
        super()._leave(module, args, output)
        if len(self._stack) == 1:
            self._returned(module, output)

    @property
    def is_idle(self) -> bool:
        """Whether no module runs."""
        return len(self._stack) == 1

    def is_known(self, module: torch.nn.Module) -> bool:
        """Whether a module is a root, or in one."""
        return id(module) in self._paths


class LastingModules(FoundModules):
    """The same for a block that is entered again and again: its hooks are the same ones each time.

    For others, what a program has compiled would be compiled anew (torch 2.13).
    """

    _lasting: tuple[Any, Any] | None = None
    _functions: tuple[Any, Any]

    def _hooked(self) -> list[Any]:
        if self._lasting is None:
            before, after = super()._hooked()
            self._lasting = before, after
            self._functions = (
                hooks._global_forward_pre_hooks[before.id],
                hooks._global_forward_hooks[after.id],
            )
        before, after = self._lasting
        hooks._global_forward_pre_hooks[before.id], hooks._global_forward_hooks[after.id] = (
            self._functions
        )
        hooks._global_forward_hooks_always_called[after.id] = True
        return [before, after]


def unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """The module inside all wrappers."""
    while type(module).__name__ in WRAPPERS:
        module = getattr(module, WRAPPERS[type(module).__name__])
    return module


def held_in(module: torch.nn.Module, prefix: str) -> Iterator[tuple[str, torch.Tensor, Any]]:
    """The parameters and buffers of a module by their names."""
    module = unwrapped(module)
    for name, tensor in module.named_parameters():
        if not torch.nn.parameter.is_lazy(tensor):
            yield joined(prefix, name), tensor, "parameter"
    for name, tensor in module.named_buffers():
        if not torch.nn.parameter.is_lazy(tensor):
            yield joined(prefix, name), tensor, "buffer"


def arguments(module: torch.nn.Module, args: Any, keywords: Any) -> dict[str, torch.Tensor]:
    """The tensors that a module is called with, by the names of its forward's parameters."""
    named: dict[str, Any] = dict(zip(_names(unwrapped(module)), args, strict=False))
    if isinstance(keywords, dict):
        named.update(keywords)
    tensors: dict[str, torch.Tensor] = {}
    for name, value in named.items():
        for path, tensor in tensors_by_name(name, value).items():
            tensors.setdefault(path, tensor)
    return tensors


def _names(module: torch.nn.Module) -> Iterator[str]:
    try:
        parameters = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    return numbered(parameters)


def tensors_by_name(name: str, value: Any) -> dict[str, torch.Tensor]:
    """The tensors of a nested value, by paths that begin with a name."""
    return dict(nested_tensors(name, value, torch.Tensor))
