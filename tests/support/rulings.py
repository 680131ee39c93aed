"""Tables of rulings: a claim's row, a world, and what the line about the claim says there."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from _pytest.mark.structures import ParameterSet

from explorer.model.claim import CLAIM_VERDICTS
from explorer.model.measurement import Figures
from explorer.topics import claims
from explorer.topics.question import Question
from explorer.topics.topic import Claim, Judge
from explorer.words.claims import ANY_ADVICE
from tests.support.topics import Change, Ruled, judge, ruled, unchanged

Written = Mapping[tuple[Question, str], Figures]
"""A world that is written down: the figures of each party by question."""

World = Change | Written

USUAL = "the usual advice"
"""Stands in a case for the advice that goes with a verdict where there is no advice of the claim's own."""


class Case(NamedTuple):
    """A world of a claim, the verdict that the claim gets there, and words of its line.

    The world is a change of what is recorded, or is written down. ``unsaid`` are words that the
    advice lacks, and ``unseen`` those that the evidence lacks.
    """

    row: int
    world: World
    verdict: str
    advice: str = ""
    evidence: str = ""
    unsaid: str = ""
    unseen: str = ""


@cache
def as_recorded(row: int) -> Ruled:
    """The ruling on a claim in the world that is recorded."""
    return judge(claims()[row])


def ruling_in(row: int, world: World = unchanged) -> Ruled:
    """The ruling on a claim in a world."""
    return _ruling(claims()[row], world)


def _ruling(claim: Claim, world: World) -> Ruled:
    if isinstance(world, Mapping):
        return ruled(claim, world)
    return judge(claim, world)


def check(case: Case, claim: Claim) -> None:
    """Asserts that a claim is ruled on as a case says."""
    ruling = _ruling(claim, case.world)
    assert ruling.verdict == case.verdict, ruling.evidence
    if case.advice == USUAL:
        assert ruling.advice == ANY_ADVICE[ruling.verdict]
    else:
        assert case.advice in ruling.advice, (case.advice, ruling.advice)
    assert case.evidence in ruling.evidence, (case.evidence, ruling.evidence)
    assert not case.unsaid or case.unsaid not in ruling.advice, (case.unsaid, ruling.advice)
    assert not case.unseen or case.unseen not in ruling.evidence, (case.unseen, ruling.evidence)


def following(cases: Iterable[Case]) -> Callable[[Case], None]:
    """A test that each case is ruled on as it says."""
    table = [pytest.param(case, id=f"{case.row}-{n}") for n, case in enumerate(cases)]

    @pytest.mark.parametrize("case", table)
    def test(case: Case) -> None:
        check(case, claims()[case.row])

    return test


# Verdicts that a judge can give, and those that tests show it to give


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
