"""Lays a gradient graph out as a ladder: forward down on the left, backward up on the right, saved
tensors as rungs.
"""

import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

import msgspec

from explorer.drawing.groups import LABEL, SIDE, Span, brief, spans
from explorer.drawing.lane import Lane
from explorer.drawing.layered import spread
from explorer.drawing.layout import Request, arrange
from explorer.drawing.picture import Box, Card, Group, Picture, Text, Wire, WireKind
from explorer.drawing.routes import Gaps, Height, Route, svg_path
from explorer.drawing.split import Parts, backward_levels, neighbours, split, sub_rows
from explorer.drawing.text import clean, fit, measure
from explorer.drawing.wiring import Columns, Side, wire
from explorer.model.graph import GradGraph, Phase

MARGIN: Final = 20.0
HEAD: Final = 82.0
CHANNEL: Final = 46.0
"""Width of the space between the leaves and the forward lane, and between the backward lane and the
gradients.
"""

MIDDLE: Final = 104.0
"""Width of the space that the rungs cross."""

GAP: Final = 26.0
INNER_GAP: Final = 17.0
TRACK: Final = 6.0
OUTWARD: Final = 50.0
"""How far towards the gradients a node is drawn from which the backward goes no further."""

CHAIN_WEIGHT: Final = 12.0
"""How much more a node that the backward goes on from holds its place than one that ends in a
gradient.
"""

DOT: Final = "\ufffe"
"""Stands for a dot within one part of a module path; no label has it, for XML forbids it."""

FEW_RUNGS: Final = 40
"""With more saved tensors than this in one lane, Graphviz is not shown them: they are drawn over
its layout.
"""


Places = dict[str, tuple[float, float]]


class Rows(msgspec.Struct, frozen=True):
    """Where each lane node stands in the common grid of rows; ``bands`` are the first rows of the
    levels.
    """

    forward: dict[str, int]
    backward: dict[str, int]
    bands: frozenset[int]


def ladder(graph: GradGraph, cards: Mapping[str, Card], timeout: float) -> tuple[Picture, str]:
    """The ladder picture without its titles, and why Graphviz did not lay out its forward lane (""
    when it did).
    """
    return _lay_out(graph, split(graph), cards, timeout)


def flow(graph: GradGraph, cards: Mapping[str, Card], timeout: float) -> tuple[Picture, str]:
    """The plain top-down picture of all nodes in one lane; the same answer as ``ladder``."""
    everything = Parts([], [node.id for node in graph.nodes], [], [])
    picture, instead = _lay_out(graph, everything, cards, timeout)
    phases = {node.id: node.phase for node in graph.nodes}
    wires = [msgspec.structs.replace(wire, kind=_flow_kind(phases, wire)) for wire in picture.wires]
    return msgspec.structs.replace(picture, wires=tuple(wires), texts=()), instead


def _flow_kind(phases: Mapping[str, Phase], wire: Wire) -> WireKind:
    if wire.kind == "control":
        return "control"
    return phases[wire.target] if phases[wire.origin] == phases[wire.target] else "rung"


def _lay_out(
    graph: GradGraph, parts: Parts, cards: Mapping[str, Card], timeout: float
) -> tuple[Picture, str]:
    places, instead = _forward(graph, parts, cards, timeout)
    ranks = _ranks({node: y for node, (_, y) in places.items()})
    rows = _rows(graph, parts, ranks)
    left = Lane(cards, rows.forward, {node: x for node, (x, _) in places.items()}, gutter=-1)
    right = Lane(cards, rows.backward, _backward(graph, parts, cards, rows, left), gutter=1)
    gaps = Gaps()
    columns = Columns(graph, parts, cards, left, right, gaps)
    routes = wire(columns, MARGIN, CHANNEL, MIDDLE)
    scopes = _scopes(graph)
    groups = [(lane, span) for lane in (left, right) for span in spans(lane, scopes)]
    heights = _heights(cards, rows, gaps, [span for _, span in groups])
    boxes = _boxes(columns, heights)
    return _picture(columns, routes, boxes, groups, heights), instead


