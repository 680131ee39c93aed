"""Places the boxes of the backward lane: each near its forward node's place and what it is wired to."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns, links_among
from explorer.drawing.ladder.lane import Lane
from explorer.drawing.ladder.rows import Rows
from explorer.drawing.links import Neighbours, neighbours
from explorer.drawing.picture import Card
from explorer.drawing.spacing import Wish, spread
from explorer.drawing.style import GROUP_SIDE
from explorer.model.graph import GradGraph

BETWEEN_BOXES: Final = 3 * GROUP_SIDE
"""Room between neighbours, in points."""

BESIDE_SUBGRAPH: Final = 4 * GROUP_SIDE
"""Room between a subgraph's boxes and all else, in points."""

OUTWARD: Final = 50.0
"""How far towards the gradients a node is drawn that leads to a gradient only, in points."""

GOING_ON: Final = 12.0
"""How much more a node that the backward goes on from holds its place than one that leads to a
gradient only.
"""


class Surroundings(msgspec.Struct, frozen=True):
    """What draws a backward node sideways.

    ``before`` and ``after`` are its neighbours in the lane, ``homes`` the x of each node's forward
    node, ``middle`` that of the forward lane. ``ending`` are the nodes that lead to a gradient only.
    """

    before: Neighbours
    after: Neighbours
    homes: Mapping[str, float]
    middle: float
    ending: set[str]


def place_backward(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], rows: Rows, forward: Lane
) -> dict[str, float]:
    """The x of the centre of each box of the backward lane, in points, as if the lane stood in the
    place of the forward lane.
    """
    surroundings = _surroundings(graph, columns, rows, forward)
    by_row: defaultdict[int, list[str]] = defaultdict(list)
    for node in columns.backward:
        by_row[rows.backward[node]].append(node)
    upwards = sorted(by_row, reverse=True)
    downwards = sorted(by_row)

    centres: dict[str, float] = {}
    # Upwards, as the backward runs; then down and up again, for at first a node's readers had no
    # place yet that could draw it.
    for row in [*upwards, *downwards, *upwards]:
        _place_row(by_row[row], centres, surroundings, cards)
    bodies = {node.id: node.body for node in graph.nodes if node.body and node.id in centres}
    _move_apart(centres, bodies, cards, rows.backward)
    return centres


def _surroundings(graph: GradGraph, columns: Columns, rows: Rows, forward: Lane) -> Surroundings:
    before, after = neighbours(links_among(graph, columns.backward))
    # The forward lane's x serve as the backward lane's until both are moved to their places.
    homes = {}
    for node in graph.nodes:
        if node.forward in forward.centres:
            homes[node.id] = forward.centres[node.forward]
    middle = (forward.left + forward.right) / 2
    ending = _ending(columns, rows, after)
    return Surroundings(before, after, homes, middle, ending)


def _ending(columns: Columns, rows: Rows, after: Neighbours) -> set[str]:
    """The nodes from which the backward goes no further up than their own level: they lead to a
    gradient only.
    """
    ending: set[str] = set()
    # From the top, so that what a node leads to is known before the node.
    for node in sorted(columns.backward, key=rows.backward.__getitem__):
        level = rows.levels[node]
        if all(rows.levels[other] == level and other in ending for other in after[node]):
            ending.add(node)
    return ending


def _place_row(
    row: Sequence[str],
    centres: dict[str, float],
    surroundings: Surroundings,
    cards: Mapping[str, Card],
) -> None:
    """Place the nodes of a row anew, as near to where they are drawn as their widths allow."""
    wishes = {}
    for node in row:
        x, width = _drawn_to(node, centres, surroundings), cards[node].width
        if node in surroundings.ending:
            wishes[node] = Wish(x + OUTWARD, width)
        else:
            wishes[node] = Wish(x, width, GOING_ON)
    order = sorted(row, key=lambda node: wishes[node].centre)
    places = spread([wishes[node] for node in order], BETWEEN_BOXES)
    centres.update(zip(order, places, strict=True))


def _drawn_to(node: str, centres: Mapping[str, float], surroundings: Surroundings) -> float:
    """The x that a node is drawn to by its forward node and by its neighbours."""
    home = surroundings.homes.get(node)
    # In the first pass the forward node alone counts: the neighbours' places are only a beginning.
    if home is not None and node not in centres:
        return home
    pulled = _mean(_near(node, centres, surroundings))
    return pulled if home is None else (home + pulled) / 2


def _near(node: str, centres: Mapping[str, float], surroundings: Surroundings) -> Sequence[float]:
    """Where the neighbours of a node stand; before they have a place, where they belong."""
    before, after = surroundings.before[node], surroundings.after[node]
    placed = [centres[other] for other in (*before, *after) if other in centres]
    if placed:
        return placed
    homes = [surroundings.homes[other] for other in after if other in surroundings.homes]
    return homes or [surroundings.middle]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _move_apart(
    centres: dict[str, float],
    bodies: Mapping[str, str],
    cards: Mapping[str, Card],
    rows: Mapping[str, int],
) -> None:
    """Move all else out of the way of each subgraph, to the side where it stands, so that none is
    mixed in.
    """
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
    """Move the ``strangers`` beside a subgraph away from its ``middle`` until they are clear of its
    members.
    """
    # The nearest first: what stands further out is moved along with it, and may need no more.
    for node in sorted(strangers, key=lambda node: abs(centres[node] - middle)):
        side = 1 if centres[node] >= middle else -1
        outer = max(side * centres[member] + cards[member].width / 2 for member in members)
        inner = side * centres[node] - cards[node].width / 2
        lacking = outer + BESIDE_SUBGRAPH - inner
        if lacking > 0:
            _move_outwards(side * lacking, centres[node], centres, members)


def _move_outwards(
    distance: float, start: float, centres: dict[str, float], staying: Collection[str]
) -> None:
    """Move all that stands at ``start`` or further out, in the direction of the distance's sign, so
    that the order of every row stays.
    """
    for node, centre in centres.items():
        is_beyond = centre >= start if distance > 0 else centre <= start
        if is_beyond and node not in staying:
            centres[node] = centre + distance
