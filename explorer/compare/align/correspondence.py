"""Which ops correspond behind a divergence, where values differ by it: those that read what corresponds.

So an op of another kind is found there, one too many, and the other places of the ops of a divergence.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from explorer.compare.align.contrasts import (
    Contrast,
    FoundDivergence,
    alone,
    both,
    found,
    reading,
    row_of,
)
from explorer.compare.align.matching import Matching
from explorer.compare.align.sameness import layout_of
from explorer.compare.align.suspects import PRODUCTS, are_followed_alike, kind, same_work, users_of
from explorer.compare.align.vertices import Vertex, as_seen, in_order
from explorer.compare.graphs.view import reach
from explorer.model.divergence import ExtraOps, Inputs, OtherOp, OtherValue, Places

LONGEST = 4
"""Ops in a row that are taken for what the other side does in one, or in some."""

Row = tuple[Vertex, ...]
"""Ops in a row, each the only user of the one before."""

Ops = tuple[str, str]
"""The op of the first side, and of the second."""

# What is computed from a divergence


def computed_from(finding: FoundDivergence) -> set[Vertex]:
    """What takes part in a divergence, and all that is computed from it before values agree again.

    Equal numbers in another order do not agree.

    The gradient of an op that differs differs as well, whether it reads what the op yields or not.
    """
    # What stops a gradient passes numbers on that both sides have: none in forward differs by it.
    parts = set(finding.parts)
    if not isinstance(finding.divergence, OtherValue):
        parts = {it for it in parts if it.origin is it or it.origin.counterpart is None}
    start = parts.union(gradients_of(parts | finding.laid, finding.laid))
    behind = reach(start, lambda node: node.consumers)
    has_both_sides = len({part.side.name for part in parts}) > 1

    def differs(node: Vertex) -> bool:
        # A value that is computed from what differs on one side alone is equal by chance.
        is_chance = has_both_sides and node.partner is not None and node.partner not in behind
        return is_chance or _may_differ(node)

    return reach(start, lambda node: filter(differs, node.consumers))


def gradients_of(parts: Iterable[Vertex], laid: frozenset[Vertex]) -> list[Vertex]:
    """The nodes in backward that derive from those in forward among some, and may differ.

    Of those that are ``laid`` otherwise, all do.
    """
    gradients: list[Vertex] = []
    for part in parts:
        derived = part.side.derived.get(part, ()) if part.phase == "forward" else ()
        gradients += [node for node in derived if part in laid or _may_differ(node)]
    return gradients


def _may_differ(node: Vertex) -> bool:
    """Whether a node is not known to agree, or holds the numbers of its partner in another order."""
    if not node.is_agreed:
        return True
    if node.partner is None or node.main is None or node.partner.main is None:
        return False
    return layout_of(node.value, node.partner.value) is not None


# Ops that correspond by structure alone


class Rows(NamedTuple):
    """A row of ops of the first side, and one of the second that reads the same and is as large."""

    first: Row
    second: Row

    @property
    def is_one_kind(self) -> bool:
        """Whether both end with the same kind of op."""
        return kind(self.work[0][-1]) == kind(self.work[1][-1])

    @property
    def work(self) -> tuple[Row, Row]:
        """Both without what adds a bias to a product, which is one op on many a side."""
        return _without_bias(self.first), _without_bias(self.second)

    @property
    def ends(self) -> tuple[Vertex, Vertex]:
        """The last op of each."""
        return self.first[-1], self.second[-1]


def _without_bias(row: Row) -> Row:
    work = row[:1]
    for node in row[1:]:
        adds_bias = node.family == "add" and any(origin.is_leaf for origin in node.origins)
        if not (adds_bias and work[-1].family in PRODUCTS):
            work = *work, node
    return work


class Correspondence:
    """Which nodes of forward correspond: by value, or by where they stand behind a divergence.

    ``behind`` are the nodes computed from divergences.
    """

    def __init__(self, findings: Iterable[FoundDivergence], behind: set[Vertex]) -> None:
        """Begins with the two ends of each divergence."""
        self._behind = behind
        self._assumed: dict[Vertex, Vertex] = {}
        self._passed: set[Vertex] = set()
        for finding in findings:
            self._passed |= finding.parts
            if finding.ends:
                self._assume(finding.ends[0].origin, finding.ends[1].origin)

    def follow(self, nodes: Iterable[Vertex]) -> Iterator[Rows]:
        """The rows that correspond, in the order of ``nodes``, which are the first side's."""
        for node in nodes:
            if self._is_open(node):
                rows = self._rows_from(node)
                if rows:
                    self._passed.update(rows.first, rows.second)
                    self._assume(*rows.ends)
                    yield rows

    def _assume(self, node: Vertex, other: Vertex) -> None:
        self._assumed |= {node: other, other: node}

    def _is_open(self, node: Vertex) -> bool:
        """Whether a node computes something in forward that has found no counterpart yet."""
        is_behind = node in self._behind and node not in self._passed
        is_observed = node.is_free and node.main is not None and node.origin is node
        return is_behind and is_observed and node.is_work and node.phase == "forward"

    def _rows_from(self, node: Vertex) -> Rows | None:
        """The shortest rows of ops, the first beginning at ``node``; ops of one kind come first."""
        corresponding: list[Rows] = []
        for row in self._rows(node):
            # What corresponds to the inputs of the row, if all have a counterpart.
            there = {self._assumed.get(origin) or origin.counterpart for origin in _inputs(row)}
            wanted = set() if None in there else set(filter(None, there))
            # The rows of the second side that read just this.
            starts = dict.fromkeys(user for it in in_order(wanted) for user in users_of(it))
            others = [it for start in starts if self._is_open(start) for it in self._rows(start)]
            alike = (Rows(row, other) for other in others if set(_inputs(other)) == wanted)
            corresponding += [it for it in alike if it.ends[0].value.size == it.ends[1].value.size]

        def likeness(rows: Rows) -> tuple[bool, int]:
            return rows.is_one_kind, -len(rows.first) - len(rows.second)

        return max(corresponding, key=likeness, default=None)

    def _rows(self, node: Vertex) -> list[Row]:
        """The rows that begin at a node, shortest first."""
        rows: list[Row] = [(node,)]
        while len(rows) < LONGEST:
            users = users_of(rows[-1][-1])
            if len(users) != 1 or not self._is_open(users[0]):
                break
            rows.append((*rows[-1], users[0]))
        return rows


