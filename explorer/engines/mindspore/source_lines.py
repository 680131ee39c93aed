"""Where an operator was called from: the module that was running, and the lines of Python above it."""

import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import mindspore

PACKAGE = Path(mindspore.__file__).resolve().parent
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
"""Parts of MindSpore through which every operator is called, so that their lines say nothing
(2.10.0).
"""

LIBRARY_LINES = 3


class Places:
    """Tells module path and source of whatever runs now, for the modules of one net."""

    def __init__(self, call: Any) -> None:
        named = call.cells_and_names() if isinstance(call, mindspore.nn.Cell) else ()
        self._scopes = {id(cell): name for name, cell in named}

    def here(self, stop: str) -> tuple[str, tuple[str, ...]]:
        """Module path ("block.conv") and lines (the user's first, innermost first), up the stack as
        far as the file ``stop``.
        """
        users: list[str] = []
        library: list[str] = []
        scope: str | None = None
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != stop:
            code = frame.f_code
            shown, foreign = place(code.co_filename)
            if shown:
                (library if foreign else users).append(f"{shown}:{frame.f_lineno}")
            elif (
                scope is None
                and code.co_name == "__call__"
                and code.co_filename.endswith("cell.py")
            ):
                scope = self._scopes.get(id(frame.f_locals.get("self")))
            frame = frame.f_back
        return scope or "", (*users, *library[:LIBRARY_LINES])


@cache
def place(name: str) -> tuple[str, bool]:
    """How a file is shown (nothing for plumbing and for this package), and whether it is
    MindSpore's own.
    """
    path = Path(name)
    if path.is_relative_to(PACKAGE):
        inner = path.relative_to(PACKAGE).as_posix()
        return ("" if inner.startswith(PLUMBING) else f"mindspore/{inner}"), True
    return ("" if path.parent == Path(__file__).parent or not path.suffix else path.name), False
