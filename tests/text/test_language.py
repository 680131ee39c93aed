"""Whose language texts are in."""

from pathlib import Path

import pytest

from explorer.blocks.html import page
from explorer.report.schemas import diff_document
from explorer.text import language
from explorer.text.language import ENGLISH, VARIABLE, _, code, said_in, wished
from explorer.words.divergences import first_divergence
from tests.support.sample_report import DIVERGENCE, alignment, report


def test_texts_are_said_in_one_language_for_a_while() -> None:
    assert _("Graphs") == "Graphs"
    with said_in("zh"):
        assert (_("Graphs"), code()) == ("计算图", "zh")
        with said_in(ENGLISH):
            assert _("Graphs") == "Graphs"
        assert _("Graphs") == "计算图"
    assert (_("Graphs"), code()) == ("Graphs", ENGLISH)


def test_a_fixed_language_goes_before_the_reader_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_readers", [lambda: "zh"])
    assert _("Graphs") == "计算图"
    with said_in(ENGLISH):
        assert _("Graphs") == "Graphs"


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh-Hans"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", VARIABLE: "en"}, "en"),
        ({VARIABLE: "zh"}, "zh"),
        ({VARIABLE: "xx"}, "xx"),
    ],
)
def test_the_environment_names_the_language(environment: dict[str, str], wanted: str) -> None:
    assert wished(environment) == wanted


def test_documents_for_programs_are_english_and_pages_are_the_reader_s() -> None:
    parted = alignment("torch-tape", "mindspore-graph", DIVERGENCE)
    english = first_divergence(parted)
    with said_in("zh"):
        assert first_divergence(parted) != english
        assert diff_document(report(), parted)["divergence"]["sentence"] == english
        assert '<html lang="zh">' in page("", [])
    assert '<html lang="en">' in page("", [])


def test_a_catalogue_that_is_missing_is_an_error_and_not_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A package without its catalogues would say everything in English to a reader of Chinese.
    monkeypatch.setattr(language, "LOCALE", tmp_path)
    language._catalogue.cache_clear()
    try:
        assert _("Graphs") == "Graphs"
        with said_in("zh"), pytest.raises(FileNotFoundError):
            _("Graphs")
    finally:
        language._catalogue.cache_clear()
