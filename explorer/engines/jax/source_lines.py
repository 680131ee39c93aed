"""The lines of Python that an operation of JAX comes from."""

import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import jax
from jax._src.lib import xla_client

from explorer.engines.source_lines import FileKind, Line, file_kind, kept_lines

PACKAGE = Path(jax.__file__).resolve().parent
ENGINE = Path(__file__).resolve().parent
STANDARD = Path(sysconfig.get_path("stdlib")).resolve()

BETWEEN = frozenset(
    ENGINE / name for name in ("rule_numbers.py", "tape_recorder.py", "eager_trace.py")
)
"""Files of the engine through which an operation passes on its way."""

LIBRARY = ("_src/nn/", "_src/numpy/", "_src/scipy/", "nn/", "numpy/")
"""The folders of JAX in which functions lie that a net calls; the rest is plumbing."""

PLUMBING = ("array_methods.py", "ufunc_api.py", "util.py")
"""Files there through which calls pass."""

TRACING = "trace_to_jaxpr_dynamic"
"""The function of JAX in which a function is traced (0.6.2).

Traces are kept: the lines outside of it may be those of an earlier call.
"""


def lines_of(traceback: Any) -> tuple[Line, ...]:
    """The lines of user and library code in a traceback of JAX, innermost first.

    They end where the engine called the net, or where JAX began to trace a function.
    """
    if traceback is None:
        return ()
    lines = []
    for code, last in zip(*traceback.raw_frames(), strict=True):
        kind = kind_of_file(code.co_filename)
        if kind == "engine" or code.co_name == TRACING:
            break
        if kind != "plumbing":
            line = xla_client.Traceback.code_addr2line(code, last)
            lines.append((code.co_filename, line))
    return tuple(lines)


@cache
def kind_of_file(name: str) -> FileKind:
    """The kind of a file for a reader of source lines; Python's own library is plumbing."""
    path = Path(name).resolve()  # a worker elsewhere reaches the engine through a link
    is_standard = path.is_relative_to(STANDARD) and "site-packages" not in path.parts
    if path in BETWEEN or is_standard:
        return "plumbing"
    return file_kind(name, PACKAGE, ENGINE, _is_plumbing)


def _is_plumbing(path: str) -> bool:
    return not path.startswith(LIBRARY) or path.endswith(PLUMBING)


@cache
def source(lines: tuple[Line, ...], scenario: str) -> tuple[str, ...]:
    """Lines as a node keeps them, the user's own first, those of the file ``scenario`` before others."""
    return kept_lines(dict.fromkeys(lines), scenario, PACKAGE, kind_of_file)
