"""The doctor's page: what is missing comes with the way to get it; the store is told in counts."""

import pytest

from explorer.model.doctor import Check
from explorer.web.doctor_page import mark
from tests.support.pages import opened, said

pytestmark = pytest.mark.slow


def sick() -> None:
    from explorer.model.doctor import Check
    from explorer.web.doctor_page import show_checks

    found = "<img src=x onerror=alert(1)>"
    show_checks(
        [
            Check(name="python", fine=True, found="3.11"),
            Check(name="torch", fine=False, found=found, remedy="pip install torch", required=True),
            Check(name="chromium", fine=False, found="not found", remedy="apt-get install it"),
        ]
    )


def healthy() -> None:
    from explorer.model.doctor import Check
    from explorer.web.doctor_page import show_checks

    show_checks([Check(name="python", fine=True, found="3.11")])


def test_what_is_missing_comes_with_the_way_to_get_it() -> None:
    page = opened(sick)
    assert not page.exception
    assert [block.value for block in page.code] == ["pip install torch", "apt-get install it"]
    assert len(page.error) == len(page.warning) == 1  # only what is needed is an error
    assert "\\<img" in page.error[0].value
    assert not page.success


def test_where_nothing_is_missing_the_page_says_so() -> None:
    page = opened(healthy)
    assert len(page.success) == 1
    assert not page.error


def limited() -> None:
    from explorer.model.doctor import Check
    from explorer.model.versions import version_facts
    from explorer.web.doctor_page import show_limits
    from explorer.words.environments import limit_texts

    limits = version_facts("torch", "2.10.0").limits
    checks = [
        Check(name=name, fine=True, found="", limits=limit_texts(name, limits))
        for name in ("<b>old</b>", "other")
    ]
    show_limits([Check(name="python", fine=True, found="3.11"), *checks])


def test_what_a_version_limits_is_said_once_for_all_environments() -> None:
    page = opened(limited)
    assert not page.exception
    (row,) = page.table[0].value.to_dict("records")
    assert (row["engine"], row["environments"]) == ("torch-graph", r"\<b\>old\</b\>, other")
    assert row["limit"].endswith("before PyTorch 2.11")


def unlimited() -> None:
    from explorer.model.doctor import Check
    from explorer.web.doctor_page import show_limits

    show_limits([Check(name="torch", fine=True, found="2.13.0 on cpu", tried=True)])


def test_where_no_version_limits_anything_nothing_is_said() -> None:
    page = opened(unlimited)
    assert not page.table
    assert "Limited" not in said(page)


@pytest.mark.parametrize(
    ("fine", "required", "word"), [(True, True, "ok"), (False, True, "✗"), (False, False, "–")]
)
def test_a_state_is_a_sign_with_a_word(fine: bool, required: bool, word: str) -> None:
    assert word in mark(Check(name="n", fine=fine, found="", required=required))


def stored() -> None:
    from explorer.store.store import Entry
    from explorer.web.doctor_page import show_store

    show_store(
        [
            Entry("scenario", "a", "2026-01-01T10:00:00", "2026-01-02T10:00:00", 3_000_000),
            Entry("scenario", "b", "2026-01-01T10:00:00", "2026-01-03T10:00:00", 1_000_000),
            Entry("versions", "c", "2026-01-01T10:00:00", "2026-01-01T10:00:00", 10),
        ],
        limit=8_000_000,
    )


def test_the_store_is_told_by_kinds() -> None:
    page = opened(stored)
    assert not page.exception
    table = page.dataframe[0].value
    assert list(table["results"]) == [2, 1]
    assert list(table["MB"]) == ["4.0", "0.0"]
    last_used = ["2026-01-03T10:00", "2026-01-01T10:00"]
    assert list(table["last used (UTC)"]) == last_used
    assert "Store" in said(page)


def empty() -> None:
    from explorer.web.doctor_page import show_store

    show_store([], limit=0)


def test_an_empty_store_is_no_error() -> None:
    page = opened(empty)
    assert not page.exception
    assert "explorer warm" in page.caption[0].value
