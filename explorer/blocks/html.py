"""Blocks as HTML: pages that need nothing else, parts of a notebook, parts of a document.

A page has no scripts, no fonts and no links to elsewhere; it is light or dark.
"""

import base64
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Literal

import msgspec

from explorer.blocks.records import (
    Aside,
    Block,
    Bullets,
    Code,
    Figure,
    Markup,
    Paragraph,
    Section,
    Span,
    Table,
    Terms,
    Text,
    Tone,
    fill,
    spans,
)
from explorer.text.clean import clean
from explorer.text.language import _, code

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
"""The colours and the spacing of every page."""

TAGS = {"": "", "strong": "strong", "emphasis": "em", "code": "code"}

ALIGNMENTS = {"": "", "left": "", "center": "margin:auto;", "right": "margin-left:auto;"}

KINDS = {"svg": "image/svg+xml", "png": "image/png"}


class Look(msgspec.Struct, frozen=True):
    """What differs from place to place.

    ``top`` is the level of a page's title. Where ``has_style`` the classes of the page's
    style and its anchors are set; ``cell`` and ``code`` are the attributes of a table's
    cells and of code.
    Pictures are "inline" or each an "image" with a style and ids of its own.
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
NOTEBOOK = Look(
    top=4,
    cell=' style="text-align:left"',
    code=' style="white-space:pre-wrap"',
    pictures="image",
)


def page(title: str, blocks: Iterable[Block]) -> str:
    """A whole document."""
    head = (
        f'<!DOCTYPE html>\n<html lang="{code()}">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
    )
    return "\n".join((*head, html(blocks, PAGE), "</main>\n</body>\n</html>\n"))


def html(blocks: Iterable[Block], look: Look = DOCUMENT) -> str:
    """Blocks one under another; the ids in inline SVGs must differ already."""
    return "\n".join(_block(block, look) for block in blocks)


def _escaped(text: str) -> str:
    return escape(clean(text.replace("\n", " ")))


def _inline(text: Text, look: Look) -> str:
    return "".join(_span(span, look) for span in spans(text))


def _span(span: Span, look: Look) -> str:
    text = _escaped(span.text)
    tag = TAGS[span.style]
    if tag:
        text = f"<{tag}>{text}</{tag}>"
    if not look.has_style:
        return text
    if span.link:
        text = f'<a href="{_escaped(span.link)}">{text}</a>'
    return f'<span class="{span.tone}">{text}</span>' if span.tone else text


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
        return f'<pre{look.code}><code class="language-{block.language}">{text}</code></pre>'
    if isinstance(block, Table):
        return _table(block, look)
    if isinstance(block, Figure):
        return _images(block) if look.pictures == "image" else figure(block)
    assert isinstance(block, Markup)
    return block.html


def _section(section: Section, look: Look) -> str:
    title, content = _inline(section.title, look), html(section.blocks, look)
    if section.fold:
        opened = " open" if section.fold == "open" else ""
        return f"<details{opened}><summary>{title}</summary>{content}</details>"
    level = min(look.top + section.level - 1, 6)
    whole = f"<h{level}>{title}</h{level}>\n{content}"
    if section.anchor and look.has_style:
        return f'<section id="{_escaped(section.anchor)}">{whole}</section>'
    return whole


def _paragraph(paragraph: Paragraph, look: Look) -> str:
    text = _inline(paragraph.text, look)
    if look.has_style:
        return f"<p{_class(paragraph.tone, 'summary' if paragraph.is_strong else '')}>{text}</p>"
    return f"<p><strong>{text}</strong></p>" if paragraph.is_strong else f"<p>{text}</p>"


def _class(tone: Tone, name: str = "") -> str:
    names = f"{name} {tone}".strip()
    return f' class="{names}"' if names else ""


def _bullets(bullets: Bullets, look: Look) -> str:
    items = []
    for number, item in enumerate(bullets.items, 1):
        has_id = bullets.anchor and look.has_style
        id_ = f' id="{bullets.anchor}{number}"' if has_id else ""
        items.append(f"<li{id_}>{_inline(item, look)}</li>")
    tag = "ol" if bullets.anchor else "ul"
    return f"<{tag}>{''.join(items)}</{tag}>"


def _terms(terms: Terms, look: Look) -> str:
    items = []
    for term, text in terms.rows:
        whole = fill(_("{what}: {values}"), what=term, values=text)
        items.append(f"<li>{_inline(whole, look)}</li>")
    tone = _class(terms.tone) if look.has_style else ""
    return f"<ul{tone}>{''.join(items)}</ul>"


def _table(table: Table, look: Look) -> str:
    """A table in a box that scrolls where it is too wide."""
    names = [f'<th scope="col"{look.cell}>{_escaped(name.name)}</th>' for name in table.columns]
    head = f"<thead><tr>{''.join(names)}</tr></thead>" if table.has_head else ""
    rows = []
    for row in table.rows:
        if isinstance(row, Aside):
            who, text = _escaped(row.who), _inline(row.text, look)
            span = len(table.columns) - 1
            rows.append(
                f'<tr class="voice"><td>{who}</td><td class="said" colspan="{span}">{text}</td></tr>'
            )
        else:
            cells = []
            for column, cell in zip(table.columns, row, strict=True):
                is_firm = column.fit == "firm" and look.has_style
                kind = ' class="firm"' if is_firm else look.cell
                cells.append(f"<td{kind}>{_inline(cell, look)}</td>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    caption = f"<p>{_escaped(table.caption)}</p>" if table.caption else ""
    return f'{caption}<div class="wide"><table>{head}<tbody>\n{body}\n</tbody></table></div>'


def figure(shown: Figure) -> str:
    """A figure with its drawings, the text for who cannot see them, and its caption."""
    width = f"width:{shown.width};" if shown.width else ""
    style = f"{width}{ALIGNMENTS[shown.align]}max-width:100%"
    caption = f"<figcaption>{_escaped(shown.caption)}</figcaption>" if shown.caption else ""
    # Two graphs are side by side if there is room, else one below the other.
    drawings = "".join(
        f'<div style="flex:1 1 28rem">{_drawing(file)}</div>' for file in shown.files
    )
    return (
        f'<figure class="gradient-figure" style="{style}">'
        f'<div role="img" aria-label="{_escaped(shown.alt)}"'
        f' style="display:flex;flex-wrap:wrap;gap:1rem">{drawings}</div>{caption}</figure>'
    )


def _drawing(svg: bytes) -> str:
    # Its own width and height are of the paper; here it is as wide as there is room.
    return svg.decode().strip().replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)


def _images(shown: Figure) -> str:
    return "".join(image(file, "svg", shown.alt) for file in shown.files)


def image(content: bytes, kind: str, description: str) -> str:
    """A picture as an element that holds it whole: its style and ids are its own."""
    data = base64.b64encode(content).decode()
    source = f"data:{KINDS[kind]};base64,{data}"
    alt = _escaped(description)
    return f'<img src="{source}" alt="{alt}" style="max-width:100%;height:auto">'
