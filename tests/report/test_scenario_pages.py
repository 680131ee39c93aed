"""A report as HTML and as Markdown: well formed, and foreign text harms neither."""

import re

import msgspec

from explorer.blocks.records import Figure
from explorer.model.report import LeftOut
from explorer.report.scenario.graphs import SHOWN_ENGINES, shown_first
from explorer.report.scenario.page import picture, report_html, report_markdown, where_two_differ
from tests.support.hostile_labels import LABELS, TOGETHER, laid_bare
from tests.support.html_pages import HtmlPage
from tests.support.labelled_report import labelled_report
from tests.support.sample_report import DIVERGENCE, alignment, graph, report

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"></svg>'


def test_html_is_well_formed_and_needs_nothing_from_outside() -> None:
    page = report_html(labelled_report(TOGETHER), [picture("torch-tape", SVG)])
    read = HtmlPage(page)
    assert read.open == []
    assert not {"script", "link", "img", "iframe", "object"}.intersection(read.tags)
    assert read.tags.count("svg") == 1
    assert read.values("href", "src")
    assert all(link.startswith("#note") for link in read.values("href", "src"))
    assert "&lt;script&gt;" in page
    assert "prefers-color-scheme: dark" in page


def test_the_first_screen_has_the_verdict_and_two_ladders_and_the_matrix_is_folded() -> None:
    whole = report()
    page = report_html(whole, [picture("torch-tape", SVG)], [Figure("first", (SVG, SVG), "two")])
    summary, ladders = page.index('class="summary'), page.index('class="gradient-figure"')
    first_fold, parting = page.index("<details"), page.index("first divergence")
    cases, pictures = page.index("grad(net"), page.index(">1 gradient graph<")
    assert summary < ladders < parting < cases < pictures
    assert first_fold < cases
    assert page[ladders:parting].count("<svg") == 2
    assert page.count("<details open>") == 0


def test_cases_that_are_not_as_they_should_be_are_not_folded() -> None:
    whole = report()
    wrong = msgspec.structs.replace(whole.cases[0], verdict="differs", expected=False)
    page = report_html(msgspec.structs.replace(whole, cases=(wrong, *whole.cases[1:])))
    assert page.count("<details open>") == 1


def test_cases_that_were_not_asked_are_named_in_both() -> None:
    cases = report().cases
    left_out = LeftOut("selected", tuple(case.case for case in cases[1:]), "main")
    partial = msgspec.structs.replace(report(), cases=cases[:1], left_out=(left_out,))
    page = report_html(partial)
    assert HtmlPage(page).open == []
    for whole in (page, report_markdown(partial, {})):
        assert "79 of 80 cases were not selected: " in whole
        assert "<script>" not in whole
        assert whole.count("has") >= sum(case.case.has_aux for case in cases[1:])


def test_markdown_escapes_and_keeps_its_tables_square() -> None:
    whole = labelled_report(TOGETHER)
    bare = laid_bare(report_markdown(whole, {}))
    for name in ("tag", "script", "link", "picture", "turned", "nothing"):
        assert not re.search(LABELS[name].trap, bare), name
    text = report_markdown(whole, {"torch-tape": "torch-tape.svg"})
    assert "![Gradient graph of torch\\-tape](torch-tape.svg)" in text
    tables = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert tables
    for table in tables:
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
        assert len(bars) == 1


def test_a_page_says_a_divergence_once_above_the_graphs() -> None:
    alignments = (
        alignment("mindspore-graph", "torch-tape", DIVERGENCE),
        alignment("mindspore-tape", "torch-tape", DIVERGENCE),
    )
    whole = msgspec.structs.replace(report(), alignments=alignments)
    (above,) = where_two_differ(whole, whole.graphs)
    assert above.text == "mindspore-graph · torch-tape, first divergence: A"
    for page in (report_html(whole, [], [above]), report_markdown(whole, {})):
        assert page.count("First divergence in ") == 1
    page = report_html(whole, [], [above])
    assert page.index("First divergence in ") < page.index("first divergence: A")


GRAPHS = [graph(engine) for engine in ("mindspore-graph", "torch-graph", "torch-tape")]


def test_the_contrast_that_is_shown_first_has_one_order() -> None:
    for graphs in (GRAPHS, GRAPHS[::-1]):
        assert tuple(shown.engine for shown in shown_first(graphs)) == SHOWN_ENGINES
    # Without one of these whichever two there are come first.
    assert [shown.engine for shown in shown_first(GRAPHS[:2])] == ["mindspore-graph", "torch-graph"]
    assert shown_first(GRAPHS[:1]) == GRAPHS[:1]
