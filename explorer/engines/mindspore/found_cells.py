"""The Cells of a program that are found as they run: their names, their lines, what they are called with."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

import mindspore as ms

from explorer.engines.mindspore.layers import layers_of
from explorer.engines.mindspore.net import HeldTensor, held_in
from explorer.engines.mindspore.source_lines import (
    RECOMPUTED,
    CallSite,
    kind_of_file,
    runs_cell,
    shown_name,
)
from explorer.engines.mindspore.watched_executor import RUNS_PASS
from explorer.engines.source_lines import user_first
from explorer.engines.step_names import free_name, joined, nested_tensors, numbered
from explorer.model.graph import Layer

WRAPPERS = frozenset(
    {
        "ForwardValueAndGrad",
        "TrainOneStepCell",
        "TrainOneStepWithLossScaleCell",
        "WithEvalCell",
        "WithGradCell",
        "WithLossCell",
    }
)
"""Cells of MindSpore that only call those that they hold (2.10.0).

Their names are not part of paths, so that parameters go by the names that they have in the net.
"""

OPTIMIZER = "Optimizer"
"""The class that all optimizers derive from, in mindspore.nn and in mindspore.mint (2.10.0)."""

HOME = "mindspore."
"""What the modules of MindSpore's own classes and functions begin with."""

FUNCTIONS = f"{HOME}ops."
"""What the modules of its functions begin with."""

COMPILED = "_JitExecutor"
"""The class whose call runs a function that ms.jit has compiled (2.10.0)."""


class Found(NamedTuple):
    """A root that was found as it ran: its prefix, and the tensors that it holds, by name."""

    prefix: str
    held: dict[str, HeldTensor]


class FoundCells:
    """Knows which Cells of a program run, from the frames of Python; ``roots`` by prefix.

    The first one with parameters has no prefix, and each other one its class's name. ``found`` is called
    with each new root, and ``called`` with the arguments of an outermost Cell, by name, once for each
    call of it.
    """

    def __init__(
        self,
        found: Callable[[Found], None],
        called: Callable[[dict[str, Any]], None],
    ) -> None:
        self.roots: dict[str, Any] = {}
        self.outermost: FrameType | None = None
        self._found = found
        self._called = called
        self._paths: dict[int, str] = {}
        self._last: FrameType | None = None

    def layers(self) -> dict[str, Layer]:
        """The layers of all roots, by path."""
        layers: dict[str, Layer] = {}
        for prefix, cell in self.roots.items():
            for path, layer in layers_of(cell, {}).items():
                layers[joined(prefix, path)] = layer
        return layers

    def path_of(self, cell: Any) -> str | None:
        """The path of a Cell; None of one that was not found."""
        return self._paths.get(id(cell))

    def forget(self) -> None:
        """Let go of the frames of the program."""
        self.outermost = self._last = None

    def here(self, *_stops: str) -> CallSite:
        """The path of the innermost running Cell, and the lines up the stack to the outermost frame.

        Operators of a backward pass have the lines inside of it alone, which are none of most.
        """
        users: list[str] = []
        library: list[str] = []
        running: list[FrameType] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            kind = kind_of_file(name)
            if kind == "user":
                users.append(f"{shown_name(name)}:{frame.f_lineno}")
            elif kind == "library":
                library.append(f"{shown_name(name)}:{frame.f_lineno}")
            elif runs_cell(frame):
                running.append(frame)
            is_last = frame is self.outermost or frame.f_code is RUNS_PASS
            frame = None if is_last else frame.f_back
        return self._path(running), user_first(users, library)

    def _path(self, running: list[FrameType]) -> str:
        """The path of the innermost of the Cells that run in some frames, which may be new."""
        cells = [frame for frame in running if not _is_of(frame.f_locals["self"], _PASSED_OVER)]
        if not cells:
            return ""
        known = [frame for frame in cells if id(frame.f_locals["self"]) in self._paths]
        outermost = known[-1] if known else cells[-1]
        if outermost is not self._last:
            self._last = outermost
            cell = outermost.f_locals["self"]
            if not known:
                self.add(cell)
            self._called(_arguments(cell, outermost.f_locals))
        for frame in cells:
            path = self._paths.get(id(frame.f_locals["self"]))
            if path is not None:
                return path
        return ""

    def add(self, cell: Any, prefix: str | None = None) -> None:
        """Note an outermost Cell, under a prefix of its own unless one is given."""
        if prefix is None:
            prefix = self._free_prefix(cell)
        self.roots[prefix] = cell
        for path, inner in cell.cells_and_names():
            shown = RECOMPUTED.sub("", path).lstrip(".")
            self._paths.setdefault(id(inner), joined(prefix, shown))
        held = {joined(prefix, name): tensor for name, tensor in held_in(cell).items()}
        self._found(Found(prefix, held))

    def _free_prefix(self, cell: Any) -> str:
        has_parameters = next(cell.parameters_and_names(), None) is not None
        if has_parameters and "" not in self.roots:
            return ""
        return free_name(type(cell).__name__, self.roots)


