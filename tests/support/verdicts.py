"""Verdicts that a judge can give, and those that tests show it to give."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from types import ModuleType
from typing import Any

from _pytest.mark.structures import ParameterSet

from explorer.model.claim import CLAIM_VERDICTS
from explorer.topics.topic import Judge
from tests.support.rulings import Case

BY_STYLE = {"by_style", "ruling_by_style"}
"""Functions whose verdict is one of OF_STYLES."""

HOLDS_OR = "holds_or"
"""The function whose verdict is "holds", or another one that is handed to it."""

OF_STYLES = {"holds", "depends_on_style", "does_not_hold"}


def verdicts_of(judge: Judge) -> set[str]:
    """The verdicts that stand in the source of a judge, and of what it uses of its module."""
    verdicts: set[str] = set()
    for definition in _definitions_used(judge):
        for node in ast.walk(definition):
            if isinstance(node, ast.Constant) and node.value in CLAIM_VERDICTS:
                verdicts.add(node.value)
            elif isinstance(node, ast.Name) and node.id in BY_STYLE:
                verdicts |= OF_STYLES
            elif isinstance(node, ast.Name) and node.id == HOLDS_OR:
                verdicts.add("holds")
    return verdicts


@cache
def _definitions(module: str) -> dict[str, ast.FunctionDef]:
    """The functions of a module by name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _definitions_used(judge: Judge) -> Iterator[ast.FunctionDef]:
    """The function of a judge, and the functions of its module that it calls, each once."""
    definitions = _definitions(judge.__module__)
    used = {judge.__name__}
    waiting = [judge.__name__]
    while waiting:
        definition = definitions[waiting.pop()]
        yield definition
        for node in ast.walk(definition):
            if isinstance(node, ast.Name) and node.id in set(definitions) - used:
                used.add(node.id)
                waiting.append(node.id)


def verdicts_shown(module: ModuleType) -> Iterator[tuple[int, str]]:
    """Each row with a verdict that the tests of a module show it to get.

    They stand in what the tests are parametrised with: in a "case", or the verdict as "verdict" and
    the row as "row" or in the mark ``row``.
    """
    for name, function in vars(module).items():
        if name.startswith("test_"):
            for parameters in _parameters(function):
                if isinstance(parameters.get("case"), Case):
                    yield parameters["case"].row, parameters["case"].verdict
                elif "verdict" in parameters and "row" in parameters:
                    yield parameters["row"], parameters["verdict"]


def _parameters(test: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """What a test is called with, call by call, and the row of its mark."""
    choices: list[list[dict[str, Any]]] = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "row":
            choices.append([{"row": mark.args[0]}])
        elif mark.name == "parametrize":
            choices.append(_table(*mark.args))
    for chosen in product(*choices):
        parameters: dict[str, Any] = {}
        for part in chosen:
            parameters |= part
        yield parameters


def _table(names: str | tuple[str, ...], values: Any) -> list[dict[str, Any]]:
    """The lines of one parametrisation, by the names of its columns."""
    table = []
    for line in values:
        cells = line.values if isinstance(line, ParameterSet) else line
        if isinstance(names, str):
            cells = cells if isinstance(line, ParameterSet) else (cells,)
            table.append(dict(zip((names,), cells, strict=True)))
        else:
            table.append(dict(zip(names, cells, strict=True)))
    return table