def _inputs(row: Row) -> list[Vertex]:
    """The origins of all that a row reads, but for constants and leaves that only one side has."""
    inputs = []
    for origin in (origin for node in row for origin in node.origins):
        is_own_leaf = origin.is_leaf and not origin.is_reserved
        is_own = not origin.counterpart and (origin.kind == "constant" or is_own_leaf)
        if origin not in row and not is_own:
            inputs.append(origin)
    return inputs


def partings_by_structure(
    first_nodes: Iterable[Vertex], findings: list[FoundDivergence], behind: set[Vertex]
) -> Iterator[FoundDivergence]:
    """The places behind some divergences where an op of another kind stands, or one too many.

    ``first_nodes`` are those of the first side in execution order, ``behind`` are the nodes of both
    sides that are computed from the divergences.
    """
    for rows in Correspondence(findings, behind).follow(first_nodes):
        row, other_row = rows.work
        if rows.is_one_kind:
            # Rows of several ops each are two ways to take one thing to pieces.
            for longer, shorter in ((row, other_row), (other_row, row)):
                extra = longer[:-1]
                if len(shorter) == 1 and not all(node.is_bookkeeping for node in extra):
                    facts: dict[str, Any] = {"row": row_of(list(extra)), "is_between": True}
                    values, ends = alone(extra[-1].value), rows.ends
                    yield found(ExtraOps, values, extra[-1], parts=extra, ends=ends, **facts)
        elif len(row) == len(other_row) == 1 and are_followed_alike(*rows.ends):
            left, right = as_seen(*rows.ends)
            values = Contrast((reading(left.value), reading(right.value)))
            yield found(OtherOp, values, left, right, ends=rows.ends)


