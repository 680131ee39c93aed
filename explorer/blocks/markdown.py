"""Blocks as Markdown that any viewer sets."""

import html
import re
from collections.abc import Iterable

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
    pieces,
)
from explorer.text.clean import clean

# All of them, wherever they are: what is harmless in one place starts a list in another.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&-])")
"""Characters that mean something to a dialect of Markdown, or to the HTML in it."""

# Nothing that could end the span, a table's cell or a line, and nothing of HTML.
CODE = re.compile(r"(`[\w .,:;()\[\]=+*/'\"-]+`)")
"""Code between backticks that every dialect shows as it is."""

MARKS = {"": ("", ""), "strong": ("**", ""), "emphasis": ("*", ""), "code": ("", "`")}
"""What is on both sides of a span: outside of what is escaped, and inside."""

THEMES = ("light", "dark")


def escape(text: str) -> str:
    """Text that Markdown shows as it is, also in a table's cell.

    Plain code in backticks is code.
    """
    whole = ""
    # What the pattern matched is at the odd places.
    for place, piece in enumerate(CODE.split(text.replace("\n", " "))):
        whole += piece if place % 2 else SPECIAL.sub(r"\\\1", clean(piece))
    return whole


def page(blocks: Iterable[Block]) -> str:
    """A whole page."""
    return markdown(blocks) + "\n"


def markdown(blocks: Iterable[Block]) -> str:
    """Blocks with an empty line between them."""
    texts = map(_block, blocks)
    return "\n\n".join(filter(None, texts))


def inline(text: Text) -> str:
    """A text with its spans."""
    whole = ""
    for piece in pieces(text):
        whole += escape(piece) if isinstance(piece, str) else _span(piece)
    return whole


def _span(span: Span) -> str:
    outer, inner = MARKS[span.style]
    text = f"{outer}{escape(f'{inner}{span.text}{inner}')}{outer}"
    # Anchors within a page are another matter in each dialect.
    if span.link and not span.link.startswith("#"):
        return f"[{text}]({span.link})"
    return text


def _block(block: Block) -> str:
    if isinstance(block, Section):
        return f"{'#' * block.level} {inline(block.title)}\n\n{markdown(block.blocks)}".rstrip()
    if isinstance(block, Paragraph):
        text = inline(block.text)
        return f"**{text}**" if block.is_strong and text else text
    if isinstance(block, Bullets):
        return _bullets(block)
    if isinstance(block, Terms):
        return "\n".join(f"- {inline(text)}" for text in block.sentences)
    if isinstance(block, Code):
        return _code(block)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return _figure(block)
    assert isinstance(block, Markup)
    return ""


def _bullets(bullets: Bullets) -> str:
    lines = []
    for number, item in enumerate(bullets.items, 1):
        mark = f"\\[{number}\\] " if bullets.anchor else ""
        lines.append(f"- {mark}{inline(item)}")
    return "\n".join(lines)


def _code(code: Code) -> str:
    """Code between fences that are longer than any in it."""
    longest = max(map(len, re.findall(r"`+", code.text)), default=0)
    fence = "`" * max(3, longest + 1)
    text = clean(code.text.rstrip(), keep="\n\t")
    return f"{fence}{code.language}\n{text}\n{fence}"


def _table(table: Table) -> str:
    width = len(table.columns)
    names = [escape(column.name) for column in table.columns]
    lines = [_line(names), _line(["---"] * width)]
    for row in table.rows:
        if isinstance(row, Aside):
            # Below the row, from its second cell on.
            row = ("", row.who, row.text, *[""] * (width - 3))
        lines.append(_line(map(inline, row)))
    caption = f"{escape(table.caption)}\n\n" if table.caption else ""
    return caption + "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figure(figure: Figure) -> str:
    if figure.source:
        return f"![{escape(figure.alt)}]({figure.source})"
    # Light or dark as the page is, which GitHub decides by its own theme.
    width = f' width="{figure.width}"' if figure.width else ""
    light, dark = (_attribute(file_of(figure, theme)) for theme in THEMES)
    shown = (
        f'<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'  <img src="{light}" alt="{_attribute(figure.alt)}"{width}>\n</picture>'
    )
    if figure.align:
        shown = f'<p align="{figure.align}">\n{shown}\n</p>'
    return f"{shown}\n\n*{escape(figure.caption)}*" if figure.caption else shown


def file_of(figure: Figure, theme: str) -> str:
    """A picture's file, from the document's folder."""
    return f"{figure.folder}/{figure.name}-{theme}.svg"


def _attribute(text: str) -> str:
    # No entity for an apostrophe, which needs none here and reads better.
    return html.escape(clean(text), quote=False).replace('"', "&quot;")
