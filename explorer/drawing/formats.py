"""Draws a gradient graph in any format that is offered, alone or beside another."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from explorer.drawing.collapse import collapse_with_ids
from explorer.drawing.dot import dot
from explorer.drawing.mermaid import mermaid
from explorer.drawing.picture import Picture
from explorer.drawing.png import png
from explorer.drawing.svg import svg
from explorer.drawing.views import VIEWS, ViewName, picture
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph

FormatName = Literal["svg", "dot", "png", "mermaid", "json"]


class Drawing(NamedTuple):
    """The input of a format: a graph, collapsed already, and how it is to be drawn.

    ``numbers`` are the pair numbers of nodes, by id. ``timeout`` limits Graphviz, in seconds;
    ``prefix`` begins every id of an SVG.
    """

    graph: GradGraph
    view: ViewName
    numbers: Mapping[str, int]
    title: str
    timeout: float
    prefix: str

    def picture(self) -> Picture:
        """The graph laid out as a picture."""
        return picture(self.graph, self.view, self.numbers, self.title, self.timeout)


class Format(NamedTuple):
    """A file format: the ending of its files, and the function that makes their bytes."""

    ending: str
    make: Callable[[Drawing], bytes]


def draw(
    graph: GradGraph,
    *,
    format: FormatName,
    view: ViewName = "ladder",
    depth: int | None = None,
    numbers: Mapping[str, int] | None = None,
    title: str | None = None,
    timeout: float = 10.0,
    prefix: str = "",
) -> bytes:
    """The bytes of a file that shows a graph.

    The graph is collapsed to ``depth`` parts of the module path; None leaves it whole. ``numbers``
    maps node ids of the given graph to the number that a node shares with its pair in another
    picture. ``timeout`` limits Graphviz, in seconds; past it a simple layout is used, and the
    picture says so. ``prefix`` begins every id of an SVG. Raises UsageError for an unknown format
    or view, for a negative depth, and for Mermaid of a graph that is too large for it.
    """
    for name, value, allowed in (("format", format, FORMATS), ("view", view, VIEWS)):
        if value not in allowed:
            raise UsageError(f"{name} {value!r} is unknown; there are {', '.join(allowed)}")
    graph, numbers = _at_depth(graph, depth, numbers or {})
    drawing = Drawing(graph, view, numbers, _title(graph, title), timeout, prefix)
    return FORMATS[format].make(drawing)


def pair(
    left: GradGraph,
    right: GradGraph,
    *,
    view: ViewName = "ladder",
    depth: int | None = None,
    numbers: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {}),
    titles: tuple[str | None, str | None] = (None, None),
    timeout: float = 10.0,
    prefix: str = "",
) -> bytes:
    """The bytes of one SVG with two graphs side by side, in which pairs have the same number.

    Ids begin with ``prefix`` and "left-" or "right-". The other arguments are those of ``draw``;
    ``timeout`` holds for each of the two.
    """
    prefixes = (f"{prefix}left-", f"{prefix}right-")
    pictures = []
    for graph, own_numbers, title in zip((left, right), numbers, titles, strict=True):
        shown, shown_numbers = _at_depth(graph, depth, own_numbers)
        pictures.append(picture(shown, view, shown_numbers, _title(shown, title), timeout))
    return svg(pictures, prefixes)


def _at_depth(
    graph: GradGraph, depth: int | None, numbers: Mapping[str, int]
) -> tuple[GradGraph, Mapping[str, int]]:
    """The graph collapsed to a depth, and the numbers of the nodes in it that are not modules."""
    if depth is None:
        return graph, numbers
    collapsed, new_ids = collapse_with_ids(graph, depth)
    # A number belongs to one node: a module has none, whatever nodes were merged into it.
    unmerged = {node.id for node in collapsed.nodes if node.kind != "call"}
    kept = {}
    for node, number in numbers.items():
        if new_ids.get(node) in unmerged:
            kept[new_ids[node]] = number
    return collapsed, kept


def _title(graph: GradGraph, title: str | None) -> str:
    return f"{graph.engine} · {graph.case}" if title is None else title


def _svg(drawing: Drawing) -> bytes:
    return svg([drawing.picture()], [drawing.prefix])


def _png(drawing: Drawing) -> bytes:
    laid_out = drawing.picture()
    # resvg-py 0.5.0 knows neither variables nor media queries in a style sheet.
    plain = svg([laid_out], [drawing.prefix], plain=True)
    return png(plain, laid_out.width, laid_out.height)


def _dot(drawing: Drawing) -> bytes:
    return dot(drawing.graph, drawing.numbers, drawing.title)


def _mermaid(drawing: Drawing) -> bytes:
    return mermaid(drawing.graph, drawing.numbers)


def _json(drawing: Drawing) -> bytes:
    return msgspec.json.format(msgspec.json.encode(drawing.graph), indent=1) + b"\n"


FORMATS: Final[dict[FormatName, Format]] = {
    "svg": Format(".svg", _svg),
    "png": Format(".png", _png),
    "dot": Format(".dot", _dot),
    "mermaid": Format(".mmd", _mermaid),
    "json": Format(".json", _json),
}
"""Every format by name."""