def _forward(
    graph: GradGraph, parts: Parts, cards: Mapping[str, Card], timeout: float
) -> tuple[Places, str]:
    lane = set(parts.forward)
    inside = [edge for edge in graph.edges if edge.origin in lane and edge.target in lane]
    rungs = sum(edge.kind == "saved" for edge in inside)
    edges = list(
        dict.fromkeys(
            (e.origin, e.target) for e in inside if e.kind != "saved" or rungs <= FEW_RUNGS
        )
    )
    followed = {origin for origin, _ in edges}
    # In a flow, a result stands where it is made: pulled down, it would drag its maker aside.
    lanes = bool(parts.backward or parts.leaves)
    last = [
        node
        for node in parts.forward
        if lanes and cards[node].role == "result" and node not in followed
    ]
    sizes = {node: (cards[node].width, 30.0) for node in parts.forward}
    data = {(edge.origin, edge.target) for edge in inside if edge.kind != "saved"}
    bodies = {node.id: node.body for node in graph.nodes if node.body and node.id in lane}
    layout = arrange(
        Request(
            sizes,
            edges,
            last,
            bodies,
            [pair for pair in edges if pair not in data],
            across=4 * SIDE,
            down=24.0,
        ),
        timeout,
    )
    return _straightened(layout.places, edges, cards), layout.instead


def _straightened(
    places: Places, edges: list[tuple[str, str]], cards: Mapping[str, Card]
) -> Places:
    """The places with every plain chain (one reader, one read) moved upright as far as its
    neighbours let it.
    """
    reads, readers = Counter(target for _, target in edges), Counter(origin for origin, _ in edges)
    above = {target: origin for origin, target in edges if reads[target] == readers[origin] == 1}
    rows: defaultdict[float, list[str]] = defaultdict(list)
    for node, (_, y) in places.items():
        rows[round(y, 1)].append(node)
    x: dict[str, float] = {}
    for row in sorted(rows):
        order = sorted(rows[row], key=lambda node: places[node][0])
        wanted = [x.get(above.get(node, ""), places[node][0]) for node in order]
        weights = [CHAIN_WEIGHT if node in above else 1.0 for node in order]
        x.update(
            zip(
                order,
                spread(wanted, [cards[node].width for node in order], 4 * SIDE, weights),
                strict=True,
            )
        )
    return {node: (x[node], y) for node, (_, y) in places.items()}


def _ranks(heights: Mapping[str, float]) -> dict[str, int]:
    steps = {y: index for index, y in enumerate(sorted({round(y, 1) for y in heights.values()}))}
    return {node: steps[round(y, 1)] for node, y in heights.items()}


