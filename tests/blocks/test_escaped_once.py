"""A text is escaped once: a reader of the HTML or the Markdown has it as it was."""

import html as entities
import re
import string

import pytest

from explorer.blocks.html import DOCUMENT, NOTEBOOK, PAGE, Look, html
from explorer.blocks.markdown import markdown
from explorer.blocks.records import (
    Aside,
    Block,
    Bullets,
    Code,
    Figure,
    Paragraph,
    Section,
    Span,
    Table,
    Terms,
    columns,
)
from tests.support.html_pages import HtmlPage

SIGNS = 'a < b & "c" [d]_e'
"""A text with signs that HTML escapes, and with signs that Markdown escapes."""

ESCAPED = re.compile(rf"\\([{re.escape(string.punctuation)}])")
"""A sign behind a backslash, which Markdown shows as it is."""

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"></svg>'


def blocks_of(text: str) -> dict[str, Block]:
    """A block of each kind, and of each place in one, that shows a text."""
    return {
        "paragraph": Paragraph(text),
        "strong paragraph": Paragraph(text, "alarm", is_strong=True),
        "spans": Paragraph((Span(text, "strong", "alarm"), Span(text, "emphasis", link="#a"))),
        "bullets": Bullets((text,)),
        "notes": Bullets((text,), anchor="note"),
        "terms": Terms(((text, text),), "faint"),
        "code": Code(text),
        "column": Table(columns((text, "b", "c")), (("1", "2", "3"),)),
        "cell": Table(columns("abc"), ((text, "2", "3"),)),
        "aside": Table(columns("abc"), (("1", "2", "3"), Aside(text, text))),
        "table's caption": Table(columns("abc"), (("1", "2", "3"),), text),
        "section": Section(text, (Paragraph("b"),)),
        "folded section": Section(text, (Paragraph("b"),), fold="closed"),
        "figure's caption": Figure("a", (SVG,), "alt", text),
        "figure's description": Figure("a", (SVG,), text),
        "picture of a page": Figure("a", (SVG,), text, text, source="a.svg"),
    }


BLOCKS = blocks_of(SIGNS)


@pytest.mark.parametrize("look", [PAGE, DOCUMENT, NOTEBOOK], ids=["page", "document", "notebook"])
@pytest.mark.parametrize("block", BLOCKS.values(), ids=list(BLOCKS))
def test_a_browser_reads_each_text_as_it_was(block: Block, look: Look) -> None:
    page = HtmlPage(html((block,), look))
    read = "\n".join([*page.texts, *(value for _, value in page.attributes)])
    # In a notebook a figure is an image alone, without a caption.
    has_text = look is not NOTEBOOK or not isinstance(block, Figure) or block.alt == SIGNS
    assert (SIGNS in read) == has_text
    assert entities.unescape(read) == read


def test_a_browser_follows_a_link_as_it_was() -> None:
    link = 'page.html?name="a"&order=2#note1'
    assert link in HtmlPage(html((Paragraph((Span("there", link=link),)),), PAGE)).values("href")


@pytest.mark.parametrize("block", BLOCKS.values(), ids=list(BLOCKS))
def test_a_viewer_of_markdown_reads_each_text_as_it_was(block: Block) -> None:
    text = markdown((block,))
    assert r"\\" not in text
    read = entities.unescape(ESCAPED.sub(r"\1", text))
    assert SIGNS in read
    assert entities.unescape(read) == read
