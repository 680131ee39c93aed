"""Places the boxes of the backward lane, each near its forward node and its neighbours."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns
from explorer.drawing.ladder.lane import Lane
from explorer.drawing.ladder.rows import BETWEEN_BOXES, Rows
from explorer.drawing.ladder.wrapping import WIDEST_ROW, narrowed
from explorer.drawing.links import Neighbours, links_among, neighbours
from explorer.drawing.picture import Card
from explorer.drawing.spacing import Wish, spread
from explorer.drawing.style import GROUP_SIDE
from explorer.model.graph import GradGraph

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
        widths = {node: cards[node].width for node in centres}
        centres = narrowed(by_row.values(), centres, widths, BETWEEN_BOXES)
    bodies = {node.id: node.body for node in graph.nodes if node.body and node.id in centres}
    _move_apart(centres, bodies, cards, rows.backward)
    return centres


def _extent(centres: Mapping[str, float], cards: Mapping[str, Card]) -> float:
    """The width of a lane whose boxes stand at ``centres``, in points."""
    lefts = [x - cards[node].width / 2 for node, x in centres.items()]
    rights = [x + cards[node].width / 2 for node, x in centres.items()]
    return max(rights, default=0.0) - min(lefts, default=0.0)


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
    return neighbours_x if forward_x is None else (forward_x + neighbours_x) / 2


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


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _move_apart(
    centres: dict[str, float],
    bodies: Mapping[str, str],
    cards: Mapping[str, Card],
    rows: Mapping[str, int],
) -> None:
    """Move the other boxes away from each subgraph, so that none stands among its members."""
    subgraphs: defaultdict[str, list[str]] = defaultdict(list)
    for node, body in bodies.items():
        subgraphs[body].append(node)

    def middle(members: Sequence[str]) -> float:
        """Where a subgraph stands now: it may have been moved with another's surroundings."""
        return _mean([centres[node] for node in members])

    for members in sorted(subgraphs.values(), key=middle):
        first = min(rows[node] for node in members)
        last = max(rows[node] for node in members)
        inside = set(members)
        beside = [node for node in centres if first <= rows[node] <= last]
        strangers = [node for node in beside if node not in inside]
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
