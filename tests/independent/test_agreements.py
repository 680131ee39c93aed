"""What is recorded of claims and studies is what the independent programs find."""

import ast
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from explorer.model.measurement import Measured
from explorer.topics import STUDIES, TOPICS, claims, topic
from tests.independent import run
from tests.independent.agreements import AGREEMENTS, SHARED, WITHOUT_PROGRAM, Agreement
from tests.independent.comparison import at, difference
from tests.independent.once import found_once
from tests.support.house import packages_imported
from tests.support.topics import recorded, recorded_study

HERE = Path(__file__).parent

Subject = int | str
Finders = Mapping[str, Any]
"""What each finder of a program found, by the finder's name."""


def program_of(subject: Subject) -> str:
    """The name of the program about a claim's row or a study."""
    subject = SHARED.get(subject, subject)
    if isinstance(subject, int):
        return f"row_{subject:02}"
    return f"study_{subject.replace('-', '_')}"


def by_topic() -> dict[str, list[Agreement]]:
    """Agreements by a test's id: the topic, as its tests are called, then the row if it is a claim."""
    home = {}
    for name in TOPICS:
        for row in topic(name).claims:
            home[row] = name
    grouped: dict[str, list[Agreement]] = {}
    for agreement in AGREEMENTS:
        subject = agreement.subject
        name = f"{home[subject]}-{subject}" if isinstance(subject, int) else f"{subject}-study"
        grouped.setdefault(name, []).append(agreement)
    return grouped


GROUPED = by_topic()


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Finders]:
    """Gives what a program found; all programs of a library run at once."""

    @cache
    def everything() -> dict[str, dict[str, Any]]:
        figures: dict[str, dict[str, Any]] = {}
        for library in run.FUNCTIONS:
            for program, finders in found_once(tmp_path_factory, run.__name__, library).items():
                figures.setdefault(program, {}).update(finders)
        return figures

    return lambda program: everything()[program]


def measured_for(subject: Subject) -> Mapping[str, Measured]:
    """What is recorded for a claim or a study; tests/report sees that a run gives the same."""
    if isinstance(subject, int):
        return recorded(claims()[subject].measurements)
    return recorded_study(subject)


@pytest.mark.whole  # the programs do not change with the explorer; CI runs them
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("group", GROUPED)
def test_an_independent_program_finds_the_figures_of(
    group: str, found: Callable[[str], Finders]
) -> None:
    agreements = GROUPED[group]
    subject = agreements[0].subject
    measured, finders = measured_for(subject), found(program_of(subject))
    differing = []
    for agreement in agreements:
        outcome = measured[agreement.measurement]
        assert outcome.error is None, agreement.measurement
        recorded = at(outcome.figures, agreement.path)
        reference = at(finders[agreement.finder], agreement.figure)
        told = difference(recorded, reference, agreement.tolerance)
        if told:
            differing.append((agreement, told))
    assert differing == []


def test_every_claim_and_study_has_a_program_or_a_reason_for_having_none() -> None:
    subjects: set[Subject] = {*claims(), *STUDIES}
    assert set(WITHOUT_PROGRAM) <= subjects
    expected = {program_of(subject) for subject in subjects - set(WITHOUT_PROGRAM)}
    assert expected == set(run.programs())


def test_every_program_is_compared_with_something() -> None:
    compared = {program_of(agreement.subject) for agreement in AGREEMENTS}
    assert compared == set(run.programs())


def test_who_shares_a_program_shares_what_is_measured_or_compares_it_anew() -> None:
    agreed = {agreement.measurement for agreement in AGREEMENTS}
    compared = {agreement.subject for agreement in AGREEMENTS}
    for subject in SHARED:
        assert subject in compared or agreed & set(measured_for(subject)), subject


def imports_of_the_explorer(source: str) -> list[str]:
    """The packages that a text imports and a program may not: the explorer, and tests that use it."""
    tree = ast.parse(source)
    found = packages_imported(tree) & {"explorer"}
    for node in ast.walk(tree):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        found |= {
            module
            for module in modules
            if module.startswith("tests") and not module.startswith("tests.independent")
        }
    return sorted(found)


@pytest.mark.slow
def test_the_programs_import_nothing_of_the_explorer() -> None:
    modules = [path for path in HERE.rglob("*.py") if not path.stem.startswith("test_")]
    assert {*run.FOLDER.glob("*.py")} < {*modules}
    for path in modules:
        assert imports_of_the_explorer(path.read_text(encoding="utf-8")) == [], path.name


@pytest.mark.parametrize(
    ("source", "imported"),
    [
        ("import explorer", ["explorer"]),
        ("def f():\n    from explorer.model import cases", ["explorer"]),
        ("from tests.support.topics import World", ["tests.support.topics"]),
        ("import numpy\nfrom tests.independent.guide_net import X", []),
    ],
)
def test_an_import_of_the_explorer_is_found(source: str, imported: list[str]) -> None:
    assert imports_of_the_explorer(source) == imported
