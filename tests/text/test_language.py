"""Whose language texts are in."""

import ast
import re
from pathlib import Path

import pytest

from explorer.blocks.html import page
from explorer.report.schemas import diff_document
from explorer.shipped import PACKAGE
from explorer.text import language
from explorer.text.language import ENGLISH, VARIABLE, _, code, said_in, wished
from explorer.words.divergences import first_divergence
from tests.support.app_texts import Text, outside
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


ENGLISH_WORDS = re.compile(r"\b(the|is|are|of|in|and|not|than|has|have|with|which|that)\b")
"""Words that every English sentence has one of."""


OTHER_TEXTS = {
    "engines/capture/lint.py": "faults of a capture, which tests and benchmarks print",
    "engines/failures.py": "the text of an error that is raised",
    "engines/listing.py": "lines of programs",
    "engines/mindspore/code.py": "programs",
    "engines/mindspore/errors.py": "MindSpore's messages, and what is shown for some of them",
    "engines/mindspore/ir": "what the reader of the IR expects, in the error that it raises",
    "engines/mindspore/subgraphs.py": "names of subgraphs",
    "engines/torch/code.py": "programs",
    "engines/torch/net.py": "the text of an error that is raised",
}
"""Modules and folders with English texts that are no sentences of records, and what these are."""


@pytest.mark.parametrize("part", ["compare", "engines", "numeric"])
def test_what_compares_and_captures_records_facts_and_no_sentence(part: str) -> None:
    found = []
    for module in sorted((PACKAGE / part).rglob("*.py")):
        name = module.relative_to(PACKAGE).as_posix()
        if name in OTHER_TEXTS or str(Path(name).parent) in OTHER_TEXTS:
            continue
        found += sentences(name, module.read_text(encoding="utf-8"))
    assert found == []


def sentences(name: str, source: str) -> list[Text]:
    """The English texts of a module that are neither the catalogue's nor those of errors that it raises."""
    raised: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and node.end_lineno is not None:
            raised.update(range(node.lineno, node.end_lineno + 1))
    texts = []
    for text in outside(name, source):
        line = int(text.place.rpartition(":")[2])
        if line not in raised and ENGLISH_WORDS.search(text.text):
            texts.append(text)
    return texts


def test_modules_with_other_texts_are_there() -> None:
    assert [name for name in OTHER_TEXTS if not (PACKAGE / name).exists()] == []


def test_a_sentence_in_a_module_is_found() -> None:
    (text,) = sentences("planted.py", 'def f(n):\n    return f"{n} of the nodes differ"')
    assert text.place == "planted.py:2"


def test_a_sentence_of_an_error_that_is_raised_is_none_of_a_record() -> None:
    assert sentences("planted.py", 'raise ValueError(\n    "none of the nodes differ"\n)') == []


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
