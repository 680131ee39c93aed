"""Why a node has no partner."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import networkx as nx

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

Because = tuple[Reason, Why]
"""A reason, and the facts behind it."""


def reasons(matching: Matching, findings: Iterable[FoundDivergence]) -> Iterator[Unpaired]:
    """Every node whose value has no partner and why, a side at a time, in execution order."""
    search = Search(matching, findings)
    for side in matching.sides:
        for node in side.nodes:
            if not node.is_paired or node.is_partial:
                found = filter(None, (rule(search, node) for rule in RULES))
                reason, why = next(found, None) or search.regions.why(node)
                yield Unpaired(side=side.name, node=node.id, reason=reason, why=why)


class Search:
    """What reasons go by.

    ``parts`` take part in divergences, ``differing`` are the leaves and results that share their names
    and not their values; ``spoiled`` are all unpaired nodes that lead to a differing result, or follow
    from where the graphs part.
    """

    def __init__(self, matching: Matching, findings: Iterable[FoundDivergence]) -> None:
        self.contradictions = matching.contradictions
        self.regions = Regions(matching)
        self.parts = {part for finding in findings for part in finding.parts}
        self.differing: set[Vertex] = set()
        self.spoiled = set(self.parts)
        for side in matching.sides:
            differing = matching.differing(side)
            self.differing |= differing
            self.spoiled |= _leading_to(differing)
            for node in side.nodes:
                if node.is_free and not self.spoiled.isdisjoint(node.feeders):
                    self.spoiled.add(node)


def _leading_to(differing: set[Vertex]) -> set[Vertex]:
    """All unpaired nodes that lead to results that differ, back into forward if any is there."""
    results = [node for node in differing if node.is_result]
    in_forward = [result for result in results if result.phase == "forward"]
    if not in_forward:
        return set(find_suspects(results, "backward").nodes)
    return {*find_suspects(in_forward, "forward").nodes, *find_suspects(results, "forward").nodes}


# What differs


def _wrong(search: Search, node: Vertex) -> Because | None:
    """A node whose value is not what its op yields, or hardly can be."""
    if node.is_refuted:
        return "refuted", _recorded(node, "proof", "disproved")
    counterpart = search.contradictions.get(node)
    if counterpart is None:
        return None
    found = contrast(node.value, counterpart.value)
    return "difference", Contradicted(place(counterpart), found.values, found.gap)


def _recorded(node: Vertex, what: str, otherwise: Fact) -> Why:
    """What a node's record says of something that is missing; ``otherwise`` where it says nothing."""
    absence = node.record.missing.get(what)
    return Recorded(absence) if absence else Plain(otherwise)


def _partial(_: Search, node: Vertex) -> Because | None:
    """A node of which only a further output has a partner."""
    partner = node.representative.partner
    if partner is None:
        return None
    is_alike = partner.family == node.family and partner.value.size == node.value.size
    if not (partner.is_partial and is_alike):
        return "decomposed", FurtherOutput(place(partner))
    found = contrast(node.value, partner.value)
    return "difference", FurtherOutput(place(partner), found.values, found.gap)


def _named(search: Search, node: Vertex) -> Because | None:
    """Leaves and results are compared by name."""
    if node in search.differing:
        is_buffer = not node.is_result and BUFFER.search(node.name) is not None
        why = OtherNamedValue(node.name if is_buffer else node.name or node.op, is_buffer=is_buffer)
        return "bookkeeping" if is_buffer else "difference", why
    if node.is_packed:
        return "bookkeeping", Plain("in_pieces")
    if not node.is_result:
        return None
    # A net may return more than another; a gradient that is not there is a difference.
    return "unobserved" if node.phase == "forward" else "difference", NoResult(node.name)


def _spoiled(search: Search, node: Vertex) -> Because | None:
    if node in search.parts:
        return "difference", Plain("first_difference")
    if node in search.spoiled:
        return "consequence", Plain("computed_from_difference")
    return None


# What does not matter


def _plain(_: Search, node: Vertex) -> Because | None:
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


RULES: tuple[Callable[[Search, Vertex], Because | None], ...] = (
    _wrong,
    _partial,
    _named,
    _spoiled,
    _plain,
)
"""Of reasons the first counts: that values differ is worth more to know than what kind of node it is."""


# What is done in more ops, or in fewer


class Regions:
    """Unpaired work of both sides that leads to the same pairs, counted.

    The side with more of it is the decomposed one.

    Regions are the components of unpaired nodes with their consumers of the same phase; a consumer with a
    partner, whose pair is one node, joins the regions of both sides.
    """

    def __init__(self, matching: Matching) -> None:
        self._towards: dict[Vertex, Vertex] = {}
        self._holders = {side: _first_holders(side) for side in matching.sides}
        work = [*matching.first.work, *matching.second.work]
        unpaired = [node for node in work if node.is_free]
        network = nx.Graph()
        network.add_nodes_from(unpaired)
        # Consumers come first: where they lead to is where their feeders lead to.
        for node in reversed(unpaired):
            goals = []
            for consumer in node.users_in_phase:
                network.add_edge(node, _first_of_pair(consumer))
                goal = self._towards.get(consumer) if consumer.is_free else consumer
                if goal:
                    goals.append(goal)
            if goals:
                self._towards[node] = min(goals, key=lambda goal: goal.rank)
        self._region = {
            node: region
            for region, nodes in enumerate(nx.connected_components(network))
            for node in nodes
        }
        self._ops: Counter[tuple[int | None, Side]] = Counter(
            (self._region[node], node.side) for node in unpaired if not node.is_bookkeeping
        )

    def why(self, node: Vertex) -> Because:
        """Decomposed or fused, and towards which op."""
        held = self._further_output(node)
        if held is not None:
            return "decomposed", OutputOf(held.node.op, held.output)
        twin = self._twin(node)
        if twin is not None:
            return "decomposed", Repeated(place(twin))

        region = self._region.get(node)
        own, others = self._ops[region, node.side], self._ops[region, node.side.other]
        reason: Reason = "fused" if own < others else "decomposed"
        # The ops of both sides that lead to the first pair that the node leads to.
        pair = self._towards.get(node)
        if pair is None or pair.partner is None:
            return reason, Steps(own, others)
        if pair.partner.is_result:
            return reason, Steps(own, others, name=pair.partner.name)
        return reason, Steps(own, others, op=pair.partner.op)

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
