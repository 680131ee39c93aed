"""Where an operator was called from: the module that was running, and the lines of Python above it."""

import re
import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

PACKAGE = Path(torch.__file__).resolve().parent
EXPLORER = Path(__file__).resolve().parent
LIBRARY_LINES = 3
TRACE_LINE = re.compile(r'File "([^"]+)", line (\d+)')

Line = tuple[str, int]


class Places:
    """Tells module path and lines of whatever runs now, for the modules of one net; a context
    manager around its forward.
    """

    def __init__(self, call: Any) -> None:
        named = call.named_modules() if isinstance(call, torch.nn.Module) else ()
        self._names = {id(module): name for name, module in named}
        self._stack = [""]
        self._hooks: list[Any] = []

    def __enter__(self) -> "Places":
        self._hooks = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()

    def _enter(self, module: Any, _: Any) -> None:
        self._stack.append(self._names.get(id(module), self._stack[-1]))

    def _leave(self, module: Any, _: Any, __: Any) -> None:
        self._stack.pop()

    @property
    def scope(self) -> str:
        """The path of the module that runs: "block.conv"."""
        return self._stack[-1]

    def lines(self) -> tuple[Line, ...]:
        """File and line of every frame that says something, innermost first, up the stack as far as
        the explorer itself.
        """
        found = []
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            kind = told(name)
            if kind == "stop":
                break
            if kind:
                found.append((name, frame.f_lineno))
            frame = frame.f_back
        return tuple(found)


@cache
def told(name: str) -> str:
    """What a file is to a reader: "user", "library", "stop" (the explorer itself), or "" for
    PyTorch's plumbing.
    """
    path = Path(name)
    if path.parent == EXPLORER:
        return "stop"
    if not path.is_relative_to(PACKAGE):
        return "user" if path.suffix else ""
    inner = path.relative_to(PACKAGE).as_posix()
    return "library" if inner.startswith("nn/") and inner != "nn/modules/module.py" else ""


@cache
def source(lines: tuple[Line, ...], scenario: Path) -> tuple[str, ...]:
    """Lines as a node keeps them: the scenario's first, then other code of the user, then a few of
    the library's.
    """
    kinds = ["scenario" if name == str(scenario) else told(name) for name, _ in lines]
    own, others, library = (
        [
            f"{_shown(name)}:{line}"
            for (name, line), kind in zip(lines, kinds, strict=True)
            if kind == wanted
        ]
        for wanted in ("scenario", "user", "library")
    )
    return (*own, *others, *library[:LIBRARY_LINES])


@cache
def _shown(name: str) -> str:
    path = Path(name)
    return (
        f"torch/{path.relative_to(PACKAGE).as_posix()}"
        if path.is_relative_to(PACKAGE)
        else path.name
    )


def lines_of(trace: str) -> tuple[Line, ...]:
    """The lines of a printed stack, which has the innermost last."""
    found = [(name, int(line)) for name, line in TRACE_LINE.findall(trace)]
    return tuple(
        (name, line) for name, line in reversed(found) if told(name) in {"user", "library"}
    )
