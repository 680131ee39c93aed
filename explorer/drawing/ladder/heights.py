"""Gives every row of a ladder its y: room for its boxes, for tracks in the gaps, and for labels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.groups import GroupSpan
from explorer.drawing.ladder.routes import BesideNode, Height, OnTrack, Tracks
from explorer.drawing.ladder.rows import Rows
from explorer.drawing.picture import Box, Card
from explorer.drawing.style import BOX_HEIGHT

HEAD: Final = 82.0
"""Where the rows begin, in points: below the picture's title and the columns' headings."""

ABOVE_LEVEL: Final = 26.0
ABOVE_ROW: Final = 17.0
"""Height of the gap above a row without its tracks, in points: the first of a level, and others."""

TRACK: Final = 6.0
"""How far the tracks of one gap are apart, in points."""

BEFORE_TRACKS: Final = 7.0
"""Room between a row and the first track below it, in points."""

LABEL_HEIGHT: Final = 13.0
"""Room above a row for the label of each of the nested groups that begin there, in points."""

GROUP_END: Final = 4.0
"""Room below a row for the end of each of the nested groups that end there, in points."""

OUTSIDE_ROW: Final = 2.0
"""How far outside a row an edge that passes it turns upright, in points."""

BELOW: Final = 14.0
"""Room below all rows, in points."""


class Heights(msgspec.Struct, frozen=True):
    """The y of everything that a route can meet, in points.

    ``centres`` and ``halves`` are the centres and the half heights of the rows, ``first_tracks``
    the first tracks of the gaps: one above each row, and one below the last.
    """

    centres: list[float]
    halves: list[float]
    first_tracks: list[float]
    bottom: float

    def top_of(self, row: int) -> float:
        """The y of a row's upper edge."""
        return self.centres[row] - self.halves[row]

    def bottom_of(self, row: int) -> float:
        """The y of a row's lower edge."""
        return self.centres[row] + self.halves[row]

    def y(self, height: Height, boxes: Mapping[str, Box]) -> float:
        """The y of a point of a route, in points; ``boxes`` are the placed boxes, by id."""
        if isinstance(height, BesideNode):
            box = boxes[height.node]
            return box.y + box.card.height / 2 + height.offset
        if isinstance(height, OnTrack):
            return self.first_tracks[height.gap] + TRACK * height.track
        outside = self.halves[height.row] + OUTSIDE_ROW
        return self.centres[height.row] + (-outside if height.edge == "top" else outside)


def row_heights(
    cards: Mapping[str, Card], rows: Rows, tracks: Tracks, groups: Sequence[GroupSpan]
) -> Heights:
    """The heights of all rows, each with room for its boxes, its tracks and its groups' labels."""
    row_of = {**rows.forward, **rows.backward}
    box_heights: defaultdict[int, float] = defaultdict(lambda: BOX_HEIGHT)
    for node, row in row_of.items():
        box_heights[row] = max(box_heights[row], cards[node].height)
    above: defaultdict[int, float] = defaultdict(float)
    below: defaultdict[int, float] = defaultdict(float)
    for group in groups:
        levels = group.nesting + 1
        above[group.first] = max(above[group.first], LABEL_HEIGHT * levels)
        below[group.last] = max(below[group.last], GROUP_END * levels)

    centres, halves, first_tracks = [], [], []
    y = HEAD
    count = max(row_of.values(), default=-1) + 1
    for row in range(count):
        first_tracks.append(y + BEFORE_TRACKS)
        gap = ABOVE_LEVEL if row in rows.first_rows else ABOVE_ROW
        y += gap + TRACK * tracks.count(row) + above[row]
        centres.append(y + box_heights[row] / 2)
        halves.append(box_heights[row] / 2)
        y += box_heights[row]
        y += below[row]
    first_tracks.append(y + BEFORE_TRACKS)
    bottom = y + TRACK * tracks.count(count) + BELOW
    return Heights(centres, halves, first_tracks, bottom)
