"""Places the boxes of the forward lane, or of the only lane of a flow, with Graphviz."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns
from explorer.drawing.ladder.wrapping import is_too_wide, narrowed, wrapped_layers
from explorer.drawing.layout import Layout, LayoutRequest, arrange, arrange_simply
from explorer.drawing.links import Link, edges_among, links_of, neighbours
from explorer.drawing.picture import Card, Point
from explorer.drawing.spacing import Wish, spread
from explorer.drawing.style import GROUP_SIDE
from explorer.model.graph import GradGraph

FEW_SAVED: Final = 40
"""With more saved tensors than this in the lane, Graphviz is not given them: it would take minutes.

Their edges are then drawn over the layout of the others.
"""

ROW_HEIGHT: Final = 30.0
"""What Graphviz takes for the height of every box, in points; only the order of rows is kept."""

BETWEEN_ROWS: Final = 24.0
"""Room between rows, in points, in the layout of Graphviz."""

BETWEEN_BOXES: Final = 4 * GROUP_SIDE
"""Room between neighbours in a row, in points: enough for the sides of two groups within groups."""

MOST_DRIFT: Final = 1.3
"""A lane that is so many times as wide as its widest row is straightened."""

LEAST_DRIFT: Final = 1200.0
"""A lane that is no wider than this is left as it is, in points."""

AROUND: Final = 6
"""How many rows above and below a row count for where the lane stands there."""

CHAIN_WEIGHT: Final = 12.0
"""How much more a node of a chain holds its place than another."""


def place_forward(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], timeout: float
) -> Layout:
    """The centres of the forward lane's boxes; ``timeout`` limits Graphviz, in seconds."""
    request = _request(graph, columns, cards)
    layout = arrange(request, timeout)
    widths = {node: cards[node].width for node in columns.forward}
    is_wrapped = is_too_wide(_rows_from_the_top(layout.places), widths, BETWEEN_BOXES)
    if is_wrapped:
        layers = wrapped_layers(columns.forward, request.edges, widths, BETWEEN_BOXES)
        layered = msgspec.structs.replace(request, layers=layers)
        # A Graphviz that gave no layout in time would not give one now either.
        layout = arrange_simply(layered, layout.note) if layout.note else arrange(layered, timeout)
    places = _with_chains_upright(layout.places, request.edges, cards)
    places = _narrowed(places, widths) if is_wrapped else _without_drift(places, cards)
    return msgspec.structs.replace(layout, places=places)


def _request(graph: GradGraph, columns: Columns, cards: Mapping[str, Card]) -> LayoutRequest:
    nodes = graph.by_id()
    sizes = {}
    clusters = {}
    for node in columns.forward:
        sizes[node] = (cards[node].width, ROW_HEIGHT)
        if nodes[node].body:
            clusters[node] = nodes[node].body
    edges = edges_among(graph, columns.forward)
    unsaved = [edge for edge in edges if edge.kind != "saved"]
    saved_count = len(edges) - len(unsaved)
    links = links_of(edges if saved_count <= FEW_SAVED else unsaved)
    links = list(dict.fromkeys(links))
    flow = set(links_of(unsaved))
    return LayoutRequest(
        sizes=sizes,
        edges=links,
        bottom_row=_results(columns, cards, links),
        clusters=clusters,
        # A saved tensor may bend: it is not a step of the computation.
        light=[link for link in links if link not in flow],
        column_gap=BETWEEN_BOXES,
        row_gap=BETWEEN_ROWS,
    )


def _results(columns: Columns, cards: Mapping[str, Card], links: Sequence[Link]) -> list[str]:
    """The results of the net that stand in the bottom row of a ladder."""
    # In a flow, a result stands where it is made: pulled down, it would drag its maker aside.
    is_flow = not columns.backward and not columns.leaves
    if is_flow:
        return []
    read = {origin for origin, _ in links}
    results = [node for node in columns.forward if cards[node].role == "result"]
    return [node for node in results if node not in read]


def _with_chains_upright(
    places: Mapping[str, Point], links: Sequence[Link], cards: Mapping[str, Card]
) -> dict[str, Point]:
    """The places with the nodes of each chain one below the other, as far as there is room.

    Graphviz sets nodes a few points aside wherever that shortens an edge; an upright chain is
    easier to follow.
    """
    makers = _makers_in_chains(links)
    centres: dict[str, float] = {}
    for row in _rows_from_the_top(places):
        wishes = []
        for node in row:
            wish = Wish(places[node][0], cards[node].width)
            if node in makers:
                # Where an edge runs upwards, the maker has not been placed yet.
                below_maker = centres.get(makers[node], wish.centre)
                wish = Wish(below_maker, wish.size, CHAIN_WEIGHT)
            wishes.append(wish)
        centres.update(zip(row, spread(wishes, BETWEEN_BOXES), strict=True))

    upright = {}
    for node, (_, y) in places.items():
        upright[node] = (centres[node], y)
    return upright


def _narrowed(places: Mapping[str, Point], widths: Mapping[str, float]) -> dict[str, Point]:
    centres = {node: x for node, (x, _) in places.items()}
    narrow = narrowed(_rows_from_the_top(places), centres, widths, BETWEEN_BOXES)
    return {node: (narrow[node], y) for node, (_, y) in places.items()}


def _without_drift(places: Mapping[str, Point], cards: Mapping[str, Card]) -> dict[str, Point]:
    """The places with rows moved sideways, where a long lane wanders to one side.

    A row is moved against the mean of the rows around it, so that neighbours stay almost as they
    are to each other.
    """
    rows = _rows_from_the_top(places)
    lane_width = max((_extent(row, places, cards) for row in rows), default=0.0)
    if _extent(places, places, cards) <= max(MOST_DRIFT * lane_width, LEAST_DRIFT):
        return dict(places)
    middles = [sum(places[node][0] for node in row) / len(row) for row in rows]
    straight = {}
    for index, row in enumerate(rows):
        around = middles[max(0, index - AROUND) : index + AROUND + 1]
        drift = sum(around) / len(around)
        for node in row:
            x, y = places[node]
            straight[node] = (x - drift, y)
    return straight


def _extent(nodes: Iterable[str], places: Mapping[str, Point], cards: Mapping[str, Card]) -> float:
    """The width that some nodes take together, in points."""
    lefts = [places[node][0] - cards[node].width / 2 for node in nodes]
    rights = [places[node][0] + cards[node].width / 2 for node in nodes]
    return max(rights, default=0.0) - min(lefts, default=0.0)


def _makers_in_chains(links: Sequence[Link]) -> dict[str, str]:
    """The maker of each node that has this one input and is its only reader."""
    before, after = neighbours(links)
    makers = {}
    for node, origins in before.items():
        origin = origins[0]
        if len(origins) == len(after[origin]) == 1:
            makers[node] = origin
    return makers


def _rows_from_the_top(places: Mapping[str, Point]) -> list[list[str]]:
    """The nodes of each row from left to right."""
    rows: defaultdict[float, list[str]] = defaultdict(list)
    for node in sorted(places, key=lambda node: places[node][0]):
        _, y = places[node]
        rows[round(y, 1)].append(node)
    return [rows[y] for y in sorted(rows)]
