"""Finds the module scopes whose nodes stand together in a lane, to be drawn as soft boxes behind
them.
"""

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from explorer.drawing.collapse import cut
from explorer.drawing.lane import Lane
from explorer.drawing.text import measure

SIDE = 7.0
"""Room between a group's edge and the boxes in it, or the group in it."""

LABEL = 13.0
"""Height of a group's label above its uppermost boxes."""

WIDEN = 220.0
"""How much wider than its boxes a group may get for its label."""

EDGE = 32.0
"""How far a group may stand out of its lane for its label."""

DEEPEST = 2
"""Groups within groups beyond this many are left out: the innermost label holds the whole path."""


class Span(msgspec.Struct, frozen=True):
    """A group before rows have a y: its label, its sides, its rows, and how many groups it holds
    one in the other.
    """

    label: str
    left: float
    right: float
    first: int
    last: int
    holds: int


def spans(lane: Lane, scopes: Mapping[str, str]) -> list[Span]:
    """The groups of one lane, outer ones first; a scope that others are mixed into is left out
    there.
    """
    runs = _runs(lane, scopes)
    found: list[Span] = []
    for scope, rows in sorted(runs, key=lambda run: (-run[0].count("."), run[0], run[1])):
        members = {
            node for row in rows for x0, x1, node in lane.boxes[row] if _within(scopes[node], scope)
        }
        inner = [
            span
            for span in found
            if rows[0] <= span.first and span.last <= rows[-1] and _within(span.label, scope)
        ]
        holds = 1 + max((span.holds for span in inner), default=-1)
        left = min(
            [
                min(lane.centres[node] - lane.half(node) for node in members) - SIDE,
                *(s.left - SIDE for s in inner),
            ]
        )
        right = max(
            [
                max(lane.centres[node] + lane.half(node) for node in members) + SIDE,
                *(s.right + SIDE for s in inner),
            ]
        )
        same = any(
            span.first == rows[0] and span.last == rows[-1] and _covers(lane, span, members)
            for span in inner
        )
        span = Span(scope, left, right, rows[0], rows[-1], holds)
        words = (span.label, brief(span.label), "")
        roomy = (
            _roomy(lane, span, side, text) for text in words for side in (_short(lane, span), 0.0)
        )
        fitting = (
            each for each in roomy if not _mixed(lane, each, members) and not _crossed(each, found)
        )
        span = max(fitting, key=_legible, default=span)
        if (
            not same
            and holds < DEEPEST
            and not _mixed(lane, span, members)
            and not _crossed(span, found)
        ):
            found.append(span)
    return sorted(
        (_relative(span, found) for span in found),
        key=lambda span: (-span.holds, span.first, span.left),
    )


def _relative(span: Span, found: list[Span]) -> Span:
    """The group with its label cut to the part that the group around it does not say already."""
    around = [
        o.label
        for o in found
        if o.first <= span.first and span.last <= o.last and span.label.startswith(o.label + ".")
    ]
    return (
        msgspec.structs.replace(span, label=span.label[len(max(around, key=len)) + 1 :])
        if around
        else span
    )


def _short(lane: Lane, span: Span) -> float:
    """By how much a group must grow to the left so that its label ends before the edge into its
    first box.
    """
    boxes = [(x0 + x1) / 2 for x0, x1, _ in lane.boxes[span.first] if span.left < x0 < span.right]
    label = span.label if span.holds else span.label.rsplit(".", 1)[-1]
    return min(
        WIDEN, max(0.0, span.left + 6 + measure(label, 9.0) + 5 - min(boxes, default=span.right))
    )


def brief(label: str) -> str:
    """What a subgraph is, without what decides on it: "true branch" of "if x.sum() > 0: true
    branch".
    """
    return label.rpartition(": ")[2]


def _legible(span: Span) -> tuple[int, float]:
    """How much of its label a group has room for, and then how narrow it is."""
    width = span.right - span.left - 8
    return sum(measure(text, 9.0) <= width for text in (span.label, brief(span.label))), -width


def _roomy(lane: Lane, span: Span, side: float, text: str) -> Span:
    """The group, wider to the left, and wide enough for a text as long as it stays beside its lane."""
    left = max(span.left - side, min(span.left, lane.left - EDGE))
    wide = left + measure(text, 9.0) + 16
    fits = wide - left <= WIDEN and wide <= lane.right + 2 * EDGE
    return msgspec.structs.replace(span, left=left, right=max(span.right, wide if fits else 0.0))


def _within(scope: str, outer: str) -> bool:
    return scope == outer or scope.startswith(outer + ".")


def _runs(lane: Lane, scopes: Mapping[str, str]) -> list[tuple[str, list[int]]]:
    """Every scope with each of its unbroken runs of rows."""
    rows: defaultdict[str, set[int]] = defaultdict(set)
    for node, row in ((node, lane.rows[node]) for node in lane.centres):
        scope = scopes.get(node, "")
        for depth in range(1, scope.count(".") + 2 if scope else 1):
            rows[cut(scope, depth)].add(row)
    order = {row: index for index, row in enumerate(sorted(lane.boxes))}
    runs: list[tuple[str, list[int]]] = []
    for scope, held in rows.items():
        run: list[int] = []
        for row in sorted(held):
            if run and order[row] != order[run[-1]] + 1:
                runs.append((scope, run))
                run = []
            run.append(row)
        runs.append((scope, run))
    return runs


def _covers(lane: Lane, span: Span, members: set[str]) -> bool:
    return all(span.left <= lane.centres[node] <= span.right for node in members)


def _mixed(lane: Lane, span: Span, members: set[str]) -> bool:
    return any(
        x0 < span.right and span.left < x1 and node not in members
        for row in range(span.first, span.last + 1)
        for x0, x1, node in lane.boxes.get(row, ())
    )


def _crossed(span: Span, found: list[Span]) -> bool:
    return any(
        other.first <= span.last
        and span.first <= other.last
        and other.left < span.right
        and span.left < other.right
        and not _within(other.label, span.label)
        for other in found
    )
