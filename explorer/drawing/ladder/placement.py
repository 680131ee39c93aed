"""Places the boxes of both lanes: forward with Graphviz, backward near its forward nodes."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import filterfalse
from math import inf
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns, Lane
from explorer.drawing.ladder.rows import (
    BETWEEN_BOXES,
    WIDEST_ROW,
    Rows,
    is_too_wide,
    narrowed,
    widths_of,
    wrapped_layers,
)
from explorer.drawing.layout import Layout, LayoutRequest, Wish, arrange, arrange_simply, spread
from explorer.drawing.picture import Card, Point
from explorer.drawing.structure import (
    Link,
    Neighbours,
    edges_among,
    links_among,
    links_of,
    neighbours,
)
from explorer.drawing.style import GROUP_SIDE
from explorer.model.graph import GradGraph

# Forward

FEW_SAVED: Final = 40
"""With more saved tensors than this in the lane, Graphviz is not given them: it would take minutes.

Their edges are then drawn over the layout of the others.
"""

ROW_HEIGHT: Final = 30.0
"""What Graphviz takes for the height of every box, in points; only the order of rows is kept."""

BETWEEN_ROWS: Final = 24.0
"""Room between rows, in points, in the layout of Graphviz."""

BETWEEN_FORWARD: Final = 4 * GROUP_SIDE
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
    widths = widths_of(columns.forward, cards)
    if not is_too_wide(_rows_from_the_top(layout.places), widths, BETWEEN_FORWARD):
        places = _with_chains_upright(layout.places, request.edges, cards)
        return msgspec.structs.replace(layout, places=_without_drift(places, cards))

    layers = wrapped_layers(columns.forward, request.edges, widths, BETWEEN_FORWARD)
    layered = msgspec.structs.replace(request, layers=layers)
    # A Graphviz that gave no layout in time would not give one now either.
    layout = arrange_simply(layered, layout.note) if layout.note else arrange(layered, timeout)
    places = _with_chains_upright(layout.places, request.edges, cards)
    return msgspec.structs.replace(layout, places=_narrowed(places, widths))


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
    if len(edges) - len(unsaved) > FEW_SAVED:
        edges = unsaved
    links = list(dict.fromkeys(links_of(edges)))
    flow = set(links_of(unsaved))
    return LayoutRequest(
        sizes=sizes,
        edges=links,
        bottom_row=_results(columns, cards, links),
        clusters=clusters,
        # A saved tensor may bend: it is not a step of the computation.
        light=[link for link in links if link not in flow],
        column_gap=BETWEEN_FORWARD,
        row_gap=BETWEEN_ROWS,
    )


def _results(columns: Columns, cards: Mapping[str, Card], links: Sequence[Link]) -> list[str]:
    """The results of the net that stand in the bottom row of a ladder."""
    # In a flow, a result stands where it is made: pulled down, it would drag its maker aside.
    is_flow = not columns.backward and not columns.leaves
    if is_flow:
        return []
    unread = filterfalse(dict(links).__contains__, columns.forward)
    return [node for node in unread if cards[node].role == "result"]


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
        centres.update(zip(row, spread(wishes, BETWEEN_FORWARD), strict=True))

    return _with_x(places, centres)


def _narrowed(places: Mapping[str, Point], widths: Mapping[str, float]) -> dict[str, Point]:
    rows = _rows_from_the_top(places)
    narrow = narrowed(rows, _centres(places, places), widths, BETWEEN_FORWARD)
    return _with_x(places, narrow)


def _with_x(places: Mapping[str, Point], centres: Mapping[str, float]) -> dict[str, Point]:
    """The places with another x each."""
    return {node: (centres[node], y) for node, (_, y) in places.items()}


def _without_drift(places: Mapping[str, Point], cards: Mapping[str, Card]) -> dict[str, Point]:
    """The places with rows moved sideways, where a long lane wanders to one side.

    A row is moved against the mean of the rows around it, so that neighbours stay almost as they
    are to each other.
    """
    rows = _rows_from_the_top(places)
    widest = 0.0
    middles = []
    for row in rows:
        centres = _centres(row, places)
        widest = max(widest, _extent(centres, cards))
        middles.append(_mean(centres.values()))
    if _extent(_centres(places, places), cards) <= max(MOST_DRIFT * widest, LEAST_DRIFT):
        return dict(places)
    straight = {}
    for index, row in enumerate(rows):
        around = middles[max(0, index - AROUND) : index + AROUND + 1]
        drift = sum(around) / len(around)
        for node in row:
            x, y = places[node]
            straight[node] = (x - drift, y)
    return straight


def _centres(nodes: Iterable[str], places: Mapping[str, Point]) -> dict[str, float]:
    """The x of the centres of some nodes."""
    return {node: places[node][0] for node in nodes}


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
    return [row for _y, row in sorted(rows.items())]


# Backward

BESIDE_SUBGRAPH: Final = 4 * GROUP_SIDE
"""Room between a subgraph's boxes and all others, in points."""

