"""The doctor's page: what is missing comes with the way to get it; the store is told in counts."""

import pytest

from explorer.model.doctor import Check
from explorer.model.versions import version_facts
from explorer.store.store import Entry
from explorer.web.doctor_page import mark, show_checks, show_limits, show_store
from explorer.words.environments import limit_texts
from tests.support.pages import said, shown

pytestmark = pytest.mark.slow

PYTHON = Check(name="python", fine=True, found="3.11")

MARKUP = "<img src=x onerror=alert(1)>"


def test_what_is_missing_comes_with_the_way_to_get_it() -> None:
    page = shown(
        show_checks,
        [
            PYTHON,
            Check(
                name="torch", fine=False, found=MARKUP, remedy="pip install torch", required=True
            ),
            Check(name="chromium", fine=False, found="not found", remedy="apt-get install it"),
        ],
    )
    assert [block.value for block in page.code] == ["pip install torch", "apt-get install it"]
    assert len(page.error) == len(page.warning) == 1  # only what is needed is an error
    assert "\\<img" in page.error[0].value
    assert not page.success
    healthy = shown(show_checks, [PYTHON])
    assert (len(healthy.success), len(healthy.error)) == (1, 0)


def test_what_a_version_limits_is_said_once_for_all_environments_and_else_nothing() -> None:
    limits = version_facts("torch", "2.10.0").limits
    checks = [
        Check(name=name, fine=True, found="", limits=limit_texts(name, limits))
        for name in ("<b>old</b>", "other")
    ]
    page = shown(show_limits, [PYTHON, *checks])
    (row,) = page.table[0].value.to_dict("records")
    assert (row["engine"], row["environments"]) == ("torch-graph", r"\<b\>old\</b\>, other")
    assert row["limit"].endswith("before PyTorch 2.11")
    tried = Check(name="torch", fine=True, found="2.13.0 on cpu", tried=True)
    unlimited = shown(show_limits, [tried])
    assert not unlimited.table
    assert "Limited" not in said(unlimited)


@pytest.mark.parametrize(
    ("fine", "required", "word"), [(True, True, "ok"), (False, True, "✗"), (False, False, "–")]
)
def test_a_state_is_a_sign_with_a_word(fine: bool, required: bool, word: str) -> None:
    assert word in mark(Check(name="n", fine=fine, found="", required=required))


def test_the_store_is_told_by_kinds_and_an_empty_one_is_no_error() -> None:
    entries = [
        Entry("scenario", "a", "2026-01-01T10:00:00", "2026-01-02T10:00:00", 3_000_000),
        Entry("scenario", "b", "2026-01-01T10:00:00", "2026-01-03T10:00:00", 1_000_000),
        Entry("versions", "c", "2026-01-01T10:00:00", "2026-01-01T10:00:00", 10),
    ]
    page = shown(show_store, entries, 8_000_000)
    table = page.dataframe[0].value
    assert list(table["results"]) == [2, 1]
    assert list(table["MB"]) == ["4.0", "0.0"]
    assert list(table["last used (UTC)"]) == ["2026-01-03T10:00", "2026-01-01T10:00"]
    assert "Store" in said(page)
    assert "explorer warm" in shown(show_store, [], 0).caption[0].value
