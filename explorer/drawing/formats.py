"""Draws a gradient graph in any format that is offered, alone or beside another."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.resources import as_file, files
from typing import Any, Final, Literal, NamedTuple

import graphviz
import msgspec

from explorer.drawing.cards import cards, label_lines
from explorer.drawing.label_text import printable
from explorer.drawing.marks import Marks, marks, own_numbers, shared_numbers
from explorer.drawing.picture import BoxRole, Card, Picture
from explorer.drawing.shown import MOST_NODES, Depth, Shown, show, show_both, untouched
from explorer.drawing.style import FILL, LIGHT, WIRE
from explorer.drawing.svg import svg
from explorer.drawing.views import VIEWS, ViewName, picture
from explorer.model.errors import UsageError
from explorer.model.graph import Edge, EdgeKind, GradGraph, Phase
from explorer.text.language import ENGLISH, _, said_in
from explorer.text.numbers import plain
from explorer.text.remedies import missing

# DOT

DASHES: Final[dict[EdgeKind, str]] = {"saved": "dashed", "control": "dotted"}

BOX_STYLE: Final = "filled,rounded"
BOX_STYLES: Final[dict[BoxRole, str]] = {
    "accumulate": f"{BOX_STYLE},bold",
    "seed": f"{BOX_STYLE},dashed",
    "call": f"{BOX_STYLE},bold",
    "call-backward": f"{BOX_STYLE},bold",
}
"""The style of a box, and those of some roles."""

FONT: Final = "Helvetica"

NODE_DEFAULTS: Final = {
    "shape": "box",
    "fontname": FONT,
    "fontsize": "11",
    "height": "0.3",
    "fontcolor": LIGHT["ink"],
}


def dot(graph: GradGraph, marks: Marks, title: str) -> bytes:
    """The DOT text of a graph; ``marks`` are by the ids of nodes."""
    shown = cards(graph, marks)
    digraph = graphviz.Digraph(
        "gradient_graph", node_attr=NODE_DEFAULTS, edge_attr={"arrowsize": "0.6"}
    )
    digraph.attr(
        label=graphviz.escape(printable(title)),
        labelloc="t",
        fontname=FONT,
        fontsize="14",
        rankdir="TB",
    )
    # The two phases are clusters, so that Graphviz keeps each together.
    for phase in ("forward", "backward"):
        with digraph.subgraph(name=f"cluster_{phase}") as cluster:
            cluster.attr(
                label=_(phase),
                color=LIGHT["group-line"],
                fontcolor=LIGHT[f"{phase}-line"],
                fontname=FONT,
            )
            for node in graph.nodes:
                if node.phase == phase:
                    _add_node(cluster, shown[node.id])
    nodes = graph.by_id()
    for edge in graph.edges:
        digraph.edge(edge.origin, edge.target, **_edge_look(edge, nodes[edge.target].phase))
    return str(digraph.source).encode()


def _add_node(cluster: Any, node: Card) -> None:
    # DOT has no style sheet: the colours are the light ones, on the white of Graphviz's paper.
    fill = FILL[node.role]
    is_alarming = node.alarm or node.refuted or node.diverges
    line = "alarm" if is_alarming else f"{fill}-line"
    label = _lines(label_lines(node, between="  "))
    cluster.node(
        node.id,
        label,
        fillcolor=LIGHT[fill],
        color=LIGHT[line],
        style=BOX_STYLES.get(node.role, BOX_STYLE),
        tooltip=_lines(node.tooltip),
    )


def _lines(texts: Iterable[str]) -> str:
    """Lines of text as DOT has them in one attribute."""
    return r"\n".join(map(graphviz.escape, texts))


def _edge_look(edge: Edge, phase: Phase) -> dict[str, str]:
    """The attributes of an edge into a node of a phase."""
    if edge.kind == "data":
        return {"color": LIGHT[WIRE[phase]]}
    # Between the phases an edge must not shape the layout: with many such edges, dot takes minutes
    # for a graph that it lays out in a second without them.
    return {"style": DASHES[edge.kind], "color": LIGHT["rung"], "constraint": "false"}


# Mermaid

MOST_FOR_MERMAID: Final = 60
"""A Mermaid chart of more nodes than this can no longer be read."""

# "~~~" is a link that is not drawn: it only keeps its ends in order.
ARROWS: Final[dict[EdgeKind, str]] = {"data": "-->", "saved": "-.->", "control": "~~~"}

RECTANGLE: Final = ("[", "]")
ROUND: Final = ("([", "])")
SLANTED: Final = ("[/", "/]")
BARRED: Final = ("[[", "]]")
SHAPES: Final[dict[BoxRole, tuple[str, str]]] = {
    "accumulate": ROUND,
    "leaf": SLANTED,
    "gradient": SLANTED,
    "seed": ROUND,
    "call": BARRED,
    "call-backward": BARRED,
}
"""The brackets around the label of a box of some roles; of the others they are RECTANGLE."""

PLAIN: Final = frozenset(" .,_-+()·×…‖")
"""Signs that neither Mermaid nor HTML reads as syntax, beside letters and digits."""


def mermaid(graph: GradGraph, marks: Marks) -> bytes:
    """The flowchart's text; ``marks`` are by the ids of nodes.

    Raises UsageError for more than MOST_FOR_MERMAID nodes.
    """
    if len(graph.nodes) > MOST_FOR_MERMAID:
        text = _(
            "{n} nodes are too many for Mermaid, which shows at most {most}: collapse modules"
            " with a smaller depth, or take svg"
        )
        raise UsageError(text.format(n=len(graph.nodes), most=MOST_FOR_MERMAID))
    shown = cards(graph, marks)
    lines = ["flowchart TB"]
    for phase in ("forward", "backward"):
        # In English the id is the label, too.
        name = _(phase)
        lines.append(f"  subgraph {phase}" + (f'["{name}"]' if name != phase else ""))
        nodes = [node for node in graph.nodes if node.phase == phase]
        lines += [f"    {_box(shown[node.id])}" for node in nodes]
        lines.append("  end")
    lines += [f"  {edge.origin} {ARROWS[edge.kind]} {edge.target}" for edge in graph.edges]
    # Each colour once, in the order of the table: a set would change from run to run.
    for fill in dict.fromkeys(FILL.values()):
        line = LIGHT[f"{fill}-line"]
        look = f"fill:{LIGHT[fill]},stroke:{line},color:{LIGHT['ink']}"
        lines.append(f"  classDef {fill} {look}")
    return ("\n".join(lines) + "\n").encode()


def _box(node: Card) -> str:
    """One node: its id, the brackets of its shape around its label, and its colours."""
    label = "<br/>".join(quoted(line) for line in label_lines(node, between=" "))
    start, end = SHAPES.get(node.role, RECTANGLE)
    return f'{node.id}{start}"{label}"{end}:::{FILL[node.role]}'


def quoted(text: str) -> str:
    """Text for a Mermaid label, with character codes for the syntax of Mermaid and HTML."""
    characters = []
    for character in printable(text):
        if character.isalnum() or character in PLAIN:
            characters.append(character)
        else:
            characters.append(f"#{ord(character)};")
    return "".join(characters)


# PNG

FONT_FILES: Final = ("Roboto-Regular.ttf", "Roboto-Medium.ttf")

LONGEST_SIDE: Final = 16000.0
"""The longest side of a PNG in pixels; larger pictures are scaled down to it."""

LARGEST_FINE_AREA: Final = 10e6
"""The largest area with ``scale`` pixels to the point, in square points.