_PASSED_OVER = WRAPPERS | {OPTIMIZER}


def _is_of(cell: Any, names: frozenset[str]) -> bool:
    """Whether the class of a Cell, or one that it derives from, has one of some names in MindSpore."""
    return any(
        kind.__name__ in names and kind.__module__.startswith(HOME) for kind in type(cell).__mro__
    )


def is_optimizer(cell: Any) -> bool:
    """Whether a Cell updates parameters."""
    return _is_of(cell, frozenset({OPTIMIZER}))


def is_of_function(cell: Any) -> bool:
    """Whether a function of mindspore.ops runs by a Cell, as clip_by_global_norm does (2.10.0)."""
    return type(cell).__module__.startswith(FUNCTIONS)


def running_optimizer() -> Any:
    """The optimizer that runs on the stack; None where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if runs_cell(frame) and is_optimizer(frame.f_locals["self"]):
            return frame.f_locals["self"]
        frame = frame.f_back
    return None


def compiled_function() -> str:
    """The name of the compiled function that is called on the stack: "Adam", "train_step"."""
    frame = running_jit()
    if frame is None:
        return "jit"
    executor = frame.f_locals["self"]
    owner = executor.obj
    is_cell = isinstance(owner, ms.nn.Cell)
    return str(type(owner).__name__ if is_cell else executor.fn.__name__)


def running_jit() -> FrameType | None:
    """The frame of the call of a compiled function on the stack; None where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        executor = frame.f_locals.get("self") if frame.f_code.co_name == "__call__" else None
        if executor is not None and type(executor).__name__ == COMPILED:
            return frame
        frame = frame.f_back
    return None


def cells_of(function: Any) -> list[Any]:
    """The outermost Cells that a function calls or a wrapper of MindSpore's holds, optimizers too."""
    cells: list[Any] = []
    waiting: list[Any] = [function]
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, ms.nn.Cell) and not _is_of(value, WRAPPERS):
            cells.append(value)
        else:
            waiting += reversed(list(_held_by(value)))
    return cells


def _held_by(value: Any) -> Iterator[Any]:
    """What a wrapper, a function, a method or a list holds that may lead to a Cell."""
    if isinstance(value, ms.nn.Cell):
        yield from value.cells()
    elif isinstance(value, (list, tuple)):
        yield from value
    elif inspect.ismethod(value):
        yield value.__self__
        yield value.__func__
    elif inspect.isfunction(value):
        held = inspect.getclosurevars(value)
        yield from held.nonlocals.values()
        if not value.__module__.startswith(HOME):
            yield from held.globals.values()


def argument_names(function: Any) -> Iterator[str]:
    """The names of the parameters of a function, or of a Cell's construct; then numbered ones."""
    try:
        called = function.construct if isinstance(function, ms.nn.Cell) else function
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    return numbered(parameters)


def _arguments(cell: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors that a Cell is called with, by the names of its construct's parameters.

    ``variables`` are those of the frame of its call.
    """
    named = dict(zip(argument_names(cell), variables.get("args", ()), strict=False))
    named.update(variables.get("kwargs", {}))
    tensors: dict[str, Any] = {}
    for name, value in named.items():
        tensors.update(nested_tensors(name, value, ms.Tensor))
    return tensors
