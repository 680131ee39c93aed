"""What is recorded of claims and studies is what the independent programs find."""

import ast
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from explorer.model.measurement import Measured
from explorer.shipped import PACKAGE
from explorer.topics import STUDIES, TOPICS, claims, topic
from tests.independent import run
from tests.independent.agreements import AGREEMENTS, WITHOUT_PROGRAM, Agreement
from tests.independent.comparison import at, difference
from tests.support.house import packages_imported
from tests.support.topics import recorded, recorded_study

HERE = Path(__file__).parent

Subject = int | str
Finders = Mapping[str, Any]
"""What each finder of a program found, by the finder's name."""


def program_of(subject: Subject) -> str:
    """The name of the program about a claim's row or a study."""
    if isinstance(subject, int):
        # The first seven rows are one call of grad with other arguments.
        return f"row_{1 if subject <= 7 else subject:02}"
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
    """Gives what a program found; all programs of a library run at once, and once in all processes."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    @cache
    def everything() -> dict[str, dict[str, Any]]:
        figures: dict[str, dict[str, Any]] = {}
        for library in run.FUNCTIONS:
            for program, finders in _run_once(library, shared).items():
                figures.setdefault(program, {}).update(finders)
        return figures

    return lambda program: everything()[program]


def _run_once(library: str, shared: Path) -> dict[str, Any]:
    folder = shared / f"independent-{library}"
    folder.mkdir(exist_ok=True)
    answer = folder / "figures.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            answer.write_text(_run(library, folder), encoding="utf-8")
    figures: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return figures


def _run(library: str, folder: Path) -> str:
    (folder / "ir").mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.independent.run", library],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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
    assert len(modules) > len(run.programs())
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
