"""Why a node has no partner."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import networkx as nx

from explorer.compare.align.contrasts import FoundDivergence, contrast, place
from explorer.compare.align.matching import Matching
from explorer.compare.align.suspects import BUFFER, find_suspects
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex
from explorer.model.graph import Phase
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
    known = Known(matching, findings)
    for side in matching.sides:
        for node in side.nodes:
            if not node.is_paired or node.is_partial:
                found = filter(None, (rule(known, node) for rule in RULES))
                reason, why = next(found, None) or known.regions.why(node)
                yield Unpaired(side=side.name, node=node.id, reason=reason, why=why)


class Known:
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
            # Back into forward if any result differs there.
            results = [node for node in differing if node.is_result]
            is_in_forward = any(result.phase == "forward" for result in results)
            phase: Phase = "forward" if is_in_forward else "backward"
            self.spoiled.update(find_suspects(results, phase).nodes)
            for node in side.nodes:
                if node.is_free and not self.spoiled.isdisjoint(node.feeders):
                    self.spoiled.add(node)


# What differs


def _wrong(known: Known, node: Vertex) -> Because | None:
    """A node whose value is not what its op yields, or hardly can be."""
    if node.is_refuted:
        return "refuted", _recorded(node, "proof", "disproved")
    counterpart = known.contradictions.get(node)
    if counterpart is None:
        return None
    found = contrast(node.value, counterpart.value)
    return "difference", Contradicted(place(counterpart), found.values, found.gap)


def _recorded(node: Vertex, what: str, otherwise: Fact) -> Why:
    """What a node's record says of something that is missing; ``otherwise`` where it says nothing."""
    absence = node.record.missing.get(what)
    return Recorded(absence) if absence else Plain(otherwise)


def _partial(_: Known, node: Vertex) -> Because | None:
    """A node of which only a further output has a partner."""
    partner = node.representative.partner
    if partner is None:
        return None
    is_alike = partner.family == node.family and partner.value.size == node.value.size
    if not (partner.is_partial and is_alike):
        return "decomposed", FurtherOutput(place(partner))
    found = contrast(node.value, partner.value)
    return "difference", FurtherOutput(place(partner), found.values, found.gap)


def _named(known: Known, node: Vertex) -> Because | None:
    """Leaves and results are compared by name."""
    if node in known.differing:
        is_buffer = not node.is_result and BUFFER.search(node.name) is not None
        why = OtherNamedValue(node.name if is_buffer else node.name or node.op, is_buffer=is_buffer)
        return "bookkeeping" if is_buffer else "difference", why
    if node.is_packed:
        return "bookkeeping", Plain("in_pieces")
    if not node.is_result:
        return None
    # A net may return more than another; a gradient that is not there is a difference.
    return "unobserved" if node.phase == "forward" else "difference", NoResult(node.name)


def _plain(known: Known, node: Vertex) -> Because | None:
    """A node that a divergence explains, that computes nothing, or of which nothing is known or needed."""
    if node in known.parts:
        return "difference", Plain("first_difference")
    if node in known.spoiled:
        return "consequence", Plain("computed_from_difference")
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


RULES: tuple[Callable[[Known, Vertex], Because | None], ...] = (
    _wrong,
    _partial,
    _named,
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
        # The first value of each side in each bucket.
        self._holders: dict[Side, dict[Bucket, OutputValue]] = {side: {} for side in matching.sides}
        for side, holders in self._holders.items():
            for value in (value for node in side.nodes for value in node.values):
                if value.bucket is not None:
                    holders.setdefault(value.bucket, value)
        work = [*matching.first.work, *matching.second.work]
        unpaired = [node for node in work if node.is_free]
        network = nx.Graph()
        network.add_nodes_from(unpaired)
        # Consumers come first: where they lead to is where their feeders lead to.
        for node in reversed(unpaired):
            goals = []
            for consumer in node.users_in_phase:
                is_of_second = consumer.partner is not None and not consumer.side.is_first
                network.add_edge(node, consumer.partner if is_of_second else consumer)
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
        holders = self._holders[node.side.other]
        held_there = [holders[bucket] for bucket in node.value.neighbours() if bucket in holders]
        for held in held_there:
            if held is not held.node.main:
                return "decomposed", OutputOf(held.node.op, held.output)
        for held in held_there if node.value.is_distinctive else ():
            is_twin = held.node.is_work and held.node.partner and held.node.phase == node.phase
            if is_twin:
                return "decomposed", Repeated(place(held.node))

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
