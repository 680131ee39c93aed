"""Further divergences: places where graphs differ that the first divergence does not explain.

All that is computed from a divergence differs, so a second mistake there cannot be seen in values.
But the ops that follow still correspond: they read what corresponds, and are of one kind.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from explorer.compare.align.backtrace import is_nothing
from explorer.compare.align.contrasts import (
    Contrast,
    FoundDivergence,
    alone,
    both,
    ends_of,
    reading,
    row_of,
)
from explorer.compare.align.divergence import (
    from_backtrace,
    from_missing,
    from_result,
    is_difference,
    suspects_behind,
)
from explorer.compare.align.leaf_divergences import from_leaf, from_lone_leaf
from explorer.compare.align.matching import NOISE, Matching, Mismatch
from explorer.compare.align.one_sided import gradients_added, gradients_stopped
from explorer.compare.align.provenance import take_the_same, unwrapped
from explorer.compare.align.suspects import (
    SILENT,
    Suspects,
    SuspectsBySide,
    are_followed_alike,
    kind,
    same_work,
    users_of,
)
from explorer.compare.align.two_rows import two_ops
from explorer.compare.align.vertices import Vertex, as_seen
from explorer.compare.graphs.view import reach
from explorer.model.divergence import ExtraOps, LoneLeaf, OtherOp, OtherValue
from explorer.model.graph import Phase

# Ops that correspond by structure alone


PRODUCTS = frozenset({"matmul", "conv"})
"""Families that many an engine adds a bias to in the same op."""

LONGEST = 4
"""Ops in a row that are taken for what the other side does in one, or in some."""

Row = tuple[Vertex, ...]
"""Ops in a row, each the only user of the one before."""


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
                node, other = finding.ends
                self._assume(node.origin, other.origin)

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
        self._assumed[node] = other
        self._assumed[other] = node

    def _is_open(self, node: Vertex) -> bool:
        """Whether a node computes something in forward that has found no counterpart yet."""
        if node not in self._behind or node in self._passed:
            return False
        if not node.is_free or node.main is None:
            return False
        return node.is_work and node.phase == "forward" and node.origin is node

    def _rows_from(self, node: Vertex) -> Rows | None:
        """The shortest rows of ops, the first beginning at ``node``; ops of one kind come first."""
        best: Rows | None = None
        best_score = False, 0
        for row in self._rows(node):
            wanted = self._counterparts(row)
            if wanted is None:
                continue
            for other_row in self._rows_reading(wanted):
                rows = Rows(row, other_row)
                score = rows.is_one_kind, -len(row) - len(other_row)
                if best is None or score > best_score:
                    best, best_score = rows, score
        return best

    def _rows(self, node: Vertex) -> list[Row]:
        """The rows that begin at a node, shortest first."""
        rows: list[Row] = [(node,)]
        while len(rows) < LONGEST:
            user = _only_user(rows[-1][-1])
            if user is None or not self._is_open(user):
                break
            rows.append((*rows[-1], user))
        return rows

    def _rows_reading(self, wanted: tuple[frozenset[Vertex], int]) -> Iterator[Row]:
        """The rows of the second side that read just some nodes, and end in a value of one size."""
        inputs, size = wanted
        starts: dict[Vertex, None] = {}
        for node in sorted(inputs, key=lambda node: node.rank):
            starts.update(dict.fromkeys(users_of(node)))
        for start in starts:
            if self._is_open(start):
                for row in self._rows(start):
                    if row[-1].value.size == size and frozenset(_inputs(row)) == inputs:
                        yield row

    def _counterparts(self, row: Row) -> tuple[frozenset[Vertex], int] | None:
        """What corresponds to the inputs of a row, and the size of its value."""
        counterparts = []
        for origin in _inputs(row):
            counterpart = self._assumed.get(origin) or origin.counterpart
            if counterpart is None:
                return None
            counterparts.append(counterpart)
        if not counterparts:
            return None
        return frozenset(counterparts), row[-1].value.size


def partings_by_structure(
    first_nodes: Iterable[Vertex], findings: list[FoundDivergence], behind: set[Vertex]
) -> list[FoundDivergence]:
    """The places behind some divergences where an op of another kind stands, or one too many.

    ``first_nodes`` are those of the first side in execution order, ``behind`` are the nodes of both
    sides that are computed from the divergences.
    """
    partings = []
    correspondence = Correspondence(findings, behind)
    for rows in correspondence.follow(first_nodes):
        row, other_row = rows.work
        if rows.is_one_kind:
            # Rows of several ops each are two ways to take one thing to pieces.
            for longer, shorter in ((row, other_row), (other_row, row)):
                if len(longer) > 1 and len(shorter) == 1 and not _is_bookkeeping(longer[:-1]):
                    partings.append(_extra(longer[:-1], rows))
        elif len(row) == len(other_row) == 1 and are_followed_alike(*rows.ends):
            partings.append(_of_other_kinds(rows))
    return partings


def _is_bookkeeping(row: Row) -> bool:
    return all(node.is_bookkeeping for node in row)


def _extra(extra: Row, rows: Rows) -> FoundDivergence:
    """Ops that only one side has before an op of the same kind."""
    last = extra[-1]
    divergence = ExtraOps(
        phase="forward",
        ends=ends_of(last, alone(last.value)),
        side=last.side.name,
        row=row_of(list(extra)),
        is_between=True,
    )
    return FoundDivergence(divergence, frozenset(extra), ends=rows.ends)


def _of_other_kinds(rows: Rows) -> FoundDivergence:
    """Two ops of other kinds in the same place."""
    left, right = as_seen(*rows.ends)
    values = Contrast((reading(left.value), reading(right.value)))
    divergence = OtherOp(
        phase="forward", ends=ends_of(left, values, right), places=both(left, right)
    )
    return FoundDivergence(divergence, frozenset(rows.ends), rows.ends)


def _inputs(row: Row) -> list[Vertex]:
    """The origins of all that a row reads, but for constants and what only one side has."""
    members = set(row)
    origins = [origin for node in row for origin in node.origins]
    return [origin for origin in origins if origin not in members and not _is_own(origin)]


def _without_bias(row: Row) -> Row:
    work = [row[0]]
    for node in row[1:]:
        adds_bias = node.family == "add" and any(origin.is_leaf for origin in node.origins)
        if not (adds_bias and work[-1].family in PRODUCTS):
            work.append(node)
    return tuple(work)


def _is_own(origin: Vertex) -> bool:
    """Whether a node need have no counterpart: a constant, or a leaf of one side only."""
    if origin.counterpart:
        return False
    return origin.kind == "constant" or (origin.is_leaf and not origin.is_reserved)


def _only_user(node: Vertex) -> Vertex | None:
    users = users_of(node)
    return users[0] if len(users) == 1 else None


# Further divergences


MOST = 32
"""Further divergences that are looked for."""


def find_further(
    matching: Matching, first: FoundDivergence, missing: list[Vertex]
) -> list[FoundDivergence]:
    """The places where two graphs part that are not computed from ``first``, nor from one another.

    Each is as sure as the first: ops that take equal inputs and give other values, leaves that
    differ, a gradient that one side stops, adds or lacks. Behind a divergence values cannot tell:
    there it is ops of another kind between the same ops.
    """
    if first.divergence is None:
        return []
    findings = [first]
    explained = computed_from(first, matching)
    for finding in _candidates(matching, missing):
        if len(findings) > MOST:
            break
        is_known = any(finding.parts <= known.parts for known in findings)
        is_new = not (is_known or _is_explained(finding, explained) or _is_read(finding, findings))
        if is_new and finding.divergence and is_difference(finding, finding.divergence.phase):
            findings.append(finding)
            explained |= computed_from(finding, matching)
    findings += partings_by_structure(matching.first.nodes, findings, explained)
    findings += _unexplained_results(matching, findings)
    return sorted(findings[1:], key=_place)


def _unexplained_results(
    matching: Matching, findings: list[FoundDivergence]
) -> Iterator[FoundDivergence]:
    """Results that differ, and that no divergence found so far leads to on each of its sides.

    Two ops that give several of them, such as both running statistics, are one divergence.
    """
    reached = []
    for finding in findings:
        # Also through values that agree: numbers in another order do, and zeros with other zeros.
        start = finding.parts.union(
            _gradients_of(finding.parts | finding.laid, finding.laid, matching)
        )
        reached.append((finding, reach(start, lambda node: node.consumers)))
    makers = {_makers(*finding.parts) for finding in findings if _is_of_results(finding)}
    for mismatch in matching.differing_results():
        if any(_leads_to(finding, onwards, mismatch) for finding, onwards in reached):
            continue
        pair = _makers(mismatch.first, mismatch.second)
        if mismatch.phase == "backward" or pair not in makers:
            makers.add(pair)
            yield from_result(mismatch, mismatch.phase)


def _is_of_results(finding: FoundDivergence) -> bool:
    return all(part.is_result for part in finding.parts)


def _makers(*results: Vertex) -> frozenset[Vertex]:
    """The nodes that make some results."""
    return frozenset(value.node.origin for result in results for value in result.inputs)


def _gradients_of(
    parts: Iterable[Vertex], laid: frozenset[Vertex], matching: Matching
) -> list[Vertex]:
    """The nodes in backward that derive from those in forward among some, and may differ.

    Of those that are ``laid`` otherwise, all do.
    """
    gradients: list[Vertex] = []
    for part in parts:
        derived = part.side.derived.get(part, ()) if part.phase == "forward" else ()
        may_differ = partial(_may_differ, matching)
        gradients += derived if part in laid else filter(may_differ, derived)
    return gradients


def _may_differ(matching: Matching, node: Vertex) -> bool:
    return not node.is_agreed or _is_rearranged(node, matching)


def _is_rearranged(node: Vertex, matching: Matching) -> bool:
    """Whether a node holds the numbers of its partner in another order."""
    if node.partner is None or node.main is None or node.partner.main is None:
        return False
    return matching.layout(node.value, node.partner.value) is not None


def _leads_to(finding: FoundDivergence, onwards: set[Vertex], mismatch: Mismatch) -> bool:
    """Whether a result is computed from what differs, on each side that takes part.

    Where a net differs in forward, or stops a gradient, nothing may depend on the leaf any more on
    one of them: that gradient is 0.
    """
    results = [mismatch.on(part.side) for part in finding.parts]
    is_in_net = any(part.phase == "forward" for part in finding.parts)
    if is_in_net and not onwards.isdisjoint(results):
        results = [result for result in results if not _is_of_nothing(result)]
    return onwards.issuperset(results)


def _is_of_nothing(gradient: Vertex) -> bool:
    return any(is_nothing(unwrapped(value)) for value in gradient.inputs)


def _is_explained(finding: FoundDivergence, explained: set[Vertex]) -> bool:
    """Whether what takes part is computed from another divergence; a leaf is computed from none."""
    leaves = {part for part in finding.parts if part.is_leaf}
    return not explained.isdisjoint(leaves or finding.parts)


def _is_read(finding: FoundDivergence, findings: list[FoundDivergence]) -> bool:
    """Whether a leaf of one side alone is what an op of another divergence reads."""
    if not isinstance(finding.divergence, LoneLeaf):
        return False
    users: set[Vertex] = set()
    for part in finding.parts:
        if part.is_leaf:
            users.update(part.consumers)
    return any(not users.isdisjoint(other.parts) for other in findings)


def _place(finding: FoundDivergence) -> tuple[bool, int, int]:
    """The sort key of a divergence: where it stands in the execution order of the two graphs."""
    is_in_backward = finding.divergence is not None and finding.divergence.phase == "backward"
    ranks = [part.step for part in finding.parts]
    return is_in_backward, min(ranks), max(ranks)


def computed_from(finding: FoundDivergence, matching: Matching) -> set[Vertex]:
    """What takes part in a divergence, and all that is computed from it before values agree again.

    Equal numbers in another order do not agree.

    The gradient of an op that differs differs as well, whether it reads what the op yields or not.
    """
    # What stops a gradient passes numbers on that both sides have: none in forward differs by it.
    parts = set(finding.parts)
    if not isinstance(finding.divergence, OtherValue):
        parts = {part for part in parts if not _passes_on_what_both_have(part)}
    start = parts.union(_gradients_of(parts | finding.laid, finding.laid, matching))
    behind = reach(start, lambda node: node.consumers)
    has_both_sides = len({part.side.name for part in parts}) > 1

    def differs(node: Vertex) -> bool:
        # A value that is computed from what differs on one side alone is equal by chance.
        is_chance = has_both_sides and node.partner is not None and node.partner not in behind
        return not node.is_agreed or is_chance or _is_rearranged(node, matching)

    return reach(start, lambda node: filter(differs, node.consumers))


def _passes_on_what_both_have(part: Vertex) -> bool:
    return part.origin is not part and part.origin.counterpart is not None


def _candidates(matching: Matching, missing: list[Vertex]) -> Iterator[FoundDivergence]:
    """What may be a divergence of its own, in the order in which it would explain the rest."""
    in_forward = matching.differing_results("forward")
    in_backward = matching.differing_results("backward")
    # Where no result of forward differs, a difference in it may still show in the gradients.
    yield from _behind(matching, in_forward or in_backward, "forward")
    yield from _behind(matching, in_backward, "backward")
    yield from (from_missing(result) for result in missing)


def _behind(matching: Matching, results: list[Mismatch], phase: Phase) -> Iterator[FoundDivergence]:
    suspects_of = suspects_behind(matching, results, phase)
    if phase == "forward":
        suspects_of = {side: suspects.forward_only() for side, suspects in suspects_of.items()}
    yield from _leaves(matching, suspects_of, phase)
    for finding in from_backtrace(matching, results, phase):
        # An op too many is one only where nothing before it differs.
        if not isinstance(finding.divergence, ExtraOps):
            yield finding
    if phase == "backward":
        yield from gradients_stopped(suspects_of)
        yield from gradients_added(suspects_of)
    yield from _ops(matching, suspects_of, phase)


def _leaves(
    matching: Matching, suspects_of: SuspectsBySide, phase: Phase
) -> Iterator[FoundDivergence]:
    """Leaves among the suspects with another value on each side, or on one side only."""
    suspected: set[Vertex] = set()
    for suspects in suspects_of.values():
        suspected.update(suspects.nodes)
    for mismatch in matching.mismatches:
        if mismatch.first.is_leaf and not suspected.isdisjoint((mismatch.first, mismatch.second)):
            yield from_leaf(mismatch, phase)
    for side, suspects in suspects_of.items():
        kinds = {kind(node) for node in suspects_of[side.other].nodes}
        for leaf in suspects.leaves():
            user = suspects.user_of(leaf)
            # Behind a divergence a mask of its own is harmless: an op that has one more input is not.
            is_one_more = user is not None and (kind(user) in kinds or _is_bias(leaf, user))
            if is_one_more or suspects.is_alone(leaf):
                yield from_lone_leaf(leaf, user, phase)


def _is_bias(leaf: Vertex, user: Vertex) -> bool:
    return user.family == "add" and len(leaf.value.shape) == 1


def _ops(
    matching: Matching, suspects_of: SuspectsBySide, phase: Phase
) -> Iterator[FoundDivergence]:
    """Two ops that take the same inputs and give other values, those of one kind first."""
    first, second = suspects_of.values()
    others = _by_inputs(second)
    for node in first.nodes:
        alike = others.get(frozenset(origin.counterpart for origin in node.origins), [])
        alike.sort(key=partial(_unlikeness, node))
        for other in alike:
            if _part(matching, node, other):
                yield two_ops(matching, node, other, suspects_of, phase)
                break


def _unlikeness(node: Vertex, other: Vertex) -> tuple[bool, bool]:
    """The sort key of nodes that read what another one does: of other kinds, then read by other kinds."""
    return not same_work(node, other), not are_followed_alike(node, other)


def _by_inputs(suspects: Suspects) -> dict[frozenset[Vertex | None], list[Vertex]]:
    """The suspects by the set of what they read."""
    by_inputs: dict[frozenset[Vertex | None], list[Vertex]] = {}
    for node in suspects.nodes:
        by_inputs.setdefault(frozenset(node.origins), []).append(node)
    return by_inputs


def _part(matching: Matching, node: Vertex, other: Vertex) -> bool:
    value, other_value = node.value, other.value
    if node.phase != other.phase or value.size != other_value.size:
        return False
    # Ops of other kinds stand in the same place where the same kinds of ops follow.
    is_alike = same_work(node, other) or are_followed_alike(node, other)
    if not is_alike or node.family in SILENT or not take_the_same(node, other):
        return False
    is_different = value.agrees(other_value) is False
    return is_different and not matching.are_noise(value, other_value, NOISE)
