"""Why a node has no partner, and what depends on random draws."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from explorer.compare.align.contrasts import Contrast, FoundDivergence, contrast, found, place
from explorer.compare.align.matching import Matching
from explorer.compare.align.sameness import elements_beside
from explorer.compare.align.suspects import BUFFER, find_suspects
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex
from explorer.compare.graphs.view import reach
from explorer.compare.results.remarks import draws_random_numbers
from explorer.model.alignment import (
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
from explorer.model.divergence import Gap, OtherRate, Reading
from explorer.model.graph import Phase

Because = tuple[Reason, Why]
"""A reason, and the facts behind it."""


def reasons(
    matching: Matching, findings: Iterable[FoundDivergence], drawn: Collection[Vertex]
) -> Iterator[Unpaired]:
    """Every node whose value has no partner and why, the left side's first, in execution order.

    ``drawn`` are those that depend on a random draw on both sides.
    """
    known = Known(matching, findings)
    for side in sorted(matching.sides, key=lambda side: side.name):
        for node in side.nodes:
            if not node.is_paired or node.is_partial:
                reason, why = _differing(known, node) or _plain(known, node)
                if node in drawn:
                    reason, why = "random", Plain("random")
                yield Unpaired(side=side.name, node=node.id, reason=reason, why=why)


class Known:
    """What reasons go by.

    ``parts`` take part in divergences, ``differing`` are the leaves and results that share their names
    and not their values; ``spoiled`` are all unpaired nodes that lead to a differing result, or follow
    from where the graphs part. ``holders`` are the first value of each side in each bucket.

    Regions are the components of unpaired nodes with their consumers of the same phase; a consumer with a
    partner, whose pair is one node, joins the regions of both sides. ``ops`` counts the unpaired work of
    each side in each, and ``towards`` is the first pair that a node leads to.
    """

    def __init__(self, matching: Matching, findings: Iterable[FoundDivergence]) -> None:
        self.contradictions = matching.contradictions
        self.parts = {part for finding in findings for part in finding.parts}
        self.differing: set[Vertex] = set()
        self.spoiled = set(self.parts)
        self.holders: dict[Side, dict[Bucket, OutputValue]] = {}
        for side in matching.sides:
            differing = matching.differing(side)
            self.differing |= differing
            # Back into forward if any result differs there.
            results = [node for node in differing if node.is_result]
            is_in_forward = any(result.phase == "forward" for result in results)
            phase: Phase = "forward" if is_in_forward else "backward"
            self.spoiled.update(find_suspects(results, phase).nodes)
            holders = self.holders[side] = {}
            for node in side.nodes:
                if node.is_free and not self.spoiled.isdisjoint(node.feeders):
                    self.spoiled.add(node)
                for value in node.values:
                    if value.bucket is not None:
                        holders.setdefault(value.bucket, value)

        self.towards: dict[Vertex, Vertex] = {}
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
                goal = self.towards.get(consumer) if consumer.is_free else consumer
                if goal:
                    goals.append(goal)
            if goals:
                self.towards[node] = min(goals, key=lambda goal: goal.rank)
        regions = enumerate(nx.connected_components(network))
        self.region = {node: region for region, nodes in regions for node in nodes}
        self.ops: Counter[tuple[int | None, Side]] = Counter(
            (self.region[node], node.side) for node in unpaired if not node.is_bookkeeping
        )


# What differs


def _differing(known: Known, node: Vertex) -> Because | None:
    """What is wrong or other than on the other side; None where that is not the reason.

    It counts first: that values differ is worth more to know than what kind of node it is.
    """
    if node.is_refuted:
        return "refuted", _recorded(node, "proof", "disproved")
    counterpart = known.contradictions.get(node)
    if counterpart is not None:
        values = contrast(node.value, counterpart.value)
        return "difference", Contradicted(place(counterpart), values.values, values.gap)
    partner = node.representative.partner
    if partner is not None:
        # Only a further output of it has a partner.
        is_alike = partner.family == node.family and partner.value.size == node.value.size
        if not (partner.is_partial and is_alike):
            return "decomposed", FurtherOutput(place(partner))
        values = contrast(node.value, partner.value)
        return "difference", FurtherOutput(place(partner), values.values, values.gap)
    # Leaves and results are compared by name.
    if node in known.differing:
        is_buffer = not node.is_result and BUFFER.search(node.name) is not None
        why = OtherNamedValue(node.name if is_buffer else node.name or node.op, is_buffer=is_buffer)
        return "bookkeeping" if is_buffer else "difference", why
    if node.is_packed:
        return "bookkeeping", Plain("in_pieces")
    if node.is_result:
        # A net may return more than another; a gradient that is not there is a difference.
        return "unobserved" if node.phase == "forward" else "difference", NoResult(node.name)
    return None


def _recorded(node: Vertex, what: str, otherwise: Fact) -> Why:
    """What a node's record says of something that is missing; ``otherwise`` where it says nothing."""
    absence = node.record.missing.get(what)
    return Recorded(absence) if absence else Plain(otherwise)


