"""Groups the boxes of a lane by module; the picture has a background behind each group."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

import msgspec

from explorer.drawing.label_text import fit_name, measure
from explorer.drawing.ladder.columns import Lane
from explorer.drawing.structure import PART_DOT, module_path
from explorer.drawing.style import GROUP_LABEL_START, GROUP_SIDE, LABEL_SIZE

MOST_FOR_LABEL: Final = 220.0
"""The greatest width that a group is given for its label, in points."""

OUT_OF_LANE: Final = 32.0
"""How far a group may stand out of its lane for its label, in points; on the right twice as far."""

DEEPEST: Final = 2
"""The most levels of groups in one another; those further out are left out, labels name them."""

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

    ``nesting`` is how many levels of groups are inside it. ``label`` is the part of the path that
    the group around it does not have in its own.
    """

    path: str
    left: float
    right: float
    first: int
    last: int
    nesting: int
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
        if measure(label, LABEL_SIZE) > room:
            label = _brief(label)
        return fit_name(label, LABEL_SIZE, room)


class _Run(NamedTuple):
    """A module, and unbroken rows of a lane that its nodes stand in."""

    path: str
    rows: list[int]

    @property
    def key(self) -> tuple[int, str, list[int]]:
        """Orders runs so that inner modules come first."""
        return -self.path.count("."), self.path, self.rows


def group_spans(lane: Lane, paths: Mapping[str, str]) -> list[GroupSpan]:
    """The groups of one lane, outer ones first.

    ``paths`` are the module paths of the lane's nodes. A module is left out where boxes of others
    stand among its own.
    """
    spans: list[GroupSpan] = []
    # Inner modules first: the group of an outer one lies around theirs.
    for run in sorted(_runs(lane, paths), key=lambda run: run.key):
        members = _members(lane, run, paths)
        inner = [span for span in spans if _contains(run, span)]
        span = _around(lane, run, members, inner)
        # A module with nothing in it but another module would be two groups around the same boxes.
        is_redundant = any(_covers(lane, other, run, members) for other in inner)
        if is_redundant or span.nesting >= DEEPEST:
            continue
        candidates = _candidates(lane, span)
        free = [other for other in candidates if _is_free(other, lane, members, spans)]
        if free:
            spans.append(max(free, key=_legibility))
    labelled = [_with_label(span, spans) for span in spans]
    return sorted(labelled, key=lambda span: (-span.nesting, span.first, span.left))


def _is_free(span: GroupSpan, lane: Lane, members: set[str], others: Sequence[GroupSpan]) -> bool:
    """Whether a group overlaps no box and no group that is not part of it."""
    return not _covers_others(lane, span, members) and not _is_crossed(span, others)


def _runs(lane: Lane, paths: Mapping[str, str]) -> Iterator[_Run]:
    """The runs of every module."""
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
        for box in lane.boxes[row]:
            if _within(paths[box.node], run.path):
                members.add(box.node)
    return members


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(outer + ".")


def _contains(run: _Run, span: GroupSpan) -> bool:
    """Whether a group belongs to a module inside that of a run, and stands in the run's rows."""
    in_its_rows = run.rows[0] <= span.first and span.last <= run.rows[-1]
    return in_its_rows and _within(span.path, run.path)


def _covers(lane: Lane, span: GroupSpan, run: _Run, members: set[str]) -> bool:
    """Whether a group already stands behind all members of a run, in all its rows."""
    if (span.first, span.last) != (run.rows[0], run.rows[-1]):
        return False
    return all(span.left <= lane.centres[node] <= span.right for node in members)


def _around(lane: Lane, run: _Run, members: set[str], inner: Sequence[GroupSpan]) -> GroupSpan:
    """The smallest group around the members of a run and the groups inside it."""
    left = min(map(lane.left_of, members))
    right = max(map(lane.right_of, members))
    nesting = 0
    for span in inner:
        left, right = min(left, span.left), max(right, span.right)
        nesting = max(nesting, span.nesting + 1)
    return GroupSpan(
        path=run.path,
        left=left - GROUP_SIDE,
        right=right + GROUP_SIDE,
        first=run.rows[0],
        last=run.rows[-1],
        nesting=nesting,
    )