TOWARDS_GRADIENTS: Final = 50.0
"""How far towards the gradients a node that leads to a gradient only is moved, in points."""

MOST_SPREAD: Final = 1.2
"""A lane that is so many times as wide as a row may be is narrowed."""

THROUGH_WEIGHT: Final = 12.0
"""How much more a node on the way to earlier operators holds its place than any other node."""


class Surroundings(msgspec.Struct, frozen=True):
    """What the x of a backward node depends on.

    ``before`` and ``after`` are the neighbours of each node in the lane, ``forward_x`` is the x of
    its forward node, ``middle`` that of the forward lane's middle. ``terminal`` are the nodes that
    lead to a gradient only.
    """

    before: Neighbours
    after: Neighbours
    forward_x: Mapping[str, float]
    middle: float
    terminal: set[str]


def place_backward(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], rows: Rows, forward: Lane
) -> dict[str, float]:
    """The x of the centre of each box of the backward lane, in points.

    The lane stands in the place of the forward lane until ``place_columns`` shifts it.
    """
    surroundings = _surroundings(graph, columns, rows, forward)
    by_row: defaultdict[int, list[str]] = defaultdict(list)
    for node in columns.backward:
        by_row[rows.backward[node]].append(node)
    upwards = sorted(by_row, reverse=True)
    downwards = sorted(by_row)

    centres: dict[str, float] = {}
    # Upwards, as the backward runs; then down and up again, since a node's readers had no place yet
    # when it was placed first.
    for row in [*upwards, *downwards, *upwards]:
        _place_row(by_row[row], centres, surroundings, cards)
    if _extent(centres, cards) > MOST_SPREAD * WIDEST_ROW:
        centres = narrowed(by_row.values(), centres, widths_of(centres, cards), BETWEEN_BOXES)
    _move_apart(centres, graph, cards, rows.backward)
    return centres


def _extent(centres: Mapping[str, float], cards: Mapping[str, Card]) -> float:
    """The width of a lane whose boxes stand at ``centres``, in points."""
    if not centres:
        return 0.0
    left, right = inf, -inf
    for node, x in centres.items():
        left = min(left, x - cards[node].width / 2)
        right = max(right, x + cards[node].width / 2)
    return right - left


def _surroundings(graph: GradGraph, columns: Columns, rows: Rows, forward: Lane) -> Surroundings:
    before, after = neighbours(links_among(graph, columns.backward))
    # The forward lane's x serve as the backward lane's until both are moved to their places.
    forward_x = {}
    for node in graph.nodes:
        if node.forward in forward.centres:
            forward_x[node.id] = forward.centres[node.forward]
    middle = (forward.left + forward.right) / 2
    terminal = _terminal(columns, rows, after)
    return Surroundings(before, after, forward_x, middle, terminal)


def _terminal(columns: Columns, rows: Rows, after: Neighbours) -> set[str]:
    """The nodes that lead to a gradient only: no path from them leaves their level."""
    terminal: set[str] = set()
    # From the top, so that the nodes that a node leads to come before it.
    for node in sorted(columns.backward, key=rows.backward.__getitem__):
        level = rows.levels[node]
        if all(rows.levels[other] == level and other in terminal for other in after[node]):
            terminal.add(node)
    return terminal


