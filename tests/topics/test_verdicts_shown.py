"""Every verdict that a judge can give is shown by a test, in a world that can occur."""

import importlib
import pkgutil
from typing import Any

import pytest

from explorer.model.claim import Ruling
from explorer.report.recorded.results import recorded_board
from explorer.topics import claims
from explorer.topics.evidence import Evidence
from explorer.topics.observations import ruling_by_style
from tests import topics
from tests.support.verdicts import verdicts_of, verdicts_shown


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