def _candidates(lane: Lane, span: GroupSpan) -> Iterator[GroupSpan]:
    """The group widened for its whole label, widened for a shorter one, and not widened."""
    # A wider group may cover boxes of other modules where a narrower one does not.
    lacking = _lacking(lane, span)
    for text in (span.path, _brief(span.path), ""):
        yield _widened(lane, span, lacking, text)
        yield _widened(lane, span, 0.0, text)


def _lacking(lane: Lane, span: GroupSpan) -> float:
    """How many points a group lacks on its left for its label to end before the first edge.

    That is the edge which comes down into the first box of the group's first row.
    """
    # An edge from above comes down into the middle of a box.
    first_edge = inf
    for box in lane.boxes[span.first]:
        if span.left < box.left < span.right:
            first_edge = min(first_edge, (box.left + box.right) / 2)
    if first_edge == inf:
        first_edge = span.right
    label = span.path if span.nesting else span.path.rsplit(".", 1)[-1]
    label_end = span.left + GROUP_LABEL_START + measure(label, LABEL_SIZE) + BEHIND_LABEL
    return min(MOST_FOR_LABEL, max(0.0, label_end - first_edge))


def _widened(lane: Lane, span: GroupSpan, leftwards: float, text: str) -> GroupSpan:
    """The group made wider to the left, and to the right as far as a text needs it.

    It does not reach far beyond its lane.
    """
    left = max(span.left - leftwards, min(span.left, lane.left - OUT_OF_LANE))
    right = left + measure(text, LABEL_SIZE) + LABEL_ROOM
    is_beside_lane = right <= lane.right + 2 * OUT_OF_LANE
    if right - left > MOST_FOR_LABEL or not is_beside_lane:
        right = span.right
    return msgspec.structs.replace(span, left=left, right=max(span.right, right))


def _brief(label: str) -> str:
    """A label without the condition: "true branch" of "if x.sum() > 0: true branch"."""
    return label.rpartition(": ")[2]


def _legibility(span: GroupSpan) -> tuple[int, float]:
    """How much of its label a group has room for, and then how narrow it is."""
    # The whole label fits only where the brief one does, so their number orders as it should.
    room = span.right - span.left - LABEL_ENDS
    is_whole = measure(span.path, LABEL_SIZE) <= room
    is_brief = measure(_brief(span.path), LABEL_SIZE) <= room
    return is_whole + is_brief, -room


def _covers_others(lane: Lane, span: GroupSpan, members: set[str]) -> bool:
    """Whether a group overlaps a box that is not of its module."""
    for row in range(span.first, span.last + 1):
        for box in lane.boxes.get(row, ()):
            overlaps = box.left < span.right and span.left < box.right
            if overlaps and box.node not in members:
                return True
    return False


def _is_crossed(span: GroupSpan, others: Sequence[GroupSpan]) -> bool:
    """Whether a group overlaps another that is not part of it."""
    for other in others:
        # Most groups are in other rows; in a large graph this loop takes most of the time.
        if other.last < span.first or span.last < other.first:
            continue
        shares_width = other.left < span.right and span.left < other.right
        if shares_width and not _within(other.path, span.path):
            return True
    return False


def _with_label(span: GroupSpan, spans: Sequence[GroupSpan]) -> GroupSpan:
    """The group labelled with its path, less the path of the innermost group around it."""
    longest_prefix = ""
    for outer in spans:
        in_its_rows = outer.first <= span.first and span.last <= outer.last
        prefix = outer.path + "."
        if in_its_rows and span.path.startswith(prefix) and len(prefix) > len(longest_prefix):
            longest_prefix = prefix
    return msgspec.structs.replace(span, label=span.path[len(longest_prefix) :])
