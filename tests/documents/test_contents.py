"""What a table of cases in a document asks for, and which of them it shows."""

from typing import Any

import pytest

from explorer.api.results import Exploration
from explorer.blocks.records import Table
from explorer.documents import contents as documents
from explorer.documents.directives import Directive
from explorer.model.cases import Api
from explorer.model.report import CaseVerdict
from tests.support.sample_report import report

WHOLE = report(unexpected=True)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What explore() was asked last; it answers with the sample."""
    kept: dict[str, Any] = {}

    def explore(subject: str, **options: Any) -> Exploration:
        kept.update(subject=subject, **options)
        return Exploration(WHOLE)

    monkeypatch.setattr(documents, "explore", explore)
    return kept


def table(**options: str) -> Table:
    """The table of a block with these options."""
    (shown,) = documents.contents(Directive("gradient-table", "dense_mse", options))
    assert isinstance(shown, Table)
    return shown


def number_of(api: Api | None, verdict: CaseVerdict | None) -> int:
    """How many cases of the sample there are of an API, with a verdict."""
    cases = [each for each in WHOLE.cases if api in (None, each.case.api)]
    return sum(verdict in (None, each.verdict) for each in cases)


@pytest.mark.usefixtures("asked")
def test_a_table_shows_the_cases_that_are_of_its_api_and_have_its_verdict() -> None:
    both = number_of("grad", "differs")
    assert 0 < both < min(number_of("grad", None), number_of(None, "differs"))
    assert len(table(api="grad", verdict="differs").rows) == both
    assert len(table(api="grad").rows) == number_of("grad", None)
    assert len(table(verdict="differs").rows) == number_of(None, "differs")
    assert len(table().rows) == len(WHOLE.cases)


def test_what_a_table_asks_for_is_what_its_options_say(asked: dict[str, Any]) -> None:
    always = {"subject": "dense_mse", "engines": None, "fresh": False}
    table(order="2", device="cuda:0", cases="main")
    assert asked == {**always, "order": 2, "device": "cuda:0", "cases": "main"}
    table()
    assert asked == {**always, "order": 1, "device": "cpu", "cases": None}


@pytest.mark.usefixtures("asked")
def test_the_caption_counts_the_cases_that_are_shown_of_all() -> None:
    some = table(verdict="differs")
    assert some.caption.startswith(f"{len(some.rows)} of 80 cases: ")
    assert table().caption.startswith("80 cases: ")
    assert table(verdict="differs", caption="Those that differ").caption == "Those that differ"
