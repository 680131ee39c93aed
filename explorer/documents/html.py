"""Parts as HTML inside somebody's page: drawings as they are, which follow the page's light or dark."""

from collections.abc import Iterable
from html import escape

from explorer.documents.contents import Figure, Paragraph, Part, Table
from explorer.report.html import row, table


def html_of(parts: Iterable[Part]) -> str:
    """Parts one after another; SVGs must have been drawn with ids of their own."""
    return "\n".join(map(_part, parts))


def _part(part: Part) -> str:
    if isinstance(part, Figure):
        return figure(part)
    if isinstance(part, Table):
        caption = f"<p>{escape(part.caption)}</p>" if part.caption else ""
        return caption + table(part.columns, map(row, part.rows))
    if isinstance(part, Paragraph):
        pieces = [
            f"<code>{escape(text)}</code>" if is_code else escape(text)
            for text, is_code in part.pieces
        ]
        text = "".join(pieces)
        return f"<p><strong>{text}</strong></p>" if part.is_strong else f"<p>{text}</p>"
    return f'<pre><code class="language-{part.language}">{escape(part.text)}</code></pre>'


def _piece(text: str, is_code: bool) -> str:
    return f"<code>{escape(text)}</code>" if is_code else escape(text)


def figure(shown: Figure) -> str:
    """A figure with its drawings, the text for who cannot see them, and its caption."""
    width = f"width:{shown.width};" if shown.width else ""
    align = {"": "", "left": "", "center": "margin:auto;", "right": "margin-left:auto;"}[
        shown.align
    ]
    caption = f"<figcaption>{escape(shown.caption)}</figcaption>" if shown.caption else ""
    # Two graphs are side by side if there is room, else one below the other.
    drawings = "".join(
        f'<div style="flex:1 1 28rem">{_drawing(file)}</div>' for file in shown.files
    )
    return (
        f'<figure class="gradient-figure" style="{width}{align}max-width:100%">'
        f'<div role="img" aria-label="{escape(shown.alt)}" style="display:flex;flex-wrap:wrap;gap:1rem">'
        f"{drawings}</div>{caption}</figure>"
    )


def _drawing(svg: bytes) -> str:
    # Its own width and height are of the paper; here it is as wide as there is room.
    return svg.decode().strip().replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
