"""Finds the modules whose nodes stand together in a lane, to be drawn as soft boxes behind them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from explorer.drawing.ladder.lane import Lane
from explorer.drawing.modules import PART_DOT, module_path
from explorer.drawing.style import GROUP_LABEL_START, GROUP_SIDE, LABEL_SIZE
from explorer.drawing.text import fit, measure

MOST_FOR_LABEL: Final = 220.0
"""How much room a group may take for its label, in points."""

OUT_OF_LANE: Final = 32.0
"""How far a group may stand out of its lane for its label, in points; on the right twice as far."""

DEEPEST: Final = 2
"""Groups within groups beyond this many are left out: the innermost label holds the whole path."""

BEHIND_LABEL: Final = 5.0
"""Room between a label and the edge that enters a group's first box, in points."""

LABEL_ROOM: Final = 16.0
"""How much wider than its label a group is made, in points."""

LABEL_ENDS: Final = 8.0
"""How much wider than its label a group has to be, in points."""

LEAST_WIDTH: Final = 30.0
"""The least width of a group, in points."""


class GroupSpan(msgspec.Struct, frozen=True):
    """A group before rows have a y: its module path, its sides in points, its first and last row.

    ``holds`` tells how many groups it holds, one in the other. ``label`` is what the path says
    beyond that of the group around it.
    """

    path: str
    left: float
    right: float
    first: int
    last: int
    holds: int
    label: str = ""

    @property
    def width(self) -> float:
        """The width in points."""
        return max(self.right - self.left, LEAST_WIDTH)

    @property
    def fitted_label(self) -> str:
        """The label as far as there is room."""
        room = self.width - LABEL_ENDS
        label = self.label.replace(PART_DOT, ".")
        words = label if measure(label, LABEL_SIZE) <= room else _brief(label)
        return fit(words, LABEL_SIZE, room)


class _Run(NamedTuple):
    """A module, and rows of a lane without a break that its nodes stand in."""

    path: str
    rows: list[int]

    @property
    def key(self) -> tuple[int, str, list[int]]:
        """Orders runs so that inner modules come first."""
        return -self.path.count("."), self.path, self.rows


def group_spans(lane: Lane, paths: Mapping[str, str]) -> list[GroupSpan]:
    """The groups of one lane, outer ones first; a module that others are mixed into is left out
    there.

    ``paths`` are the module paths of the lane's nodes.
    """
    spans: list[GroupSpan] = []
    # Inner modules first: an outer one has to hold them.
    for run in sorted(_runs(lane, paths), key=lambda run: run.key):
        members = _members(lane, run, paths)
        inner = [span for span in spans if _holds(run, span)]
        span = _around(lane, run, members, inner)
        # A module in a module with nothing else in it would be drawn as two frames around one box.
        says_the_same = any(_covers(lane, other, run, members) for other in inner)
        if says_the_same or span.holds >= DEEPEST:
            continue
        free = [other for other in _candidates(lane, span) if _is_free(other, lane, members, spans)]
        if free:
            spans.append(max(free, key=_legibility))
    labelled = [_with_label(span, spans) for span in spans]
    return sorted(labelled, key=lambda span: (-span.holds, span.first, span.left))


def _is_free(span: GroupSpan, lane: Lane, members: set[str], others: Sequence[GroupSpan]) -> bool:
    """Whether a group is clear of what it does not hold."""
    return not _holds_others(lane, span, members) and not _is_crossed(span, others)


def _runs(lane: Lane, paths: Mapping[str, str]) -> Iterator[_Run]:
    """Every module with each of its unbroken runs of rows."""
    rows_of: defaultdict[str, set[int]] = defaultdict(set)
    for node in lane.centres:
        path = paths.get(node, "")
        depth = path.count(".") + 1 if path else 0
        for parts in range(1, depth + 1):
            rows_of[module_path(path, parts)].add(lane.rows[node])

    # A row in which the lane has no box breaks no run.
    index = {row: index for index, row in enumerate(sorted(lane.boxes))}
    for path, rows in rows_of.items():
        run: list[int] = []
        for row in sorted(rows):
            if run and index[row] != index[run[-1]] + 1:
                yield _Run(path, run)
                run = []
            run.append(row)
        yield _Run(path, run)


def _members(lane: Lane, run: _Run, paths: Mapping[str, str]) -> set[str]:
    """The nodes of a run's module in its rows."""
    members: set[str] = set()
    for row in run.rows:
        nodes = [box.node for box in lane.boxes[row]]
        members.update(node for node in nodes if _within(paths[node], run.path))
    return members


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(outer + ".")


