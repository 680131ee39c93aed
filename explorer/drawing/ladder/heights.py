"""Gives every row of a ladder its y: boxes as high as they are, tracks between rows, room for labels."""

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
ABOVE_STEP: Final = 17.0
"""Height of the gap above a row, in points, without its tracks: of the first row of a level, and of
another.
"""

TRACK: Final = 6.0
"""How far the tracks of one gap are apart, in points."""

BEFORE_TRACKS: Final = 7.0
"""Room between a row and the first track below it, in points."""

LABEL_HEIGHT: Final = 13.0
"""Room above a group's uppermost boxes for its label, in points, for each group in the other."""

GROUP_END: Final = 4.0
"""Room below a group's lowest boxes, in points, for each group in the other."""

PASSING: Final = 2.0
"""How far outside a row an edge that passes it turns upright, in points."""

BELOW: Final = 14.0
"""Room below all rows, in points."""


class Heights(msgspec.Struct, frozen=True):
    """The y of rows in points: their centres, their half heights, and the first track of the gap
    above each and below the last.
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
        """The y of a point of a route, in points; ``boxes`` are those that routes meet."""
        if isinstance(height, BesideNode):
            box = boxes[height.node]
            return box.y + box.card.height / 2 + height.offset
        if isinstance(height, OnTrack):
            return self.first_tracks[height.gap] + TRACK * height.track
        outside = self.halves[height.row] + PASSING
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
        deep = group.holds + 1
        above[group.first] = max(above[group.first], LABEL_HEIGHT * deep)
        below[group.last] = max(below[group.last], GROUP_END * deep)

    centres, halves, first_tracks = [], [], []
    y = HEAD
    count = max(row_of.values(), default=-1) + 1
    for row in range(count):
        first_tracks.append(y + BEFORE_TRACKS)
        gap = ABOVE_LEVEL if row in rows.first_rows else ABOVE_STEP
        y += gap + TRACK * tracks.count(row) + above[row]
        centres.append(y + box_heights[row] / 2)
        halves.append(box_heights[row] / 2)
        y += box_heights[row]
        y += below[row]
    first_tracks.append(y + BEFORE_TRACKS)
    bottom = y + TRACK * tracks.count(count) + BELOW
    return Heights(centres, halves, first_tracks, bottom)
