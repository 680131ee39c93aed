"""The place that an operator was called from: the running module, and the lines of Python above."""

import re
import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from explorer.engines.source_lines import FileKind, Line, file_kind, kept_lines
from explorer.engines.torch.layers import layers_of
from explorer.model.graph import Layer

PACKAGE = Path(torch.__file__).resolve().parent
ENGINE = Path(__file__).resolve().parent
DISPATCH = "__torch_dispatch__"
OF_THE_NET = frozenset(
    str(ENGINE / name) for name in ("dropout.py", "functional_dropout.py", "step_starts.py")
)
"""Files of layers and functions that a net calls in the place of PyTorch's own, or is called by."""

TRACE_LINE = re.compile(r'File "([^"]+)", line (\d+)')


class RunningModule:
    """Knows which module of one net runs; a context manager around its forward."""

    def __init__(self, net: Any) -> None:
        self._net = net
        modules = net.named_modules() if isinstance(net, torch.nn.Module) else ()
        self._paths = {id(module): path for path, module in modules}
        self._stack = [""]
        self._hooks: list[Any] = []

    def __enter__(self) -> "RunningModule":
        self._hooks = self._hooked()
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()

    def _hooked(self) -> list[Any]:
        return [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
        ]

    def _enter(self, module: Any, _: Any) -> None:
        # A module that the net made while it ran has no path: it counts as part of its caller.
        self._stack.append(self._paths.get(id(module), self._stack[-1]))

    def _leave(self, module: Any, _: Any, __: Any) -> None:
        self._stack.pop()

    @property
    def path(self) -> str:
        """The path of the module: "block.conv"."""
        return self._stack[-1]

    def layers(self) -> dict[str, Layer]:
        """The layers of the net, by path."""
        return layers_of(self._net)


def calling_lines(outermost: FrameType | None = None) -> tuple[Line, ...]:
    """The lines of user and library code on the stack, innermost first.

    They begin above the dispatch of the operator, in which this is called, and end where the engine
    itself called the net, or with that of ``outermost``.
    """
    lines = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != DISPATCH:
        frame = frame.f_back
    frame = frame.f_back if frame is not None else None
    while frame is not None:
        name = frame.f_code.co_filename
        kind = kind_of_file(name)
        if kind == "engine":
            break
        if kind != "plumbing":
            lines.append((name, frame.f_lineno))
        frame = None if frame is outermost else frame.f_back
    return tuple(lines)


def trace_lines(trace: str) -> tuple[Line, ...]:
    """The lines of user and library code in a printed stack, innermost first.

    A printed stack has the innermost last.
    """
    lines = []
    for name, line in reversed(TRACE_LINE.findall(trace)):
        if kind_of_file(name) in ("user", "library"):
            lines.append((name, int(line)))
    return tuple(lines)


@cache
def kind_of_file(name: str) -> FileKind:
    """The kind of a file for a reader of source lines.

    Of PyTorch only the modules of ``torch.nn`` count as a library; the rest is plumbing.
    """
    if name in OF_THE_NET:
        return "plumbing"
    return file_kind(name, PACKAGE, ENGINE, _is_plumbing)


def _is_plumbing(path: str) -> bool:
    return not path.startswith("nn/") or path == "nn/modules/module.py"


@cache
def source(lines: tuple[Line, ...], scenario: str) -> tuple[str, ...]:
    """Lines as a node keeps them, the user's own first, those of the file ``scenario`` before others."""
    return kept_lines(lines, scenario, PACKAGE, kind_of_file)
