"""Kinks, the points at which a derivative is a choice: their records, and functions to load."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

Group = Literal["corners", "ties", "steep", "dead"]

GROUPS: tuple[Group, ...] = ("corners", "ties", "steep", "dead")
"""The groups of kinks, a table each.

The slope jumps at corners; ties have several greatest elements; a slope is steep where it is
infinite or there is none; dead are branches that are not taken, and what is not a number.
"""

FUNCTIONS = Path(__file__).with_name("kink_functions.py")


@dataclass(frozen=True)
class Kink:
    """A function, and inputs that hit its kink: nested lists of float32 numbers, one an argument.

    ``where`` names the kink for readers: "relu at 0". The function returns one tensor, which is
    summed before it is differentiated.
    """

    name: str
    where: str
    group: Group
    inputs: tuple[Any, ...]
    function: Callable[..., Any]


def load_kinks(framework: str, ops: ModuleType, functional: ModuleType) -> dict[str, Kink]:
    """All kinks by name, with their functions bound to one framework.

    ``ops`` is the framework's module of functions of tensors, ``functional`` that of layers as
    functions. The file of functions is executed anew as a module of the framework's own, so that
    both frameworks can have it in one process.
    """
    name = f"{__package__}.kink_functions_in_{framework}"
    spec = importlib.util.spec_from_file_location(name, FUNCTIONS)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # GRAPH_MODE compiles a function from its source, and imports the function's module by name to
    # look up the globals (MindSpore 2.10.0).
    sys.modules[name] = module
    spec.loader.exec_module(module)
    vars(module).update(ops=ops, functional=functional)
    kinks: dict[str, Kink] = module.KINKS
    return kinks


def kinks_of_group(kinks: dict[str, Kink], group: str) -> list[Kink]:
    """The kinks of one group, in the order of the table."""
    return [kink for kink in kinks.values() if kink.group == group]


def written(function: Callable[..., Any]) -> str:
    """The source of a loaded function on one line, as the framework has it: "torch.relu(x)".

    That is the expression that it returns, or its statements.
    """
    # A docstring is all that stands between the signature and the statements.
    _, _, body = inspect.getsource(function).rpartition('"""\n')
    lines = [line.strip() for line in body.splitlines()]
    text = "; ".join(lines).replace(":;", ":").removeprefix("return ")
    for name in ("ops", "functional"):
        module = function.__globals__[name].__name__.rpartition(".")[2]
        text = re.sub(rf"\b{name}\.", f"{module}.", text)
    return text
