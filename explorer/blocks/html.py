"""Blocks as HTML: pages that need nothing else, parts of a notebook, parts of a document.

A page has no scripts, no fonts and no links to elsewhere; it is light or dark.
"""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Literal

import msgspec

from explorer.blocks.records import (
    Aside,
    Block,
    Bullets,
    Code,
    Column,
    Figure,
    Markup,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Terms,
    Text,
    spans,
)
from explorer.text.clean import clean
from explorer.text.language import code

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
"""The colours and the spacing of every page."""

TAGS = {"strong": "strong", "emphasis": "em", "code": "code"}

ALIGNMENTS = {"": "", "left": "", "center": "margin:auto;", "right": "margin-left:auto;"}

KINDS = {"svg": "image/svg+xml", "png": "image/png"}


class Look(msgspec.Struct, frozen=True):
    """What differs from place to place.

    ``top`` is the level of a page's title. Where ``has_style`` the classes of the page's
    style and its anchors are set; ``cell`` and ``code`` are CSS for a table's cells and
    for code. Pictures are "inline" or each an "image" with a style and ids of its own.
    """

    top: int = 1
    has_style: bool = False
    cell: str = ""
    code: str = ""
    pictures: Literal["inline", "image"] = "inline"


PAGE = Look(has_style=True)

DOCUMENT = Look()
"""Within somebody's page: no classes or ids that could clash with its own."""

# JupyterLab aligns the text of tables to the right, as it does numbers.
NOTEBOOK = Look(top=4, cell="text-align:left", code="white-space:pre-wrap", pictures="image")


def page(title: str, blocks: Iterable[Block]) -> str:
    """A whole document."""
    return (
        f'<!DOCTYPE html>\n<html lang="{code()}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{html(blocks, PAGE)}\n</main>\n</body>\n</html>\n"
    )


def html(blocks: Iterable[Block], look: Look = DOCUMENT) -> str:
    """Blocks one under another; the ids in inline SVGs must differ already."""
    return "\n".join(_block(block, look) for block in blocks)


def _escaped(text: str) -> str:
    return escape(clean(text.replace("\n", " ")))


def _tag(name: str, content: str, **attributes: str) -> str:
    """An element; a class is called ``class_``, and empty attributes are left out."""
    given = ""
    for key, value in attributes.items():
        if value:
            given += f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
    return f"<{name}{given}>{content}</{name}>"


def _tag_unless_empty(name: str, text: str) -> str:
    return _tag(name, _escaped(text)) if text else ""


def _inline(text: Text, look: Look) -> str:
    return "".join(_span(span, look) for span in spans(text))


def _span(span: Span, look: Look) -> str:
    text = _escaped(span.text)
    if span.style:
        text = _tag(TAGS[span.style], text)
    if look.has_style and span.link:
        text = _tag("a", text, href=span.link)
    if look.has_style and span.tone:
        text = _tag("span", text, class_=span.tone)
    return text


def _block(block: Block, look: Look) -> str:
    if isinstance(block, Section):
        return _section(block, look)
    if isinstance(block, Paragraph):
        return _paragraph(block, look)
    if isinstance(block, Bullets):
        return _bullets(block, look)
    if isinstance(block, Terms):
        return _terms(block, look)
    if isinstance(block, Code):
        text = escape(clean(block.text, keep="\n\t"))
        text = _tag("code", text, class_=f"language-{block.language}")
        return _tag("pre", text, style=look.code)
    if isinstance(block, Table):
        return _table(block, look)
    if isinstance(block, Figure):
        if look.pictures == "inline":
            return figure(block)
        return "".join(image(file, "svg", block.alt) for file in block.files)
    assert isinstance(block, Markup)
    return block.html


def _section(section: Section, look: Look) -> str:
    title, content = _inline(section.title, look), html(section.blocks, look)
    if section.fold:
        begin = "<details open>" if section.fold == "open" else "<details>"
        return f"{begin}{_tag('summary', title)}{content}</details>"
    level = min(look.top + section.level - 1, 6)
    whole = f"{_tag(f'h{level}', title)}\n{content}"
    if section.anchor and look.has_style:
        return _tag("section", whole, id=section.anchor)
    return whole


def _paragraph(paragraph: Paragraph, look: Look) -> str:
    text, tone = _inline(paragraph.text, look), paragraph.tone
    if look.has_style and paragraph.is_strong:
        return _tag("p", text, class_=f"summary {tone}".strip())
    if look.has_style:
        return _tag("p", text, class_=tone)
    return _tag("p", _tag("strong", text) if paragraph.is_strong else text)


def _bullets(bullets: Bullets, look: Look) -> str:
    items = ""
    for number, item in enumerate(bullets.items, 1):
        has_id = bullets.anchor and look.has_style
        id_ = f"{bullets.anchor}{number}" if has_id else ""
        items += _tag("li", _inline(item, look), id=id_)
    return _tag("ol" if bullets.anchor else "ul", items)


def _terms(terms: Terms, look: Look) -> str:
    items = "".join(_tag("li", _inline(text, look)) for text in terms.sentences)
    return _tag("ul", items, class_=terms.tone * look.has_style)


def _table(table: Table, look: Look) -> str:
    """A table in a box that scrolls where it is too wide."""
    head = ""
    for column in table.columns:
        head += _tag("th", _escaped(column.name), scope="col", style=look.cell)
    head = _tag("thead", _tag("tr", head)) * table.has_head
    body = "\n".join(_row(row, table.columns, look) for row in table.rows)
    whole = _tag("table", f"{head}<tbody>\n{body}\n</tbody>")
    return _tag_unless_empty("p", table.caption) + _tag("div", whole, class_="wide")


def _row(row: Row, columns: Sequence[Column], look: Look) -> str:
    if isinstance(row, Aside):
        who, text = _tag("td", _escaped(row.who)), _inline(row.text, look)
        text = _tag("td", text, class_="said", colspan=str(len(columns) - 1))
        return _tag("tr", who + text, class_="voice")
    cells = ""
    for column, cell in zip(columns, row, strict=True):
        is_firm = column.fit == "firm" and look.has_style
        cells += _tag("td", _inline(cell, look), class_="firm" * is_firm, style=look.cell)
    return _tag("tr", cells)


def figure(shown: Figure) -> str:
    """A figure with its drawings, the text for who cannot see them, and its caption."""
    width = f"width:{shown.width};" if shown.width else ""
    drawings = ""
    for file in shown.files:
        drawings += _tag("div", _drawing(file), style="flex:1 1 28rem")
    # Two graphs are side by side if there is room, else one below the other.
    flex = "display:flex;flex-wrap:wrap;gap:1rem"
    pictures = _tag("div", drawings, role="img", aria_label=shown.alt, style=flex)
    return _tag(
        "figure",
        pictures + _tag_unless_empty("figcaption", shown.caption),
        class_="gradient-figure",
        style=f"{width}{ALIGNMENTS[shown.align]}max-width:100%",
    )


def _drawing(svg: bytes) -> str:
    # Its own width and height are of the paper; here it is as wide as there is room.
    scaled = '<svg style="max-width:100%;height:auto" '
    return svg.decode().strip().replace("<svg ", scaled, 1)


def image(content: bytes, kind: str, description: str) -> str:
    """A picture as an element that holds it whole: its style and ids are its own."""
    data = base64.b64encode(content).decode()
    source = f"data:{KINDS[kind]};base64,{data}"
    alt = _escaped(description)
    return f'<img src="{source}" alt="{alt}" style="max-width:100%;height:auto">'
