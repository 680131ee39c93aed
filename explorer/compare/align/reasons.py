"""Why a node has no partner."""

from collections import Counter
from collections.abc import Iterable, Iterator

from explorer.compare.align.contrasts import FoundDivergence, contrast, place
from explorer.compare.align.matching import Matching
from explorer.compare.align.suspects import BUFFER, find_suspects
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex
from explorer.model.unpaired import (
    Contradicted,
    Fact,
    FurtherOutput,
    NoResult,
    OtherNamedValue,
    OutputOf,
    PassedOn,
    Plain,
    Reason,
    Recorded,
    Repeated,
    Steps,
    Unpaired,
    Why,
)

Parts = frozenset[Vertex]
"""The nodes that take part in a divergence."""

Because = tuple[Reason, Why]
"""A reason, and the facts behind it."""


def reasons(matching: Matching, findings: Iterable[FoundDivergence]) -> Iterator[Unpaired]:
    """Every node whose value has no partner and why, a side at a time, in execution order."""
    regions = Regions(matching)
    parts: Parts = frozenset().union(*(finding.parts for finding in findings))
    for side in matching.sides:
        differing = matching.differing(side)
        spoiled = _spoiled(side, differing, parts)
        for node in side.nodes:
            if not node.is_paired or node.is_partial:
                # That values differ is worth more to know than what kind of node holds them.
                because = (
                    _why_wrong(matching, node) or _why_partial(node) or _why_named(node, differing)
                )
                because = because or _why_spoiled(node, parts, spoiled)
                because = because or _why_plain(node) or regions.why(node)
                reason, why = because
                yield Unpaired(side=side.name, node=node.id, reason=reason, why=why)


# What differs


def _why_wrong(matching: Matching, node: Vertex) -> Because | None:
    """A node whose value is not what its op yields, or hardly can be."""
    if node.is_refuted:
        return "refuted", _recorded(node, "proof", "disproved")
    counterpart = matching.contradictions.get(node)
    if counterpart is None:
        return None
    found = contrast(node.value, counterpart.value)
    return "difference", Contradicted(place(counterpart), found.values, found.gap)


def _recorded(node: Vertex, what: str, otherwise: Fact) -> Why:
    """What a node's record says of something that is missing; ``otherwise`` where it says nothing."""
    absence = node.record.missing.get(what)
    return Recorded(absence) if absence else Plain(otherwise)


def _why_partial(node: Vertex) -> Because | None:
    """A node of which only a further output has a partner."""
    partner = node.representative.partner
    if partner is None:
        return None
    is_alike = partner.family == node.family and partner.value.size == node.value.size
    if not (partner.is_partial and is_alike):
        return "decomposed", FurtherOutput(place(partner))
    found = contrast(node.value, partner.value)
    return "difference", FurtherOutput(place(partner), found.values, found.gap)


def _why_named(node: Vertex, differing: set[Vertex]) -> Because | None:
    """Leaves and results are compared by name."""
    if node in differing:
        return _why_differing(node)
    if node.is_packed:
        return "bookkeeping", Plain("in_pieces")
    if not node.is_result:
        return None
    # A net may return more than another; a gradient that is not there is a difference.
    reason: Reason = "unobserved" if node.phase == "forward" else "difference"
    return reason, NoResult(node.name)


def _why_differing(node: Vertex) -> Because:
    if node.is_result or not BUFFER.search(node.name):
        return "difference", OtherNamedValue(node.name or node.op, is_buffer=False)
    return "bookkeeping", OtherNamedValue(node.name, is_buffer=True)


def _why_spoiled(node: Vertex, parts: Parts, spoiled: set[Vertex]) -> Because | None:
    if node in parts:
        return "difference", Plain("first_difference")
    if node in spoiled:
        return "consequence", Plain("computed_from_difference")
    return None


def _spoiled(side: Side, differing: set[Vertex], parts: Parts) -> set[Vertex]:
    """All unpaired nodes that lead to a differing result, or follow from where the graphs part."""
    spoiled = {part for part in parts if part.side is side} | _leading_to(differing)
    for node in side.nodes:
        if node.is_free and not spoiled.isdisjoint(node.feeders):
            spoiled.add(node)
    return spoiled


def _leading_to(differing: set[Vertex]) -> set[Vertex]:
    """All unpaired nodes that lead to results that differ, back into forward if any is there."""
    results = [node for node in differing if node.is_result]
    in_forward = [result for result in results if result.phase == "forward"]
    if not in_forward:
        return set(find_suspects(results, "backward").nodes)
    return {*find_suspects(in_forward, "forward").nodes, *find_suspects(results, "forward").nodes}


# What does not matter


