"""HTML pages that need nothing else: no scripts, no fonts, no links; light and dark."""

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from explorer.text.language import code

STYLE = (Path(__file__).parents[1] / "blocks" / "page.css").read_text(encoding="utf-8")
"""The colours and the spacing of every page."""


def page(title: str, parts: Iterable[str], style: str = "") -> str:
    """A whole document; ``style`` is CSS of its own beside the style of all pages."""
    # STYLE is ours; whatever else comes in is escaped by whoever makes the parts.
    head = (
        f'<!DOCTYPE html>\n<html lang="{code()}">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n<main>",
    )
    return "\n".join((*head, *parts, "</main>\n</body>\n</html>\n"))


def table(columns: Iterable[str], rows: Iterable[str]) -> str:
    """A table of rows that are HTML already, in a box that scrolls where it is too wide."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def prose(text: str) -> str:
    """A sentence as HTML; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def row(cells: Iterable[str]) -> str:
    """A table's row of text, which is escaped; what stands between backticks is code."""
    return "<tr>" + "".join(f"<td>{prose(cell)}</td>" for cell in cells) + "</tr>"