def _holds(run: _Run, span: GroupSpan) -> bool:
    """Whether a group is of a module inside a run's, and in its rows."""
    in_its_rows = run.rows[0] <= span.first and span.last <= run.rows[-1]
    return in_its_rows and _within(span.path, run.path)


def _covers(lane: Lane, span: GroupSpan, run: _Run, members: set[str]) -> bool:
    """Whether a group already stands behind all members of a run, in all its rows."""
    if (span.first, span.last) != (run.rows[0], run.rows[-1]):
        return False
    return all(span.left <= lane.centres[node] <= span.right for node in members)


def _around(lane: Lane, run: _Run, members: set[str], inner: Sequence[GroupSpan]) -> GroupSpan:
    """The least group around a run's members and the groups inside it."""
    lefts = [lane.left_of(node) for node in members] + [span.left for span in inner]
    rights = [lane.right_of(node) for node in members] + [span.right for span in inner]
    return GroupSpan(
        path=run.path,
        left=min(lefts) - GROUP_SIDE,
        right=max(rights) + GROUP_SIDE,
        first=run.rows[0],
        last=run.rows[-1],
        holds=1 + max((span.holds for span in inner), default=-1),
    )


def _candidates(lane: Lane, span: GroupSpan) -> Iterator[GroupSpan]:
    """The group as wide as its label wants it, as a shorter label does, and as it is."""
    # A wider group may reach into boxes that are not of its module, where a narrower one does not.
    lacking = _lacking(lane, span)
    for text in (span.path, _brief(span.path), ""):
        yield _widened(lane, span, lacking, text)
        yield _widened(lane, span, 0.0, text)


def _lacking(lane: Lane, span: GroupSpan) -> float:
    """By how much a group must grow to the left so that its label ends before the edge that comes
    down into its first box.
    """
    centres = [
        (box.left + box.right) / 2
        for box in lane.boxes[span.first]
        if span.left < box.left < span.right
    ]
    label = span.path if span.holds else span.path.rsplit(".", 1)[-1]
    label_end = span.left + GROUP_LABEL_START + measure(label, LABEL_SIZE) + BEHIND_LABEL
    lacking = label_end - min(centres, default=span.right)
    return min(MOST_FOR_LABEL, max(0.0, lacking))


def _widened(lane: Lane, span: GroupSpan, leftwards: float, text: str) -> GroupSpan:
    """The group wider to the left, and to the right as far as a text needs it; not far out of its
    lane.
    """
    left = max(span.left - leftwards, min(span.left, lane.left - OUT_OF_LANE))
    right = left + measure(text, LABEL_SIZE) + LABEL_ROOM
    is_beside_lane = right <= lane.right + 2 * OUT_OF_LANE
    if right - left > MOST_FOR_LABEL or not is_beside_lane:
        right = span.right
    return msgspec.structs.replace(span, left=left, right=max(span.right, right))


def _brief(label: str) -> str:
    """What a subgraph is, without what decides on it: "true branch" of "if x.sum() > 0: true
    branch".
    """
    return label.rpartition(": ")[2]


def _legibility(span: GroupSpan) -> tuple[int, float]:
    """How much of its label a group has room for, and then how narrow it is."""
    # The whole label fits only where the brief one does, so their number orders as it should.
    room = span.right - span.left - LABEL_ENDS
    legible = [measure(text, LABEL_SIZE) <= room for text in (span.path, _brief(span.path))]
    return sum(legible), -room


def _holds_others(lane: Lane, span: GroupSpan, members: set[str]) -> bool:
    """Whether a box stands in a group that is not of its module."""
    for row in range(span.first, span.last + 1):
        for box in lane.boxes.get(row, ()):
            overlaps = box.left < span.right and span.left < box.right
            if overlaps and box.node not in members:
                return True
    return False


def _is_crossed(span: GroupSpan, others: Sequence[GroupSpan]) -> bool:
    """Whether another group that is not part of this one overlaps it."""
    for other in others:
        # Most groups are in other rows: in a large graph this is what takes the time.
        if other.last < span.first or span.last < other.first:
            continue
        shares_width = other.left < span.right and span.left < other.right
        if shares_width and not _within(other.path, span.path):
            return True
    return False


def _with_label(span: GroupSpan, spans: Sequence[GroupSpan]) -> GroupSpan:
    """The group labelled with the part of its path that the group around it does not say already."""
    said = ""
    for outer in spans:
        in_its_rows = outer.first <= span.first and span.last <= outer.last
        prefix = outer.path + "."
        if in_its_rows and span.path.startswith(prefix) and len(prefix) > len(said):
            said = prefix
    return msgspec.structs.replace(span, label=span.path[len(said) :])
