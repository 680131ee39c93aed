"""What holds of every topic: rows of the guides, missing evidence, and a world for each verdict."""

import ast
import importlib
import importlib.util
import pkgutil
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from explorer.model.claim import CLAIM_VERDICTS, GUIDES, HEADINGS, Ruling
from explorer.report.claims.pages import board_pages
from explorer.report.recorded.results import recorded_board
from explorer.shipped import PACKAGE
from explorer.topics import STUDIES, claims, study_topic
from explorer.topics.boards import board, needed
from explorer.topics.evidence import Evidence
from explorer.topics.observations import ruling_by_style
from explorer.topics.question import FRAMEWORKS, PARTIES
from explorer.words.claims import evidence_text
from explorer.workers.workers import Workers
from tests import topics
from tests.support.rulings import as_recorded, verdicts_of, verdicts_shown
from tests.support.tellings import check_every_failure, check_telling, telling_text
from tests.support.topics import looked_at, recorded_study

PAGES = PACKAGE.parent / "docs" / "claims"
PROGRAMS = "\n## Programs"

LABELS = {"mindspore": "MindSpore", "torch": "PyTorch"}

ROWS = tuple(range(1, 95))
"""The rows of the guides' statements that are judged."""


def test_there_is_a_claim_for_every_row_of_the_guides() -> None:
    assert list(claims()) == list(ROWS)


SECTIONED = {"000", "002", "004"}
"""The guides of which the heading of every statement is known."""


def test_every_claim_names_a_heading_guides_and_measurements() -> None:
    for claim in claims().values():
        assert claim.heading in HEADINGS
        assert claim.guides
        assert set(claim.guides) <= set(GUIDES)
        assert set(claim.sections) <= set(claim.guides) - {"ours"}
        assert claim.measurements
        assert claim.statement.endswith(".")
        assert "\n" not in claim.statement
        assert SECTIONED & set(claim.guides) <= set(claim.sections), claim.id
        assert all(claim.sections.values())


@cache
def definitions_in(module: str) -> dict[str, str]:
    """The functions and classes of a module by name, as they are written."""
    spec = importlib.util.find_spec(module)  # without an import, which would need a framework
    assert spec
    assert spec.origin
    text = Path(spec.origin).read_text(encoding="utf-8")
    definitions: dict[str, str] = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            definitions[statement.name] = ast.get_source_segment(text, statement) or ""
    return definitions


def used_by(program: str, module: str) -> set[str]:
    """What a program of a module uses of it, by way of other functions of the module too."""
    definitions = definitions_in(module)
    used = {program}
    waiting = [program]
    while waiting:
        # Words and not names of the syntax tree: a rough check beside that of the reached names.
        for name in set(re.findall(r"\w+", definitions[waiting.pop()])) & set(definitions) - used:
            used.add(name)
            waiting.append(name)
    return used


@pytest.mark.slow
def test_code_that_is_shown_as_printed_or_meant_is_code_that_runs() -> None:
    for claim in claims().values():
        for measurement in claim.measurements:
            module, _, program = measurement.target.partition(":")
            shown = {measurement.printed, measurement.meant} - {""}
            if shown:
                assert shown <= used_by(program, module), measurement.name
            # What was meant is shown beside what is printed, never in place of it.
            assert measurement.printed or not measurement.meant


@pytest.mark.parametrize("row", ROWS)
def test_the_ruling_on_what_is_recorded_can_be_shown(row: int) -> None:
    assert as_recorded(row).verdict in CLAIM_VERDICTS


def test_one_measurement_serves_all_claims_that_need_it() -> None:
    names = [measurement.name for measurement in needed(claims().values())]
    assert len(set(names)) < len(names)


@pytest.mark.slow
def test_the_page_of_a_claim_has_what_the_recorded_figures_give() -> None:
    shown = recorded_board(claims().values())
    assert shown, "run `make recorded`"
    for name, page in board_pages(shown).items():
        now, _, _ = page.partition(PROGRAMS)
        written, _, _ = (PAGES / name).read_text(encoding="utf-8").partition(PROGRAMS)
        assert written == now, "run `make claims`"


