"""The call sites of operators: the module that was running, and the lines of Python above it."""

import re
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

from explorer.engines.source_lines import (
    LIBRARY_LINES,
    FileKind,
    Line,
    display_name,
    file_kind,
    user_first,
)

# Found and not imported: graphs that were written elsewhere are read without MindSpore.
_FOUND = find_spec("mindspore")
PACKAGE = Path(_FOUND.origin if _FOUND and _FOUND.origin else "mindspore").resolve().parent
ENGINE = Path(__file__).resolve().parent

PLUMBING = (
    "common",
    "graph",
    "nn/cell.py",
    "ops/auto_generate",
    "ops/composite",
    "ops/function/grad",
    "ops/primitive.py",
    "utils",
    "_check",
)
"""Parts of MindSpore through which every operator is called: their lines say nothing (2.10.0)."""

RECOMPUTED = re.compile(r"(^|\.)_recompute_cell\.wrap_cell\b")
"""The steps to the copy of a Cell through which MindSpore recomputes it (2.10.0)."""

CallSite = tuple[str, tuple[str, ...]]
"""The path of the module that called an operator, and the lines of Python as a node keeps them."""

NOWHERE: CallSite = ("", ())


class CallSites:
    """Tells where operators are called from while one net runs."""

    def __init__(self, net: Any) -> None:
        cells = (
            net.cells_and_names() if hasattr(net, "cells_and_names") else ()
        )  # a function has none
        self._paths = {id(cell): RECOMPUTED.sub("", path).lstrip(".") for path, cell in cells}

    def here(self, *stops: str) -> CallSite:
        """The path of the innermost running module ("block.conv"), and the lines up the stack.

        The lines end at the first of the files ``stops``.
        """
        users: list[str] = []
        library: list[str] = []
        module: str | None = None
        frame: FrameType | None = sys._getframe(2)  # 0 is this function's, 1 the engine's
        while frame is not None and frame.f_code.co_filename not in stops:
            name = frame.f_code.co_filename
            kind = kind_of_file(name)
            if kind == "user":
                users.append(f"{shown_name(name)}:{frame.f_lineno}")
            elif kind == "library":
                library.append(f"{shown_name(name)}:{frame.f_lineno}")
            elif module is None and runs_cell(frame):
                module = self._paths.get(id(frame.f_locals.get("self")))
            frame = frame.f_back
        return module or "", user_first(users, library)


def runs_cell(frame: FrameType) -> bool:
    """Whether a frame is that of ``Cell.__call__``, through which every module runs."""
    return frame.f_code.co_name == "__call__" and frame.f_code.co_filename.endswith("cell.py")


@cache
def kind_of_file(name: str) -> FileKind:
    """The kind of a file on the stack: a user's, the library's, plumbing, or the engine's."""
    return file_kind(name, PACKAGE, ENGINE, lambda path: path.startswith(PLUMBING))


@cache
def shown_name(name: str) -> str:
    """The name under which a file is shown: "mindspore/nn/layer/basic.py", "net.py"."""
    return display_name(name, PACKAGE)


def source(lines: tuple[Line, ...]) -> tuple[str, ...]:
    """The source lines of a node, from the ``lines`` that lead to it with the outermost first.

    The user's come first, then a few of the library's; both have the innermost first and each line
    once.
    """
    users: dict[str, None] = {}
    library: list[str] = []
    for name, line in reversed(lines):
        kind = kind_of_file(name)
        if kind == "user":
            users[f"{shown_name(name)}:{line}"] = None
        elif kind == "library":
            library.append(f"{shown_name(name)}:{line}")
    return user_first(tuple(users), tuple(dict.fromkeys(library[:LIBRARY_LINES])))


def user_lines(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines that lie in the user's code, each once and in the same order."""
    return tuple(dict.fromkeys(line for line in lines if kind_of_file(line[0]) == "user"))