A larger picture gets fewer, down to one: time and size grow with the number of pixels.
"""


def png(svg: bytes, width: float, height: float, scale: float = 2.0) -> bytes:
    """The PNG of a plain SVG that is ``width`` by ``height`` points.

    It has ``scale`` pixels to the point, fewer where the picture is large.
    """
    # Here, because only those who ask for a PNG need them.
    try:
        import resvg_py

        folder = files("font_roboto") / "files"
    except ImportError as error:
        raise missing(error.name or "resvg_py", _("a PNG")) from error
    finest = (LARGEST_FINE_AREA / max(width * height, 1.0)) ** 0.5
    zoom = min(scale, max(1.0, finest), LONGEST_SIDE / max(width, height, 1.0))
    with as_file(folder / FONT_FILES[0]) as regular, as_file(folder / FONT_FILES[1]) as medium:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg.decode(),
                zoom=zoom,
                font_files=[str(regular), str(medium)],
                font_family="Roboto",
                sans_serif_family="Roboto",
            )
        )


# All formats

FormatName = Literal["svg", "dot", "png", "mermaid", "json"]


class Drawing(NamedTuple):
    """The input of a format: a graph as it is shown, and how it is to be drawn.

    ``marks`` are by the ids of nodes in sight. ``timeout`` limits Graphviz, in seconds; ``prefix``
    begins every id of an SVG.
    """

    shown: Shown
    view: ViewName
    marks: Marks
    title: str
    timeout: float
    prefix: str

    def picture(self) -> Picture:
        """The graph laid out as a picture."""
        return picture(self.shown, self.view, self.marks, self.title, self.timeout)


class Format(NamedTuple):
    """A file format: the ending of its files, and the function that makes their bytes.

    ``most_nodes`` are few enough for the depth "fit". ``make_pair`` makes the bytes of a file with
    two graphs side by side, None where there is no such file.
    """

    ending: str
    make: Callable[[Drawing], bytes]
    most_nodes: int = MOST_NODES
    make_pair: Callable[[Drawing, Drawing], bytes] | None = None


def draw(
    graph: GradGraph,
    *,
    format: FormatName,
    view: ViewName = "ladder",
    depth: Depth = "fit",
    numbers: Mapping[str, int] | None = None,
    diverging: Collection[str] = (),
    title: str | None = None,
    timeout: float = 10.0,
    prefix: str = "",
) -> bytes:
    """The bytes of a file that shows a graph.

    Modules are merged to a ``depth``; by default a large graph is collapsed until it fits a screen,
    and the picture says so, while JSON has every node. ``numbers`` maps node ids of the given graph
    to the number that a node shares with its pair in another picture; ``diverging`` are the ids of
    the nodes where the first divergence from another graph lies. ``timeout`` limits Graphviz, in
    seconds; past it a simple layout is used, and the picture says so. ``prefix`` begins every id of
    an SVG. Raises UsageError for an unknown format or view, for a negative depth, and for Mermaid
    of a graph that is too large for it.
    """
    _check(format, view)
    shown = _shown(graph, format, depth)
    numbers = own_numbers(shown, numbers or {})
    return draw_shown(
        shown,
        format=format,
        view=view,
        marks=marks(shown, numbers, diverging),
        title=title,
        timeout=timeout,
        prefix=prefix,
    )


def draw_shown(
    shown: Shown,
    *,
    format: FormatName,
    marks: Marks,
    view: ViewName = "ladder",
    title: str | None = None,
    timeout: float = 10.0,
    prefix: str = "",
) -> bytes:
    """The bytes of a file that shows a graph whose modules are merged already.

    ``marks`` are by ids in sight; the other arguments are those of ``draw``.
    """
    _check(format, view)
    drawing = Drawing(shown, view, marks, _title(shown.graph, title), timeout, prefix)
    return FORMATS[format].make(drawing)


def pair(
    left: GradGraph,
    right: GradGraph,
    *,
    format: FormatName = "svg",
    view: ViewName = "ladder",
    depth: Depth = "fit",
    numbers: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {}),
    diverging: tuple[Collection[str], Collection[str]] = ((), ()),
    titles: tuple[str | None, str | None] = (None, None),
    timeout: float = 10.0,
    prefix: str = "",
) -> bytes:
    """The bytes of one SVG or PNG with two graphs side by side, in which pairs have one number.

    Ids begin with ``prefix`` and "left-" or "right-". The other arguments are those of ``draw``;
    ``timeout`` holds for each of the two. Raises UsageError for any other format.
    """
    _check(format, view)
    make = FORMATS[format].make_pair
    if make is None:
        text = _("format {format} shows one graph; two side by side are drawn as {formats}")
        raise UsageError(text.format(format=repr(format), formats=_(" or ").join(PAIR_FORMATS)))
    return make(*_drawings(left, right, view, depth, numbers, diverging, titles, timeout, prefix))


def two(
    left: GradGraph,
    right: GradGraph,
    *,
    view: ViewName = "ladder",
    depth: Depth = "fit",
    numbers: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {}),
    diverging: tuple[Collection[str], Collection[str]] = ((), ()),
    titles: tuple[str | None, str | None] = (None, None),
    timeout: float = 10.0,
    prefix: str = "",
) -> tuple[bytes, bytes]:
    """The same two graphs as ``pair`` shows, each an SVG of its own: one may stand below the other."""
    _check("svg", view)
    one, other = _drawings(left, right, view, depth, numbers, diverging, titles, timeout, prefix)
    return _svg(one), _svg(other)


def _drawings(
    left: GradGraph,
    right: GradGraph,
    view: ViewName,
    depth: Depth,
    numbers: tuple[Mapping[str, int], Mapping[str, int]],
    diverging: tuple[Collection[str], Collection[str]],
    titles: tuple[str | None, str | None],
    timeout: float,
    prefix: str,
) -> tuple[Drawing, Drawing]:
    both = show_both(left, right, depth)
    shown_numbers = shared_numbers(*both, numbers)
    drawings = []
    for side, shown in enumerate(both):
        drawings.append(
            Drawing(
                shown,
                view,
                marks(shown, shown_numbers[side], diverging[side]),
                _title(shown.graph, titles[side]),
                timeout,
                f"{prefix}{('left-', 'right-')[side]}",
            )
        )
    return drawings[0], drawings[1]


def _shown(graph: GradGraph, format: FormatName, depth: Depth) -> Shown:
    # JSON is for programs: it has what was captured, unless a depth is asked for.
    if format == "json" and isinstance(depth, str):
        return untouched(graph)
    return show(graph, depth, FORMATS[format].most_nodes)


def _check(format: str, view: str) -> None:
    for name, value, allowed in (("format", format, FORMATS), ("view", view, VIEWS)):
        if value not in allowed:
            text = _("{name} {value} is unknown; there are {allowed}")
            given = {"name": name, "value": repr(value), "allowed": ", ".join(allowed)}
            raise UsageError(text.format(**given))


def _title(graph: GradGraph, title: str | None) -> str:
    if title is None:
        return f"{graph.engine} · {graph.case}"
    return title


def _pictures(drawings: Sequence[Drawing]) -> tuple[list[Picture], list[str]]:
    """The pictures of drawings, and what the ids in each begin with."""
    pictures, prefixes = [], []
    for drawing in drawings:
        pictures.append(drawing.picture())
        prefixes.append(drawing.prefix)
    return pictures, prefixes


def _svg(*drawings: Drawing) -> bytes:
    return svg(*_pictures(drawings))


def _png(*drawings: Drawing) -> bytes:
    # The font that comes with the package has no Chinese signs, and which fonts a machine has
    # must not change the picture: a PNG is English in every language.
    with said_in(ENGLISH):
        pictures, prefixes = _pictures(drawings)
        # resvg-py 0.5.0 knows neither variables nor media queries in a style sheet.
        plain = svg(pictures, prefixes, plain=True)
    width = height = 0.0
    for drawn in pictures:
        width += drawn.width
        height = max(height, drawn.height)
    return png(plain, width, height)


def _dot(drawing: Drawing) -> bytes:
    return dot(drawing.shown.graph, drawing.marks, drawing.title)


def _mermaid(drawing: Drawing) -> bytes:
    return mermaid(drawing.shown.graph, drawing.marks)


def _json(drawing: Drawing) -> bytes:
    # An argument may be an infinity, for which JSON has no number.
    document = plain(msgspec.to_builtins(drawing.shown.graph))
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


FORMATS: Final[dict[FormatName, Format]] = {
    "svg": Format(".svg", _svg, make_pair=_svg),
    "png": Format(".png", _png, make_pair=_png),
    "dot": Format(".dot", _dot),
    "mermaid": Format(".mmd", _mermaid, MOST_FOR_MERMAID),
    "json": Format(".json", _json),
}
"""Every format by name."""

PAIR_FORMATS: Final = tuple(name for name, format in FORMATS.items() if format.make_pair)
"""The formats of a file with two graphs."""