# The other places of a divergence's ops


def with_places(matching: Matching, findings: list[FoundDivergence]) -> list[FoundDivergence]:
    """The divergences, each between two ops of a kind with the other places of these ops.

    Two ops that differ by their formula do so wherever they are: where values are small they may
    agree within their noise, and behind the first divergence values cannot tell.
    """
    findings = [_with_rows(finding) for finding in findings]
    if not any(map(_ops_of, findings)):
        return findings
    equal: dict[Ops, list[Places]] = {}
    for match in matching.matches:
        node, other = match.first.node, match.second.node
        if match.first.is_main and node.phase == other.phase and node.is_needed:
            equal.setdefault((node.op, other.op), []).append(both(node, other))
    also: dict[Ops, list[Places]] = {}
    taken = {node for finding in findings for node in finding.parts}
    behind: set[Vertex] = set().union(*(computed_from(it) for it in findings))
    for rows in Correspondence(findings, behind).follow(matching.first.nodes):
        row, other_row = rows.work
        if len(row) == len(other_row) == 1 and taken.isdisjoint((*row, *other_row)):
            places = both(row[0], other_row[0])
            also.setdefault((row[0].op, other_row[0].op), []).append(places)
    # One line may be run several times, and differ in one of them.
    differing = [both(*finding.ends) for finding in findings if finding.ends]
    for place, finding in enumerate(findings):
        ops = _ops_of(finding)
        if ops:
            agreeing = [places for places in equal.get(ops, ()) if places not in differing]
            findings[place] = _at_other_places(finding, agreeing, also.get(ops, []))
    return findings


def _at_other_places(
    finding: FoundDivergence, equal: list[Places], behind: list[Places]
) -> FoundDivergence:
    places = {"equal_at": tuple(equal), "also_at": tuple(behind)}
    return replace(finding, divergence=msgspec.structs.replace(finding.divergence, **places))


def _ops_of(finding: FoundDivergence) -> Ops | None:
    """The two ops of a divergence; None where it is not one between two ops of a kind in forward."""
    if not isinstance(finding.divergence, OtherValue) or finding.ends is None:
        return None
    if finding.divergence.inputs != Inputs():
        return None  # they differ by what they read
    node, other = finding.ends
    if len(finding.parts) != 2 or node.phase == "backward" or not same_work(node, other):
        return None
    return (node.op, other.op) if node.side.is_first else (other.op, node.op)


def _with_rows(finding: FoundDivergence) -> FoundDivergence:
    """A divergence between two formulas of one line each, with the other places of these lines.

    The module and the line that calls it tell the places apart; they correspond in order.
    """
    divergence = finding.divergence
    if not isinstance(divergence, OtherValue) or finding.ends is None:
        return finding
    parts = finding.parts
    rows = [in_order(it for it in parts if it.side is end.side) for end in finding.ends]
    is_formula = max(map(len, rows)) > 1 and divergence.phase == "forward"
    if not is_formula or divergence.inputs.differing:
        return finding
    occurrences: list[list[list[Vertex]]] = []
    for row in rows:
        ops = [node.op for node in row]
        by_place: dict[tuple[str, str], list[Vertex]] = {}
        for node in row[0].side.nodes:
            is_of_line = node.phase == row[0].phase and node.source == row[0].source
            if is_of_line and node.op in ops and node.main and not node.is_bookkeeping:
                by_place.setdefault((node.scope, node.caller), []).append(node)
        occurrences.append([it for it in by_place.values() if [node.op for node in it] == ops])
    if len(occurrences[0]) != len(occurrences[1]):
        return finding
    equal: list[Places] = []
    behind: list[Places] = []
    for row, other_row in zip(*occurrences, strict=True):
        if parts.isdisjoint((*row, *other_row)):
            places = equal if row[-1].partner is other_row[-1] else behind
            places.append(both(row[0], other_row[0]))
    return _at_other_places(finding, equal, behind)
