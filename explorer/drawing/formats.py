"""Draws a gradient graph in any format that is offered, alone or beside another."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from explorer.drawing.cards import cards
from explorer.drawing.collapse import collapse_named
from explorer.drawing.dot import dot
from explorer.drawing.ladder import flow, ladder
from explorer.drawing.mermaid import mermaid
from explorer.drawing.picture import Picture, Text
from explorer.drawing.png import png
from explorer.drawing.svg import svg
from explorer.drawing.text import clean, fit, measure
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph

FormatName = Literal["svg", "dot", "png", "mermaid", "json"]
View = Literal["ladder", "flow"]

VIEWS: Final = {"ladder": ladder, "flow": flow}
WORDS: Final = {
    "ladder": "Forward runs down on the left, backward up on the right, each backward operator level with the forward operator "
    "it derives from; dashed lines are values kept for backward.",
    "flow": "All nodes from top to bottom, in the order in which values flow.",
}
"""What a view shows, for those who cannot see it."""

WIDEST_TITLE: Final = 720.0
BOLD: Final = 1.12
"""How much wider than its regular weight a font's bold is, at most, over a line of text."""


class Drawing(NamedTuple):
    """What a maker is given: the graph (collapsed already) and how it is to be drawn."""

    graph: GradGraph
    view: View
    numbers: Mapping[str, int]
    title: str
    timeout: float
    prefix: str


class Format(NamedTuple):
    """A file format: the ending of its files, and what makes them."""

    ending: str
    make: Callable[[Drawing], bytes]


def draw(
    graph: GradGraph,
    *,
    format: FormatName,
    view: View = "ladder",
    depth: int | None = None,
    numbers: Mapping[str, int] | None = None,
    title: str | None = None,
    timeout: float = 10.0,
    prefix: str = "",
) -> bytes:
    """The graph as one file's bytes, collapsed to ``depth`` parts of the module path when that is
    given.

    ``numbers`` maps node ids of the given graph to the number that a node shares with its pair in
    another picture. ``timeout`` limits Graphviz, in seconds; past it a simple layout is used, and
    the picture says so. ``prefix`` begins every id of an SVG. Raises UsageError for an unknown
    format or view, and for Mermaid of a graph that it cannot show.
    """
    for name, given, allowed in (("format", format, FORMATS), ("view", view, VIEWS)):
        if given not in allowed:
            raise UsageError(f"{name} {given!r} is unknown; there are {', '.join(allowed)}")
    drawing = _prepare(graph, view, depth, numbers, title, timeout, prefix)
    return FORMATS[format].make(drawing)


def pair(
    left: GradGraph,
    right: GradGraph,
    *,
    view: View = "ladder",
    depth: int | None = None,
    numbers: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {}),
    titles: tuple[str | None, str | None] = (None, None),
    timeout: float = 10.0,
    prefix: str = "",
) -> bytes:
    """One SVG of two graphs side by side, pairs with the same number; ids begin with ``prefix`` and
    "left-" or "right-".
    """
    names = (f"{prefix}left-", f"{prefix}right-")
    both = [
        _prepare(graph, view, depth, given, title, timeout, name)
        for graph, given, title, name in zip((left, right), numbers, titles, names, strict=True)
    ]
    return svg([picture(drawing) for drawing in both], names)


def _prepare(
    graph: GradGraph,
    view: View,
    depth: int | None,
    numbers: Mapping[str, int] | None,
    title: str | None,
    timeout: float,
    prefix: str,
) -> Drawing:
    shared = dict(numbers or {})
    if depth is not None:
        graph, home = collapse_named(graph, depth)
        alone = {node.id for node in graph.nodes if node.kind != "call"}
        shared = {home[node]: number for node, number in shared.items() if home.get(node) in alone}
    return Drawing(
        graph,
        view,
        shared,
        f"{graph.engine} · {graph.case}" if title is None else title,
        timeout,
        prefix,
    )


def picture(drawing: Drawing) -> Picture:
    """The laid-out picture with its title, its counts, and a note when the layout is not
    Graphviz's.
    """
    laid, instead = VIEWS[drawing.view](
        drawing.graph, cards(drawing.graph, drawing.numbers), drawing.timeout
    )
    counts = _counts(drawing.graph)
    headline = min(WIDEST_TITLE, measure(drawing.title, 15) * BOLD)
    width = max(laid.width, 40 + max(headline, measure(counts, 10), measure(instead, 11)))
    texts = [
        Text(20, 28, fit(clean(drawing.title), 15 * BOLD, width - 40), "title"),
        Text(20, 45, fit(clean(counts), 10, width - 40), "subtitle"),
        *([Text(20, 60, clean(instead), "note")] if instead else []),
        *laid.texts,
    ]
    described = f"{counts}. {WORDS[drawing.view]} {instead}".rstrip()
    return msgspec.structs.replace(
        laid, width=width, texts=tuple(texts), title=drawing.title, description=described
    )


def _counts(graph: GradGraph) -> str:
    forward = sum(node.phase == "forward" for node in graph.nodes)
    saved = len({edge.origin for edge in graph.edges if edge.kind == "saved"})
    kept = f", {saved} {'value' if saved == 1 else 'values'} kept for backward" if saved else ""
    return f"{graph.stage}: {forward} forward, {len(graph.nodes) - forward} backward nodes{kept}"


def _svg(drawing: Drawing) -> bytes:
    return svg([picture(drawing)], [drawing.prefix])


def _png(drawing: Drawing) -> bytes:
    laid = picture(drawing)
    return png(svg([laid], [drawing.prefix], plain=True), laid.width, laid.height)


def _dot(drawing: Drawing) -> bytes:
    return dot(drawing.graph, drawing.numbers, drawing.title)


def _mermaid(drawing: Drawing) -> bytes:
    return mermaid(drawing.graph, drawing.numbers)


def _json(drawing: Drawing) -> bytes:
    return msgspec.json.format(msgspec.json.encode(drawing.graph), indent=1) + b"\n"


FORMATS: Final[dict[str, Format]] = {
    "svg": Format(".svg", _svg),
    "png": Format(".png", _png),
    "dot": Format(".dot", _dot),
    "mermaid": Format(".mmd", _mermaid),
    "json": Format(".json", _json),
}
"""Every format by name: the ending of its files, and what makes them."""
