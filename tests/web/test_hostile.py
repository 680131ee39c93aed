"""Labels of scenarios and frameworks are text in every place of the app that they reach."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.web.cards import picture
from explorer.web.widgets import LONGEST as CUT
from explorer.web.widgets import NOTHING, plain, without_pictures
from tests.support.hostile_labels import (
    LABELS,
    LONGEST,
    NEVER,
    TOGETHER,
    Label,
    harm_in_html,
    laid_bare,
)
from tests.support.page_labels import labels
from tests.support.pages import opened
from tests.support.sample_pages import PAGES
from tests.support.samples import some

pytestmark = pytest.mark.slow

UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069\u200e\u200f]")
"""What would move the cursor or turn the direction of reading."""


@pytest.mark.parametrize("label", LABELS.values(), ids=list(LABELS))
def test_a_label_is_text_in_markdown(label: Label) -> None:
    bare = laid_bare(plain(label.text))
    assert not re.search(label.trap, bare), bare
    # Where it is text, every word of it is there.
    shown = plain(label.text).replace(NOTHING, "").replace("\\", "")
    for word in re.findall(r"[a-z]{2,}", label.text):
        assert word in shown


def test_the_traps_notice_what_is_not_escaped() -> None:
    for name, label in LABELS.items():
        if label.trap != NEVER:
            assert re.search(label.trap, laid_bare(label.text), re.DOTALL), name


def test_code_in_a_message_stays_code() -> None:
    assert plain("`aten.add.Tensor` at line 45, 1e-3") == "`aten.add.Tensor` at line 45, 1e\\-3"


def test_a_scenario_s_notes_show_no_picture_of_another_host() -> None:
    notes = "**bold** ![a](https://harm.invalid/x.png) ![b][c]\n\n[c]: https://harm.invalid/y.png"
    assert "![" not in without_pictures(notes)
    assert "**bold**" in without_pictures(notes)


def markdown_of(page: Any) -> Iterator[str]:
    """What a page gives to Streamlit's Markdown, but for its widgets' labels."""
    for kind in ("markdown", "caption", "title", "header", "subheader"):
        yield from (element.value for element in getattr(page, kind))
    for kind in ("info", "success", "warning", "error"):
        yield from (element.value for element in getattr(page, kind))


@pytest.mark.parametrize("name", some(PAGES, "semantics", "graphs", "address"))
def test_labels_are_text_on_every_page_and_long_ones_are_cut(name: str) -> None:
    page = opened(PAGES[name], {"label": f"{TOGETHER} {LONGEST}"})
    assert not page.exception
    texts = [*markdown_of(page), *labels(page)]
    assert any("harm" in text for text in texts)
    for text in texts:
        assert not UNSEEN.search(text), text
        bare = laid_bare(text)
        for label in ("tag", "script", "link", "picture", "address", "icon", "face", "mathematics"):
            assert not re.search(LABELS[label].trap, bare), f"{label}: {text}"
        assert ":red[trap" not in bare
    for text in markdown_of(page):
        assert "x" * (CUT + 1) not in text
    for block in page.code:
        assert not UNSEEN.search(block.value)
    for html in page.get("html"):
        assert harm_in_html(html.proto.body) == []


@pytest.mark.parametrize("label", LABELS.values(), ids=list(LABELS))
def test_a_picture_s_name_ends_in_its_quotes(label: Label) -> None:
    html = picture("<svg></svg>", label.text)
    assert harm_in_html(html) == []
    assert html.count("<") == 1