def _plain(known: Known, node: Vertex) -> Because:
    """A node that a divergence explains, that computes nothing, or of which nothing is known or needed.

    What computes something is done in more ops than on the other side, or in fewer.
    """
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
    return _decomposed(known, node)


def _decomposed(known: Known, node: Vertex) -> Because:
    """Work that is done in more ops than on the other side, or in fewer, and towards which op.

    The side with more unpaired work that leads to the same pairs is the decomposed one.
    """
    holders = known.holders[node.side.other]
    held_there = [holders[bucket] for bucket in node.value.near if bucket in holders]
    for held in held_there:
        if held is not held.node.main:
            return "decomposed", OutputOf(held.node.op, held.output)
    for held in held_there if node.value.is_distinctive else ():
        if held.node.is_work and held.node.partner and held.node.phase == node.phase:
            return "decomposed", Repeated(place(held.node))

    region = known.region.get(node)
    own, others = known.ops[region, node.side], known.ops[region, node.side.other]
    reason: Reason = "fused" if own < others else "decomposed"
    # The ops of both sides that lead to the first pair that the node leads to.
    pair = known.towards.get(node)
    there = pair.partner if pair else None
    if there is None:
        return reason, Steps(own, others)
    name, op = (there.name, "") if there.is_result else ("", there.op)
    return reason, Steps(own, others, name=name, op=op)


# Random draws


SAME = 1e-3
"""Factors that differ by less than this share are of one rate; rates are written with few digits."""


def random_draws(matching: Matching) -> tuple[set[Vertex], list[FoundDivergence]]:
    """The nodes that depend on a random draw, and the dropouts whose rates differ.

    Each framework draws numbers of its own: beyond a draw on both sides other values say nothing,
    unless both drew the same numbers. A draw on one side alone is a difference like any other.
    """
    ops, others = drawing = [
        [it for it in side.nodes if it.kind == "op" and draws_random_numbers(it.op)]
        for side in matching.sides
    ]
    # Each operator of one side may have drawn the numbers of the one in its place on the other side.
    are_alike = len(ops) == len(others) and all(
        any(one.agrees(other) for one, other in zip(node.values, it.values, strict=False))
        for node, it in zip(ops, others, strict=True)
    )
    if not ops or not others or are_alike:
        return set(), []
    dependent = reach([*ops, *others], lambda node: node.consumers)
    return dependent, _unlike_rates(matching, drawing, dependent)


def _unlike_rates(
    matching: Matching, drawing: list[list[Vertex]], dependent: set[Vertex]
) -> list[FoundDivergence]:
    """The dropouts that have another rate than the one in their place on the other side.

    ``drawing`` are the ops of each side that draw random numbers, ``dependent`` what depends on these.
    Nothing is said unless every draw of the forward is seen to be a dropout: it may by chance drop
    nothing, and of large tensors too little is known.
    """
    rows = []
    for side, draws in sorted(zip(matching.sides, drawing, strict=True), key=lambda it: it[0].name):
        dropouts: list[tuple[Vertex, float]] = []
        for node in side.nodes:
            if node in dependent and node.phase == "forward" and node.kind == "op":
                kept = filter(None, (_factor(node.value, value) for value in node.inputs))
                dropouts += [(node, factor) for factor in kept][:1]
        if len(dropouts) != sum(node.phase == "forward" for node in draws):
            return []
        rows.append(dropouts)
    if len({tuple(node.value.size for node, _ in row) for row in rows}) > 1:
        return []
    differing = []
    for (left, factor), (right, other_factor) in zip(*rows, strict=True):
        factors, apart = (factor, other_factor), abs(factor - other_factor)
        if apart > SAME * max(factors):
            values = Reading("factor", (), factors[:1]), Reading("factor", (), factors[1:])
            rates = 1 - 1 / factor, 1 - 1 / other_factor  # what is dropped in the long run
            facts: dict[str, Any] = {"rates": rates, "factors": factors}
            differing.append(found(OtherRate, Contrast(values, Gap(apart)), left, right, **facts))
    return differing


def _factor(value: OutputValue, given: OutputValue) -> float:
    """The factor of what a dropout keeps of a value; 0 where it is no dropout, or not known."""
    beside = elements_beside(value, given) if value.size == given.size else None
    if beside is None:
        return 0.0
    numbers, dropped_from = beside
    nonzero = dropped_from != 0
    with np.errstate(all="ignore"):
        factors = numbers[nonzero] / dropped_from[nonzero]
    kept = factors[factors != 0]
    if not 0 < kept.size < factors.size:
        return 0.0
    factor = float(np.median(kept))
    is_common = np.allclose(kept, factor, rtol=SAME, atol=0)
    return factor if is_common and factor > 1 + SAME else 0.0