def _rows(graph: GradGraph, parts: Parts, ranks: dict[str, int]) -> Rows:
    level = backward_levels(graph, parts, ranks)
    sub = sub_rows(parts, level, graph)
    depth: defaultdict[int, int] = defaultdict(lambda: 1)
    for node in parts.backward:
        depth[level[node]] = max(depth[level[node]], sub[node] + 1)
    start, total = {}, 0
    for band in range(max([*ranks.values(), *level.values()], default=0) + 1):
        start[band] = total
        total += depth[band]
    forward = {node: start[rank] + (depth[rank] - 1) // 2 for node, rank in ranks.items()}
    backward = {
        node: start[level[node]] + depth[level[node]] - 1 - sub[node] for node in parts.backward
    }
    return Rows(forward, backward, frozenset(start.values()))


def _backward(
    graph: GradGraph, parts: Parts, cards: Mapping[str, Card], rows: Rows, forward: Lane
) -> dict[str, float]:
    """The horizontal centres of the backward lane: each node beneath its forward node's place,
    drawn to those it is wired to.
    """
    nodes = graph.by_id()
    lane = set(parts.backward)
    before, after = neighbours(
        [edge for edge in graph.edges if edge.origin in lane and edge.target in lane]
    )
    ending = _ending(parts, rows, after)
    middle = (forward.left + forward.right) / 2
    homes = {node: forward.centres.get(nodes[node].forward or "") for node in parts.backward}
    centres: dict[str, float] = {}
    by_row: defaultdict[int, list[str]] = defaultdict(list)
    for node in parts.backward:
        by_row[rows.backward[node]].append(node)
    upwards = sorted(by_row, reverse=True)
    for row in [*upwards, *reversed(upwards), *upwards]:
        wanted = {}
        for node in by_row[row]:
            near = [centres[other] for other in (*before[node], *after[node]) if other in centres]
            near = (
                near
                or [place for place in map(homes.__getitem__, after[node]) if place is not None]
                or [middle]
            )
            pulled, home = sum(near) / len(near), homes[node]
            wanted[node] = (
                pulled if home is None else (home + pulled) / 2 if node in centres else home
            )
            wanted[node] += OUTWARD if node in ending else 0.0
        order = sorted(by_row[row], key=wanted.__getitem__)
        weights = [1.0 if node in ending else CHAIN_WEIGHT for node in order]
        placed = spread(
            [wanted[node] for node in order],
            [cards[node].width for node in order],
            3 * SIDE,
            weights,
        )
        centres.update(zip(order, placed, strict=True))
    return _apart(
        centres,
        {node: nodes[node].body for node in parts.backward if nodes[node].body},
        cards,
        rows.backward,
    )


def _apart(
    centres: dict[str, float],
    bodies: Mapping[str, str],
    cards: Mapping[str, Card],
    rows: Mapping[str, int],
) -> dict[str, float]:
    """The centres with all else moved out of the way of each subgraph, to the side where it stands,
    so that none is mixed in.
    """
    blocks: defaultdict[str, list[str]] = defaultdict(list)
    for node, body in bodies.items():
        blocks[body].append(node)
    x = dict(centres)
    for members in sorted(
        blocks.values(), key=lambda found: sum(x[node] for node in found) / len(found)
    ):
        inside, middle = set(members), sum(x[node] for node in members) / len(members)
        first, last = min(rows[node] for node in members), max(rows[node] for node in members)
        for node in sorted(x, key=lambda node: abs(x[node] - middle)):
            side = 1 if x[node] >= middle else -1
            if node in inside or not first <= rows[node] <= last:
                continue
            edge = max(side * x[member] + cards[member].width / 2 for member in members)
            gap = edge + 4 * SIDE - (side * x[node] - cards[node].width / 2)
            if gap > 0:
                beyond = [
                    other
                    for other in x
                    if other not in inside and side * x[other] >= side * x[node]
                ]
                x.update({other: x[other] + side * gap for other in beyond})
    return x


def _ending(parts: Parts, rows: Rows, after: Mapping[str, list[str]]) -> set[str]:
    """The backward nodes from which the backward goes no further up than their own level: they lead
    to a gradient.
    """
    starts = sorted(rows.bands)
    band = {node: bisect.bisect(starts, row) for node, row in rows.backward.items()}
    ending: set[str] = set()
    for node in sorted(parts.backward, key=rows.backward.__getitem__):
        if all(band[other] == band[node] and other in ending for other in after.get(node, ())):
            ending.add(node)
    return ending


def _scopes(graph: GradGraph) -> dict[str, str]:
    """The module path of every node to be grouped: its own, its forward node's, or for a constant
    that of all its readers.
    """
    own = {node.id: node.scope for node in graph.nodes}
    own.update({node.id: own.get(node.forward or "", "") for node in graph.nodes if not node.scope})
    read_in: defaultdict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        read_in[edge.origin].add(own[edge.target])
    found = {}
    for node in graph.nodes:
        module = own[node.id]
        if node.kind == "constant" and not module and len(read_in[node.id]) == 1:
            module = next(iter(read_in[node.id]))
        if node.kind == "output" or (node.kind == "constant" and node.name == "seed"):
            module = ""
        found[node.id] = ".".join(filter(None, (clean(node.body).replace(".", DOT), clean(module))))
    return found


class Heights(msgspec.Struct, frozen=True):
    """The y of rows: their centres, their half heights, and the upper edge of the tracks in the gap
    above each.
    """

    centre: list[float]
    half: list[float]
    tracks: list[float]
    bottom: float


def _heights(cards: Mapping[str, Card], rows: Rows, gaps: Gaps, groups: list[Span]) -> Heights:
    both = {**rows.forward, **rows.backward}
    tall: defaultdict[int, float] = defaultdict(lambda: 22.0)
    for node, row in both.items():
        tall[row] = max(tall[row], cards[node].height)
    labels: defaultdict[int, float] = defaultdict(float)
    ends: defaultdict[int, float] = defaultdict(float)
    for span in groups:
        labels[span.first] = max(labels[span.first], LABEL * (span.holds + 1))
        ends[span.last] = max(ends[span.last], 4.0 * (span.holds + 1))
    y, total = HEAD, max(both.values(), default=-1) + 1
    heights = Heights([], [], [], 0.0)
    for row in range(total):
        y += ends[row - 1]
        heights.tracks.append(y + 7 + (0 if gaps.count(row) else 3))
        y += (GAP if row in rows.bands else INNER_GAP) + TRACK * gaps.count(row) + labels[row]
        heights.centre.append(y + tall[row] / 2)
        heights.half.append(tall[row] / 2)
        y += tall[row]
    heights.tracks.append(y + ends[total - 1] + 7)
    return msgspec.structs.replace(
        heights, bottom=y + ends[total - 1] + TRACK * gaps.count(total) + 14
    )


def _boxes(columns: Columns, heights: Heights) -> dict[str, Box]:
    boxes = {}
    for lane in (columns.left, columns.right):
        for node, centre in lane.centres.items():
            card = lane.cards[node]
            boxes[node] = Box(
                card, centre - card.width / 2, heights.centre[lane.rows[node]] - card.height / 2
            )
    for side in (columns.leaves, columns.gradients):
        for node, centre in zip(side.order, _beside(side, columns.cards, heights), strict=True):
            card = columns.cards[node]
            boxes[node] = Box(
                card, side.x - (card.width if side.end else 0.0), centre - card.height / 2
            )
    return boxes


def _beside(side: Side, cards: Mapping[str, Card], heights: Heights) -> list[float]:
    """The y of leaves or gradients: as near as they can come to their rows, none above the lanes'
    upper edge.
    """
    homes = [side.home[node] for node in side.order]
    wanted = [heights.centre[row] + nudge if heights.centre else HEAD for row, nudge in homes]
    sizes = [cards[node].height for node in side.order]
    # The first item stands for the upper edge: so heavy that nothing moves it.
    return spread([HEAD + 4, *wanted], [0.0, *sizes], 7.0, [1e9, *([1.0] * len(sizes))])[1:]


def _y(height: Height, boxes: Mapping[str, Box], heights: Heights) -> float:
    if isinstance(height.of, str):
        box = boxes[height.of]
        return box.y + box.card.height / 2 + height.more
    if height.where == "gap":
        return heights.tracks[height.of] + TRACK * height.more
    sign = -1.0 if height.where == "top" else 1.0
    return heights.centre[height.of] + sign * (heights.half[height.of] + 2)


def _wire(route: Route, boxes: Mapping[str, Box], heights: Heights) -> Wire:
    points = [(step.how, step.x, _y(step.y, boxes, heights)) for step in route.steps]
    return Wire(
        route.origin, route.target, route.kind, svg_path([(str(how), x, y) for how, x, y in points])
    )


def _group(lane: Lane, span: Span, heights: Heights) -> Group:
    members = [row for row in range(span.first, span.last + 1) if row in lane.boxes]
    top = heights.centre[members[0]] - heights.half[members[0]] - LABEL * (span.holds + 1) - 1
    bottom = heights.centre[members[-1]] + heights.half[members[-1]] + 5 + 4.0 * span.holds
    width = max(span.right - span.left, 30.0)
    return Group(
        _label(span.label.replace(DOT, "."), width - 8), span.left, top, width, bottom - top
    )


def _label(label: str, width: float) -> str:
    """A group's label as far as there is room: of a subgraph, what it is rather than what decides
    on it.
    """
    words = label if measure(label, 9.0) <= width else brief(label)
    return fit(words, 9.0, width)


def _picture(
    columns: Columns,
    routes: list[Route],
    boxes: dict[str, Box],
    groups: list[tuple[Lane, Span]],
    heights: Heights,
) -> Picture:
    bottom = max([heights.bottom, *(box.y + box.card.height + 14 for box in boxes.values())])
    right = max([columns.width, *(box.x + box.card.width for box in boxes.values())])
    return Picture(
        width=right + MARGIN,
        height=bottom,
        boxes=tuple(boxes[node] for node in sorted(boxes, key=lambda node: int(node[1:]))),
        wires=tuple(_wire(route, boxes, heights) for route in routes),
        groups=tuple(_group(lane, span, heights) for lane, span in groups),
        texts=_headings(columns),
        title="",
        description="",
    )


def _headings(columns: Columns) -> tuple[Text, ...]:
    y = HEAD - 2
    forward, backward = columns.left_edges, columns.right_edges
    found = [Text(columns.leaves.x, y, "given", "heading-leaf")] if columns.leaves.order else []
    if columns.parts.forward:
        found.append(Text(sum(forward) / 2, y, "forward", "heading-forward"))
    if columns.parts.backward:
        found.append(Text(sum(backward) / 2, y, "backward", "heading-backward"))
    if columns.gradients.order:
        found.append(Text(columns.gradients.x, y, "gradients", "heading-gradient"))
    return tuple(found)
