"""The titles, notes and reasons of the shipped scenarios in Chinese."""

import re
from collections.abc import Iterator
from functools import cache

import msgspec
import pytest

from explorer.blocks.records import Paragraph, Section, plain
from explorer.model.findings import ReportFinding, Unmet
from explorer.report.json import encode
from explorer.report.scenario.card import point
from explorer.report.scenario.page import cases_of, findings, page_blocks
from explorer.report.schemas import report_document
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import find, names, real_names
from explorer.scenario.load import load
from explorer.text.language import _, said_in
from explorer.words.cases import reason
from explorer.words.scenarios import said, said_notes, said_reasons
from tests.support.catalogues import translations
from tests.support.sample_report import report

DOMAIN = "scenarios"

CHINESE = re.compile(r"[\u4e00-\u9fff]")


@cache
def shipped_scenarios() -> tuple[Declaration, ...]:
    return tuple(map(load, (names() | real_names()).values()))


def reasons(scenario: Declaration) -> Iterator[str]:
    for entries in (scenario.expected, scenario.expected_findings, scenario.tolerances):
        for entry in entries:
            yield entry.reason


def paragraphs(scenario: Declaration) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in scenario.notes.split("\n\n")]


def every_text() -> set[str]:
    """What all shipped scenarios say, as the catalogue has it."""
    texts: set[str] = set()
    for scenario in shipped_scenarios():
        texts.update([scenario.title, *reasons(scenario), *paragraphs(scenario)])
    return texts


def test_every_text_is_translated_and_no_translation_is_left_over() -> None:
    assert len(every_text()) > 2 * len(shipped_scenarios())
    assert sorted(every_text() - set(translations(DOMAIN))) == []
    assert sorted(set(translations(DOMAIN)) - every_text()) == []


def test_every_scenario_s_point_is_translated() -> None:
    with said_in("zh"):
        points = {scenario.name: point(scenario) for scenario in shipped_scenarios()}
    assert [name for name, line in points.items() if not CHINESE.search(line)] == []


def test_a_paragraph_is_found_at_any_width_and_an_unknown_one_stays_as_it_is() -> None:
    scenario = load(find("aliased_input"))
    first = scenario.notes.split("\n\n")[0]
    rest = "Of nobody's\nscenario."
    with said_in("zh"):
        chinese = translations(DOMAIN)[" ".join(first.split())]
        assert said(first.replace(" ", "\n")) == chinese
        assert said_notes(f"{first}\n\n{rest}") == f"{chinese}\n\n{rest}"
    assert said_notes(f"{first}\n\n{rest}") == f"{first}\n\n{rest}"


def test_joined_reasons_are_found_though_they_contain_the_separator() -> None:
    (one, *_others) = reasons(load(find("polynomial")))
    (other, *_others) = reasons(load(find("integer_input")))
    assert "; " in one
    joined = "; ".join([other, "of somebody's own", one])
    with said_in("zh"):
        assert said_reasons(joined) == "；".join([said(other), "of somebody's own", said(one)])
        assert said_reasons("own; and other") == "own; and other"
    assert said_reasons(joined) == joined


@pytest.mark.slow
def test_a_report_is_shown_in_the_reader_s_language_and_its_document_is_english() -> None:
    scenario = load(find("integer_input"))
    (why, *_others) = reasons(scenario)
    whole = report(foreseen=True)
    place = next(place for place, case in enumerate(whole.cases) if case.reason)
    cases = list(whole.cases)
    cases[place] = msgspec.structs.replace(cases[place], reason=why)
    made = (
        ReportFinding(fact=Unmet(("w",), why), names=("w",)),
        ReportFinding(fact=Unmet(("w",), "own"), names=("w",), expected=True, reason=why),
    )
    whole = msgspec.structs.replace(
        whole, title=scenario.title, notes=scenario.notes, cases=tuple(cases), findings=made
    )
    english = encode(report_document(whole))
    with said_in("zh"):
        page = list(page_blocks(whole))
        about_title = _("About the scenario")
        notes = cases_of(whole).notes
        found = list(findings(whole))
        assert encode(report_document(whole)) == english
        assert reason(cases[place]) == said(why)
    chinese = translations(DOMAIN)
    title, first, because = (
        chinese[text] for text in (scenario.title, paragraphs(scenario)[0], why)
    )
    assert isinstance(page[0], Section)
    assert page[0].title == title
    (about,) = [
        block for block in page if isinstance(block, Section) and block.title == about_title
    ]
    assert isinstance(about.blocks[0], Paragraph)
    assert " ".join(plain(about.blocks[0].text).split()) == first
    assert because in notes
    assert all(because in plain(row.text) for row in found)
