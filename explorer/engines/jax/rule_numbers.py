"""Numbers by which a backward operation is known to be that of a forward one.

JAX keeps with every operation a stack of names, which its transformations hand on: what the rule of
an operation makes, the transposed operations of the backward pass among them, has the names under
which the operation itself ran (0.6.2).
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from jax._src import source_info_util
from jax._src.interpreters import ad

MARK = "§"
"""What a number begins with among the names."""

TRACES = (ad.JVPTrace, ad.LinearizeTrace)
"""What gets the operations of a function that is differentiated."""

METHODS = (
    "process_primitive",
    "process_call",
    "process_custom_jvp_call",
    "process_custom_vjp_call",
)
"""Where the rule of an operation is applied."""

_numbers = count()


def install() -> None:
    """Give each operation that is differentiated in this process a number among its names."""
    source_info_util.register_exclusion(
        __file__
    )  # or XLA's instructions are said to come from here
    for trace in TRACES:
        for name in METHODS:
            method = vars(trace).get(name)
            if method is not None and not hasattr(method, "__wrapped__"):
                setattr(trace, name, _numbered(method))


@contextmanager
def installed() -> Iterator[None]:
    """The same meanwhile, where it is not so already."""
    before = {(trace, name): vars(trace).get(name) for trace in TRACES for name in METHODS}
    install()
    try:
        yield
    finally:
        for (trace, name), method in before.items():
            if method is not None:
                setattr(trace, name, method)


def _numbered(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def process(*args: Any, **kwargs: Any) -> Any:
        with source_info_util.extend_name_stack(f"{MARK}{next(_numbers)}"):
            return method(*args, **kwargs)

    return process


Names = tuple[Any, ...]
"""The elements of a stack of names: scopes and transformations, the outermost first."""


def rule_of(names: Names) -> tuple[str, ...]:
    """The numbers among names: that of an operation, and those of the operations around it."""
    return tuple(name for name in _scopes(names) if name.startswith(MARK))


def numbered_names(name: str, number: int) -> Names:
    """The names of one step of a loop: a scope, and a number, which its backward has too."""
    scopes = f"{name}[{number}]", f"{MARK}{name}[{number}]"
    return tuple(map(source_info_util.Scope, scopes))


class FirstOfRules:
    """The first forward node of each rule; of a rule within a rule the outer one counts too."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[str, ...], int] = {}

    def add(self, rule: tuple[str, ...], node: int) -> None:
        """Note a forward node that ran under a rule."""
        for length in range(1, len(rule) + 1):
            self._nodes.setdefault(rule[:length], node)

    def of(self, rule: tuple[str, ...]) -> int | None:
        """The first node of a rule, or of the nearest rule around it."""
        for length in range(len(rule), 0, -1):
            if rule[:length] in self._nodes:
                return self._nodes[rule[:length]]
        return None


def scope_of(names: Names) -> str:
    """The named scopes of the user's among names: "block.conv"."""
    return ".".join(name for name in _scopes(names) if not name.startswith(MARK))


def is_transposed(names: Names) -> bool:
    """Whether an operation belongs to the backward pass that ran last: the outermost one."""
    transforms = [it.name for it in names if isinstance(it, source_info_util.Transform)]
    return transforms[:1] == ["transpose"]


def _scopes(names: Names) -> Iterable[str]:
    return (it.name for it in names if isinstance(it, source_info_util.Scope))
