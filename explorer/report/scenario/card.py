"""A scenario as a card: its point in a line, the verdict in counts, and a small picture; stored."""

import re
from itertools import accumulate
from unicodedata import east_asian_width

import msgspec

from explorer.drawing.views import thumbnail
from explorer.exploration.options import Wanted
from explorer.exploration.stored import key, stored_report
from explorer.model.report import Report
from explorer.report.scenario.export import side_by_side
from explorer.report.scenario.graphs import SHOWN_ENGINES
from explorer.scenario.declaration import Declaration
from explorer.store.keys import Key, digest_of_parts, key_of
from explorer.store.store import Store
from explorer.text.language import code
from explorer.words.scenarios import said

INTRODUCTION = "aliased_input"
"""The scenario by which the app introduces itself: it parts the styles, and not the frameworks."""

LONGEST_POINT = 160
"""The width in characters after which a scenario's point is cut."""

SENTENCE_END = re.compile(r"(?<=[.?!:])\s+(?=[A-Z])|(?<=[。？！])")
"""Where a sentence ends: a blank and a capital follow ("e.g. 2.5 of x." has one end), or as in Chinese."""

CLAUSE_END = re.compile(r"[，；：]")

DIFFERENT = ("differs", "some_raise")
"""Verdicts on a case that the engines do not answer alike."""


class ScenarioCard(msgspec.Struct, frozen=True, kw_only=True):
    """What a list says of one scenario that was asked.

    ``cases`` were asked, ``different`` of them are answered differently, and ``unexpected`` things
    are not as the scenario foresees. ``ladder`` is an SVG, "" where no graph was captured.
    """

    name: str
    title: str
    cases: int
    different: int
    unexpected: int
    ladder: str


class Drawn(msgspec.Struct, frozen=True):
    """One drawing that is kept, as SVG."""

    svg: str


def point(scenario: Declaration) -> str:
    """A scenario's point in a line: the first sentence of its notes, without marks of Markdown.

    In the reader's language, where its catalogue has the notes.
    """
    paragraph = said(scenario.notes.strip().split("\n\n")[0])
    text = re.sub(r"[*`]", "", " ".join(paragraph.split()))
    sentence = SENTENCE_END.split(text)[0]
    beginning = _beginning(sentence)
    if beginning == sentence:
        return sentence
    # Chinese has no blanks between words, and is cut between clauses.
    clauses = list(CLAUSE_END.finditer(beginning))
    if clauses:
        return beginning[: clauses[-1].start()] + " …"
    return beginning.rsplit(" ", 1)[0] + " …"


def _beginning(text: str) -> str:
    """As much of a text as is not wider than LONGEST_POINT; Chinese characters are twice as wide."""
    widths = accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
    return text[: sum(width <= LONGEST_POINT for width in widths)]


def card_of(report: Report) -> ScenarioCard:
    """The card of a report; draws its ladder."""
    unexpected = sum(not case.expected for case in report.cases)
    unexpected += sum(not alignment.expected for alignment in report.alignments)
    unexpected += sum(finding.is_alarm for finding in report.findings)
    return ScenarioCard(
        name=report.scenario,
        title=report.title,
        cases=len(report.cases),
        different=sum(case.verdict in DIFFERENT for case in report.cases),
        unexpected=unexpected,
        ladder=_ladder(report),
    )


def _ladder(report: Report) -> str:
    last_stages = {graph.engine: graph for graph in report.graphs}
    for engine in (*SHOWN_ENGINES, *last_stages):
        if engine in last_stages:
            return thumbnail(last_stages[engine], f"{report.title}: {engine}")
    return ""


def stored_card(scenario: Declaration, store: Store) -> ScenarioCard | None:
    """The card that was made before; nothing is drawn for it."""
    return store.get(_card_key(scenario), ScenarioCard)


def card(scenario: Declaration, store: Store) -> ScenarioCard | None:
    """The card of a scenario whose report is stored, made if need be; None where there is no report."""
    known = stored_card(scenario, store)
    if known is not None:
        return known
    report = stored_report(scenario, Wanted(), store)
    if report is None:
        return None
    made = card_of(report)
    store.put(_card_key(scenario), made)
    return made


def stored_pair(scenario: Declaration, store: Store) -> str:
    """The drawing of two engines' ladders in the reader's language; "" where none was made before."""
    known = store.get(_pair_key(scenario), Drawn)
    return known.svg if known else ""


def pair_of_ladders(scenario: Declaration, store: Store) -> str:
    """The ladders of SHOWN_ENGINES in one SVG, made if need be; "" without a stored report."""
    known = stored_pair(scenario, store)
    if known:
        return known
    report = stored_report(scenario, Wanted(), store)
    if report is None:
        return ""
    last_stages = {graph.engine: graph for graph in report.graphs}
    graphs = [last_stages[engine] for engine in SHOWN_ENGINES if engine in last_stages]
    if len(graphs) < len(SHOWN_ENGINES):
        return ""
    left, right = graphs
    titles = (left.engine, right.engine)
    picture = side_by_side(left, right, report.alignments, titles=titles, prefix="home-")
    svg = picture.decode()
    store.put(_pair_key(scenario), Drawn(svg))
    return svg


def _card_key(scenario: Declaration) -> Key:
    return _key("card", scenario)


def _pair_key(scenario: Declaration) -> Key:
    # Its texts are in one language; a card's drawing has none.
    return _key("drawing", scenario, code())


def _key(kind: str, scenario: Declaration, *language: str) -> Key:
    # Of the report, and of the code that draws and words it.
    program = digest_of_parts("drawing", "report")
    return key_of(kind, scenario.name, key(scenario, Wanted()).digest, program, *language)
