"""The vertical ways past the rows of a lane, and the tracks in the gaps between rows."""

from collections import defaultdict
from itertools import combinations
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.drawing.cards import card
from explorer.drawing.ladder.columns import APART, CLEARANCE, Lane
from explorer.drawing.ladder.routing import Tracks
from explorer.model.graph import Node

WIDTH = 56.0
"""The width of a box with a short name."""

LENGTH = 90
"""More rows than an edge passes that looks for a way between the boxes."""


def lane_of(rows: dict[str, int], centres: dict[str, float]) -> Lane:
    """A lane that runs down, with boxes of one width."""
    nodes = [Node(id=id_, op="mm", kind="op", phase="forward") for id_ in rows]
    cards = {node.id: card(node) for node in nodes}
    assert {card.width for card in cards.values()} == {WIDTH}
    return Lane(cards, rows, centres, direction=1)


def column(x: float = 0.0) -> Lane:
    """Five boxes, one below the other."""
    nodes = [f"n{index}" for index in range(5)]
    return lane_of({node: row for row, node in enumerate(nodes)}, dict.fromkeys(nodes, x))


def ways(*links: tuple[str, str]) -> dict[tuple[str, str], float]:
    lane = column()
    lane.assign_ways(list(links))
    return dict(lane.ways)


def test_a_way_passes_beside_the_boxes_and_is_shared_by_edges_of_one_origin() -> None:
    beside = WIDTH / 2 + CLEARANCE
    assert abs(ways(("n0", "n4"))["n0", "n4"]) == beside
    # An edge to the next row needs none; one against the lane passes the rows of its ends.
    assert ways(("n0", "n1")) == {}
    assert abs(ways(("n1", "n0"))["n1", "n0"]) == beside
    several = ways(("n0", "n2"), ("n0", "n3"), ("n1", "n4"))
    assert several["n0", "n2"] == several["n0", "n3"]
    assert abs(several["n1", "n4"] - several["n0", "n3"]) >= APART


def test_a_very_long_edge_takes_the_gutter_on_the_outer_side() -> None:
    nodes = [f"n{index}" for index in range(LENGTH)]
    rows = {node: row for row, node in enumerate(nodes)}
    lane = lane_of(rows, dict.fromkeys(nodes, 0.0))
    lane.assign_ways([("n0", nodes[-1])])
    assert lane.ways["n0", nodes[-1]] < lane.left - CLEARANCE


def test_a_lane_is_moved_as_a_whole() -> None:
    lane, moved = column(), column()
    lane.assign_ways([("n0", "n4")])
    moved.assign_ways([("n0", "n4")])
    moved.shift(100.0)
    assert moved.centres["n0"] == lane.centres["n0"] + 100
    assert moved.ways["n0", "n4"] == lane.ways["n0", "n4"] + 100
    assert (moved.left, moved.right) == (lane.left + 100, lane.right + 100)
    assert moved.boxes[3][0].left == lane.boxes[3][0].left + 100


@settings(max_examples=50)
@given(
    xs=st.lists(st.integers(-4, 4), min_size=6, max_size=6),
    links=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8, unique=True),
)
def test_no_way_runs_through_a_box_that_it_passes(
    xs: list[int], links: list[tuple[int, int]]
) -> None:
    rows = {f"n{row}": row for row in range(6)}
    centres = {f"n{row}": 40.0 * x for row, x in enumerate(xs)}
    lane = lane_of(rows, centres)
    downward_links = [link for link in links if link[0] < link[1]]
    lane.assign_ways([(f"n{origin}", f"n{target}") for origin, target in downward_links])
    for (origin, target), x in lane.ways.items():
        for row in range(rows[origin] + 1, rows[target]):
            for box in lane.boxes[row]:
                assert x <= box.left - CLEARANCE or box.right + CLEARANCE <= x


class Piece(NamedTuple):
    """The part of a track that an edge asks for."""

    start: float
    end: float
    origin: str


PIECES = st.lists(
    st.builds(Piece, start=st.floats(0, 100), end=st.floats(0, 100), origin=st.sampled_from("abc")),
    max_size=12,
)


@given(pieces=PIECES)
def test_pieces_on_one_track_do_not_touch_unless_they_are_of_one_origin(
    pieces: list[Piece],
) -> None:
    tracks = Tracks()
    by_track: defaultdict[int, list[Piece]] = defaultdict(list)
    for piece in pieces:
        by_track[tracks.take(3, *piece).track].append(piece)
    assert tracks.count(3) == len(by_track)
    assert tracks.count(4) == 0
    for sharing in by_track.values():
        for piece, other in combinations(sharing, 2):
            if piece.origin != other.origin:
                is_before = max(piece.start, piece.end) < min(other.start, other.end)
                assert is_before or max(other.start, other.end) < min(piece.start, piece.end)