def _place_row(
    row: Sequence[str],
    centres: dict[str, float],
    surroundings: Surroundings,
    cards: Mapping[str, Card],
) -> None:
    """Place the nodes of a row anew, as near to their preferred x as their widths allow."""
    wishes = {}
    for node in row:
        x, width = _preferred_x(node, centres, surroundings), cards[node].width
        if node in surroundings.terminal:
            wishes[node] = Wish(x + TOWARDS_GRADIENTS, width)
        else:
            wishes[node] = Wish(x, width, THROUGH_WEIGHT)
    order = sorted(row, key=lambda node: wishes[node].centre)
    places = spread([wishes[node] for node in order], BETWEEN_BOXES)
    centres.update(zip(order, places, strict=True))


def _preferred_x(node: str, centres: Mapping[str, float], surroundings: Surroundings) -> float:
    """The x halfway between a node's forward node and the mean of its neighbours."""
    forward_x = surroundings.forward_x.get(node)
    # In the first pass the forward node alone counts: the neighbours' places are provisional.
    if forward_x is not None and node not in centres:
        return forward_x
    neighbours_x = _mean(_neighbours_x(node, centres, surroundings))
    if forward_x is None:
        return neighbours_x
    return (forward_x + neighbours_x) / 2


def _neighbours_x(
    node: str, centres: Mapping[str, float], surroundings: Surroundings
) -> Sequence[float]:
    """The x of the neighbours of a node; of their forward nodes where none is placed yet."""
    before, after = surroundings.before[node], surroundings.after[node]
    placed = [centres[other] for other in (*before, *after) if other in centres]
    if placed:
        return placed
    forward_x = surroundings.forward_x
    readers = [forward_x[other] for other in after if other in forward_x]
    return readers or [surroundings.middle]


def _mean(values: Collection[float]) -> float:
    return sum(values) / len(values)


def _move_apart(
    centres: dict[str, float],
    graph: GradGraph,
    cards: Mapping[str, Card],
    rows: Mapping[str, int],
) -> None:
    """Move the other boxes away from each subgraph, so that none stands among its members."""
    subgraphs: defaultdict[str, list[str]] = defaultdict(list)
    for node in graph.nodes:
        if node.body and node.id in centres:
            subgraphs[node.body].append(node.id)

    def middle(members: Sequence[str]) -> float:
        """Where a subgraph stands now: it may have been moved with another's surroundings."""
        return _mean([centres[node] for node in members])

    for members in sorted(subgraphs.values(), key=middle):
        member_rows = [rows[node] for node in members]
        first, last = min(member_rows), max(member_rows)
        inside = set(members)
        strangers = [id_ for id_ in centres if id_ not in inside and first <= rows[id_] <= last]
        _clear(inside, middle(members), strangers, centres, cards)


def _clear(
    members: Collection[str],
    middle: float,
    strangers: Sequence[str],
    centres: dict[str, float],
    cards: Mapping[str, Card],
) -> None:
    """Move the ``strangers`` beside a subgraph outwards until they are clear of its members.

    Outwards is away from ``middle``, the x of the subgraph's middle.
    """
    # The nearest first: boxes further out are moved along with it, and may then be clear.
    for node in sorted(strangers, key=lambda node: abs(centres[node] - middle)):
        direction = 1 if centres[node] >= middle else -1
        outer = max(direction * centres[member] + cards[member].width / 2 for member in members)
        inner = direction * centres[node] - cards[node].width / 2
        lacking = outer + BESIDE_SUBGRAPH - inner
        if lacking > 0:
            _move_outwards(direction * lacking, centres[node], centres, members)


def _move_outwards(
    distance: float, start: float, centres: dict[str, float], staying: Collection[str]
) -> None:
    """Move all boxes at ``start`` or further out, so that the order of every row stays.

    A positive ``distance`` moves to the right, a negative one to the left.
    """
    for node, centre in centres.items():
        is_beyond = centre >= start if distance > 0 else centre <= start
        if is_beyond and node not in staying:
            centres[node] = centre + distance