@pytest.mark.parametrize("name", STUDIES)
def test_without_evidence_a_study_tells_and_draws_nothing(name: str) -> None:
    telling = telling_text(study_topic(name), Evidence({}))
    assert (telling.findings, telling.charts) == ((), ())
    for table in telling.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


EVERY = {"conventions": 7, "higher-order": 15, "operators": 30, "tape-life": 5, "training": 22}
"""Of studies that take long to tell only every so many measurements fail."""


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_what_is_told_can_be_read_whichever_measurement_fails(name: str) -> None:
    measured, on = recorded_study(name), looked_at(name)
    telling = telling_text(study_topic(name), Evidence(measured, on))
    check_telling(telling)
    assert telling.findings
    assert not Evidence(measured, on).failures
    check_every_failure(study_topic(name), measured, on, EVERY.get(name, 1))


@pytest.mark.parametrize("missing", FRAMEWORKS)
@pytest.mark.parametrize("name", STUDIES)
def test_with_one_framework_missing_the_other_is_told_alone(name: str, missing: str) -> None:
    own = {
        measurement: outcome
        for measurement, outcome in recorded_study(name).items()
        if PARTIES[measurement.rpartition(".")[2]].library != missing
    }
    telling = telling_text(study_topic(name), Evidence(own, looked_at(name)))
    check_telling(telling)
    assert telling.findings
    # Of Keras the operators' study says that it does as the other framework does.
    named = [] if name == "operators" else [*telling.findings]
    named += [series.name for chart in telling.charts for series in chart.series]
    assert not [text for text in named if LABELS[missing] in text]


@pytest.mark.torch
@pytest.mark.usefixtures("own_nurseries")
def test_without_one_framework_the_claims_about_the_other_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "mindspore"
    package.mkdir()
    (package / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'mindspore'\")\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    kinds = {row: {each.kind for each in claim.measurements} for row, claim in claims().items()}
    in_torch = next(row for row in kinds if kinds[row] == {"torch"})
    with Workers() as workers:
        judged = board((claims()[in_torch], claims()[32]), workers)
    alone, both = judged.rows
    assert alone.verdict is not None
    assert both.verdict is None
    assert "No module named 'mindspore'" in evidence_text(both)
    assert "env add" in evidence_text(both)
    assert list(judged.versions) == ["torch"]


def shown() -> dict[int, set[str]]:
    """The verdicts that the recorded figures or some test of a topic show, by row."""
    by_row: dict[int, set[str]] = {}
    recorded = recorded_board(claims().values())
    assert recorded, "run `make recorded`"
    for judged in recorded.rows:
        # The page of each claim is seen to have it: test_every_topic.
        by_row[judged.id] = {str(judged.verdict)}
    for module in pkgutil.iter_modules(topics.__path__, f"{topics.__name__}."):
        for row, verdict in verdicts_shown(importlib.import_module(module.name)):
            by_row.setdefault(row, set()).add(verdict)
    return by_row


@pytest.mark.slow
def test_every_verdict_of_a_judge_is_shown() -> None:
    assert shown() == {row: verdicts_of(claim.judge) for row, claim in claims().items()}


def of_a_helper(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Like a judge that leaves a part to another function."""
    if expects:
        return Ruling("outdated", (), "")
    return helper({})


def helper(right: dict[str, bool]) -> Ruling:
    return ruling_by_style(right, (), {})


def of_its_own(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Like a judge that needs no other function."""
    return Ruling("holds_with_changes" if expects else "holds", (), "")


def test_what_a_judge_leaves_to_other_functions_counts_as_its_own() -> None:
    assert verdicts_of(of_a_helper) == {"outdated", "holds", "depends_on_style", "does_not_hold"}
    assert verdicts_of(of_its_own) == {"holds", "holds_with_changes"}
