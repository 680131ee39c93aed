"""Places the boxes of the forward lane, or of the one lane of a flow: Graphviz, then chains upright."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns, edges_among
from explorer.drawing.layout import Layout, LayoutRequest, Place, arrange
from explorer.drawing.links import Link, links_of, neighbours
from explorer.drawing.picture import Card
from explorer.drawing.spacing import Wish, spread
from explorer.drawing.style import GROUP_SIDE
from explorer.model.graph import GradGraph

FEW_RUNGS: Final = 40
"""With more saved tensors than this in the lane, Graphviz is not shown them: it would take minutes,
so they are drawn over its layout.
"""

ROW_HEIGHT: Final = 30.0
"""What Graphviz takes for the height of every box, in points; only the order of rows is kept."""

BETWEEN_ROWS: Final = 24.0
BETWEEN_BOXES: Final = 4 * GROUP_SIDE
"""Room between neighbours in points: enough for the sides of two groups within groups."""

CHAIN_WEIGHT: Final = 12.0
"""How much more a node of a chain holds its place than another."""


def place_forward(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], timeout: float
) -> Layout:
    """The centres of the forward lane's boxes; ``timeout`` limits Graphviz, in seconds."""
    request = _request(graph, columns, cards)
    layout = arrange(request, timeout)
    places = _with_chains_upright(layout.places, request.edges, cards)
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
    rungs = len(edges) - len(unsaved)
    links = list(dict.fromkeys(links_of(edges if rungs <= FEW_RUNGS else unsaved)))
    flow = set(links_of(unsaved))
    return LayoutRequest(
        sizes=sizes,
        edges=links,
        last=_results(columns, cards, links),
        clusters=clusters,
        # A saved tensor may bend: it is not a step of the computation.
        light=[link for link in links if link not in flow],
        across=BETWEEN_BOXES,
        down=BETWEEN_ROWS,
    )


def _results(columns: Columns, cards: Mapping[str, Card], links: Sequence[Link]) -> list[str]:
    """The net's results that stand at the bottom of a ladder, all in one row."""
    # In a flow, a result stands where it is made: pulled down, it would drag its maker aside.
    is_flow = not columns.backward and not columns.leaves
    if is_flow:
        return []
    read = {origin for origin, _ in links}
    results = [node for node in columns.forward if cards[node].role == "result"]
    return [node for node in results if node not in read]


def _with_chains_upright(
    places: Mapping[str, Place], links: Sequence[Link], cards: Mapping[str, Card]
) -> dict[str, Place]:
    """The places with the nodes of each chain one below the other, as far as their neighbours let
    them.

    Graphviz sets nodes a few points aside wherever that shortens an edge; upright, the eye follows.
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


def _makers_in_chains(links: Sequence[Link]) -> dict[str, str]:
    """The maker of each node that reads one value alone, and is alone in reading it."""
    before, after = neighbours(links)
    makers = {}
    for node, origins in before.items():
        origin = origins[0]
        if len(origins) == len(after[origin]) == 1:
            makers[node] = origin
    return makers


def _rows_from_the_top(places: Mapping[str, Place]) -> list[list[str]]:
    """The nodes of each row from left to right."""
    rows: defaultdict[float, list[str]] = defaultdict(list)
    for node in sorted(places, key=lambda node: places[node][0]):
        _, y = places[node]
        rows[round(y, 1)].append(node)
    return [rows[y] for y in sorted(rows)]
