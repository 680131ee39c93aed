"""Labels are text in every file that the app offers: pages, Markdown, pictures."""

import re

import pytest

from explorer.report.scenario.export import snippets
from explorer.web.export_page import report_bytes
from tests.support.hostile_labels import LABELS, TOGETHER, laid_bare
from tests.support.html_pages import HtmlPage
from tests.support.labelled_report import labelled_report

pytestmark = pytest.mark.slow


def test_a_label_is_text_in_the_report_as_one_page() -> None:
    page = HtmlPage(report_bytes(labelled_report(TOGETHER), "html", "en").decode())
    assert "img" not in page.tags
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("href", "src", "action", "formaction", "xlink:href"):
            assert value.startswith(("#", "data:image/")), value
    assert "harmed" not in page.hidden


def test_a_label_is_text_in_the_report_in_markdown() -> None:
    bare = laid_bare(report_bytes(labelled_report(TOGETHER), "markdown", "en").decode())
    for name in ("tag", "script", "link", "picture"):
        assert not re.search(LABELS[name].trap, bare), name
    assert "\x00" not in bare
    assert "\u202e" not in bare


def test_a_title_is_text_in_the_snippets_for_documents() -> None:
    for kind, text in snippets("net.svg", TOGETHER.replace("\n", " ")).items():
        if kind != "Sphinx":  # reStructuredText has neither tags nor such links
            assert not re.search(LABELS["tag"].trap, laid_bare(text))
            assert laid_bare(text).count("](") == 1