def _why_plain(node: Vertex) -> Because | None:
    """A node that computes nothing, or of which nothing is known or needed."""
    if node.kind == "constant":
        return "bookkeeping", Plain("constant")
    if node.is_leaf:
        return "bookkeeping", Plain("unlisted")
    if node.main is None:
        return "unobserved", _recorded(node, "values", "unobserved")
    if node.origin is not node:
        return "bookkeeping", PassedOn(node.origin.op)
    if node.is_bookkeeping:
        return "bookkeeping", Plain("fills_in")
    if node not in node.side.leading:
        return "bookkeeping", Plain("unused")
    return None


# What is done in more ops, or in fewer


class Regions:
    """Unpaired work of both sides that leads to the same pairs, counted.

    The side with more of it is the decomposed one.

    Regions are disjoint sets of nodes, a pair being one node of them, its first one (union-find;
    Tarjan, Efficiency of a good but not linear set union algorithm, Journal of the ACM 22, 1975).
    """

    def __init__(self, matching: Matching) -> None:
        """Joins unpaired nodes with their consumers of the same phase.

        A consumer with a partner joins the regions of both sides.
        """
        self._up: dict[Vertex, Vertex] = {}
        self._towards: dict[Vertex, Vertex] = {}
        self._ops: Counter[tuple[Vertex, Side]] = Counter()
        self._holders = {side: _first_holders(side) for side in matching.sides}
        work = [*matching.first.work, *matching.second.work]
        unpaired = [node for node in work if node.is_free]
        # Consumers come first: where they lead to is where their feeders lead to.
        for node in reversed(unpaired):
            self._lead(node)
        for node in unpaired:
            if not node.is_bookkeeping:
                self._ops[self._top(node), node.side] += 1

    def why(self, node: Vertex) -> Because:
        """Decomposed or fused, and towards which op."""
        opposite = node.side.other
        held = self._further_output(node)
        if held is not None:
            return "decomposed", OutputOf(held.node.op, held.output)
        twin = self._twin(node)
        if twin is not None:
            return "decomposed", Repeated(place(twin))

        top = self._top(node)
        own, others = self._ops[top, node.side], self._ops[top, opposite]
        reason: Reason = "fused" if own < others else "decomposed"
        return reason, self._steps(node, own, others)

    def _further_output(self, node: Vertex) -> OutputValue | None:
        """The output of an op of the other side, not its main one, that holds the same."""
        holders = self._holders[node.side.other]
        for bucket in node.value.neighbours():
            held = holders.get(bucket)
            if held is not None and held is not held.node.main:
                return held
        return None

    def _twin(self, node: Vertex) -> Vertex | None:
        """The first op of the other side that holds the same value, and has another partner."""
        if not node.value.is_distinctive:
            return None
        for bucket in node.value.neighbours():
            held = self._holders[node.side.other].get(bucket)
            if held and held.node.is_work and held.node.partner and held.node.phase == node.phase:
                return held.node
        return None

    def _steps(self, node: Vertex, own: int, others: int) -> Steps:
        """The ops of both sides that lead to the first pair that a node leads to."""
        pair = self._towards.get(node)
        if pair is None or pair.partner is None:
            return Steps(own, others)
        if pair.partner.is_result:
            return Steps(own, others, name=pair.partner.name)
        return Steps(own, others, op=pair.partner.op)

    def _lead(self, node: Vertex) -> None:
        """Joins a node with its consumers, and notes the first pair that it leads to."""
        goals = []
        for consumer in node.consumers:
            if consumer.phase == node.phase:
                self._join(node, _first_of_pair(consumer))
                goal = self._towards.get(consumer) if consumer.is_free else consumer
                if goal:
                    goals.append(goal)
        if goals:
            self._towards[node] = min(goals, key=lambda goal: goal.rank)

    def _top(self, node: Vertex) -> Vertex:
        """The node that stands for a region."""
        path = []
        while node in self._up:
            path.append(node)
            node = self._up[node]
        self._up.update(dict.fromkeys(path, node))
        return node

    def _join(self, one: Vertex, other: Vertex) -> None:
        top, other_top = self._top(one), self._top(other)
        if top is not other_top:
            self._up[other_top] = top


def _first_of_pair(node: Vertex) -> Vertex:
    """The first side's node of a node's pair; the node itself where it has no partner."""
    if node.partner is None or node.side.is_first:
        return node
    return node.partner


def _first_holders(side: Side) -> dict[Bucket, OutputValue]:
    """The first value of a side in each bucket."""
    holders: dict[Bucket, OutputValue] = {}
    for node in side.nodes:
        for value in node.values:
            if value.bucket is not None:
                holders.setdefault(value.bucket, value)
    return holders
