"""The search for pairs of nodes: by unique values first, then by provenance, then by order.

What is still free then may be a further output of a node in a pair.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

from explorer.compare.align.matching import (
    Matching,
    pair_leaves,
    pair_results,
    pair_with_constants,
)
from explorer.compare.align.provenance import (
    Candidates,
    are_akin,
    are_consistent,
    evidence,
    shared_origins,
    successors,
    trace_origins,
)
from explorer.compare.align.sameness import TIGHT, are_noise, are_one, fingerprint
from explorer.compare.align.vertices import Bucket, OutputValue, Side, Vertex
from explorer.model.alignment import How

# Sequences that keep the order of both sides


T = TypeVar("T")

NEAREST = 64
"""The number of candidates of one item that are considered, those nearest in position."""


def nearest(candidates: Sequence[T], position: int) -> Sequence[T]:
    """The candidates that are considered for one of several items which share them, by its position."""
    low = max(0, min(position - NEAREST // 2, len(candidates) - NEAREST))
    return candidates[low : low + NEAREST]


def increasing(
    choices: Iterable[tuple[T, Sequence[T]]], rank: Callable[[T], int]
) -> list[tuple[T, T]]:
    """Pairs (item, candidate), at most one of each, with strictly increasing ranks of candidates.

    ``choices`` come in the order of their items. Hunt and Szymanski, A fast algorithm for computing
    longest common subsequences, Communications of the ACM 20 (5), 1977.
    """
    # tails[n] is the least rank that a chain of n + 1 pairs ends at, ends[n] the pair it ends with.
    tails: list[int] = []
    ends: list[int] = []
    chained: list[tuple[T, T, int]] = []  # item, candidate, and the pair that stands before it
    for item, candidates in choices:
        # From the last candidate to the first, so that no item follows upon itself.
        for candidate in sorted(candidates, key=rank, reverse=True):
            length = bisect_left(tails, rank(candidate))
            chained.append((item, candidate, ends[length - 1] if length else -1))
            tails[length : length + 1] = [rank(candidate)]
            ends[length : length + 1] = [len(chained) - 1]

    chosen = []
    place = ends[-1] if ends else -1
    while place >= 0:
        item, candidate, place = chained[place]
        chosen.append((item, candidate))
    return chosen[::-1]


# The search


NodeGroup = tuple[str, ...]
Pool = dict[tuple[NodeGroup, Bucket], list[OutputValue]]
"""The free values of one side, by the group of their nodes and by what they hold."""

SWEEPS = 3
"""The number of times provenance is followed down the graph and up again.

Each way works from the pairs of the one before.
"""

NO_EVIDENCE = 0.0, 0.0, 0
"""The score that a candidate must beat."""


@dataclass(frozen=True)
class Rule:
    """Which nodes may pair, and by which of their values.

    Like pairs with like, or ``across`` phases and with constants; ``main_only`` is by main values.
    ``needed`` says whether a result depends on them, None that it does not matter.
    """

    across: bool
    main_only: bool
    needed: bool | None = True

    def group(self, node: Vertex) -> NodeGroup | None:
        """The group in which a node's partner is looked for; None where it may not get one."""
        if not node.is_free or node.is_reserved or node.is_refuted or node.is_result:
            return None
        if self.needed not in (None, node.is_needed):
            return None
        if self.across:
            # Work may be done in the other phase, or folded into a constant; leaves stay leaves.
            return None if node.is_leaf else ("any", "any")
        if node.is_work:
            return node.phase, "work"
        return node.phase, "leaf" if node.is_leaf else "constant"

    def values(self, node: Vertex) -> list[OutputValue]:
        """The values by which a node may pair."""
        if self.main_only:
            return [node.main] if node.main else []
        return node.values

    def how(self, evidence: How) -> How:
        """The evidence that a pair under this rule is recorded with."""
        return "across" if self.across else evidence


RULES = (
    Rule(across=False, main_only=True),
    Rule(across=False, main_only=False),
    Rule(across=True, main_only=True),
)
"""What pairs before the graphs are searched for differences: code that nothing uses must not matter."""

UNUSED_RULES = (
    Rule(across=False, main_only=True, needed=False),
    *(replace(rule, needed=None) for rule in RULES),
)
"""What pairs after that: like code that nothing uses, then anything with it."""


def pair_nodes(first: Side, second: Side, alike: Collection[str]) -> Matching:
    """Pairs the nodes of two sides; ``alike`` are the names of results that are known not to differ.

    The same graphs always give the same pairs, in order of discovery.
    """
    fingerprint(first, second)
    trace_origins(first)
    trace_origins(second)
    matching = Matching(first, second, alike)
    # What is called the same comes first: no other value may take the place of a named one.
    pair_leaves(matching)
    pair_results(matching)
    _pair_by_rules(matching, RULES)
    # A compiler may hold the same constant once for forward and once for backward.
    for side in matching.sides:
        work = (node for node in side.work if node.is_needed and not node.is_refuted)
        pair_with_constants(matching, work, side, "across")
    return matching


def pair_unused(matching: Matching, parts: Iterable[Vertex]) -> None:
    """Pairs nodes that no result depends on; ``parts`` take part in divergences and get no partner."""
    apart = [node for node in parts if not node.is_reserved]
    for node in apart:
        node.is_reserved = True
    _pair_by_rules(matching, UNUSED_RULES)
    for node in apart:
        node.is_reserved = False


def _pair_by_rules(matching: Matching, rules: Iterable[Rule]) -> None:
    first, second = matching.sides
    for rule in rules:
        pools = _pool(first, rule), _pool(second, rule)
        # The same rounding on both sides is better evidence than agreement within tolerance.
        _pair_unique_values(matching, rule, *pools, TIGHT)
        _pair_unique_values(matching, rule, *pools, inf)
        _pair_by_provenance(matching, rule)
        _pair_in_order(matching, rule, same_family=True)
        if not rule.across:
            _pair_in_order(matching, rule, same_family=False)
    # Where values cannot tell, by op and inputs alone: one side's was not observed, or is noise about zero.
    for node in matching.first.work:
        for other in successors(node) if node.is_free and not node.is_refuted else ():
            pair = node.value, other.value
            if node.value.agrees(other.value) is None or are_noise(*pair):
                matching.join(*pair, "provenance")
                break


def _pool(side: Side, rule: Rule, by_family: bool = False) -> Pool:
    pool: Pool = {}
    for node in side.nodes:
        group = rule.group(node)
        if group is not None:
            group = (*group, node.family) if by_family else group
            for value in rule.values(node):
                if value.bucket is not None:
                    pool.setdefault((group, value.bucket), []).append(value)
    return pool


# By value


def _pair_unique_values(
    matching: Matching, rule: Rule, pool: Pool, other_pool: Pool, limit: float
) -> None:
    """Pairs a value that exactly one free node of each side holds.

    A number repeated throughout a tensor proves nothing.
    """
    for group, bucket in pool:
        if not bucket.is_distinctive or not _only_holder(pool, group, bucket, limit):
            continue
        other = _only_holder(other_pool, group, bucket, limit)
        # Agreement within tolerance is not transitive: the value need not be in the bucket that led there.
        value = _only_holder(pool, group, other.bucket, limit) if other and other.bucket else None
        if value and other and value.agrees(other) and are_consistent(value.node, other.node):
            matching.join(value, other, rule.how("value"))


def _only_holder(pool: Pool, group: NodeGroup, bucket: Bucket, limit: float) -> OutputValue | None:
    """The value of the only free node that holds what a bucket does, as far as ``limit`` allows."""
    holder: OutputValue | None = None
    for near, apart in bucket.near.items():
        for value in _free(pool, group, near) if apart <= limit else ():
            if holder is None:
                holder = value
            elif value.node is not holder.node:
                return None
    return holder


def _free(pool: Pool, group: NodeGroup, bucket: Bucket) -> Iterator[OutputValue]:
    """The values in a bucket whose nodes have got no partner since the pool was made."""
    for value in pool.get((group, bucket), ()):
        if value.node.is_free:
            yield value


# By provenance


def _pair_by_provenance(matching: Matching, rule: Rule) -> None:
    """Pairs, among equal values, a node with the one whose neighbours are its neighbours' partners.

    Neighbours are the nodes that feed it, that it feeds, and the forward node that it derives from.
    """
    candidates = Candidates(matching.second, rule.values)
    down = matching.first.nodes
    up = down[::-1]
    for sweep, nodes in enumerate((down, up) * SWEEPS):
        before = len(matching.matches)
        for node in nodes:
            best: tuple[OutputValue, OutputValue] | None = None
            best_score = NO_EVIDENCE
            group = rule.group(node)
            for value in rule.values(node) if group else ():
                if rule.across and not value.is_distinctive:
                    continue  # a seed of ones is no operator whose value happens to be one
                for candidate in candidates.of(value):
                    may_pair = rule.group(candidate.node) == group
                    if not may_pair or not are_consistent(node, candidate.node):
                        continue
                    score = *evidence(value, candidate), -candidate.node.rank
                    if score > best_score:
                        best, best_score = (value, candidate), score
            if best is not None:
                pair = _made(*best), _made(*best[::-1])
                matching.join(*pair, rule.how("value+provenance"))
        # The first way up sees what the way down could not, even where that found nothing.
        if sweep and len(matching.matches) == before:
            break


def _made(value: OutputValue, other: OutputValue) -> OutputValue:
    """The value itself; where a reshape passes it on and the other node is none, its maker's.

    Or else what only passes numbers on would take the maker's partner.
    """
    maker = value.node.origin
    if not value.is_main or not value.node.is_bookkeeping or other.node.is_bookkeeping:
        return value
    may_pair = maker.is_free and maker.is_work and not maker.is_refuted
    is_maker_of_the_other = other.is_main and maker.family == other.node.family
    if may_pair and is_maker_of_the_other and maker.phase == other.node.phase:
        return maker.value if maker.value.agrees(other) else value
    return value


# By order


def _pair_in_order(matching: Matching, rule: Rule, same_family: bool) -> None:
    """Pairs what is still ambiguous along the longest sequence that both execution orders agree on.

    With ``same_family``, only ops of one family pair.
    """
    pool, other_pool = (_pool(side, rule, same_family) for side in matching.sides)
    choices: list[tuple[OutputValue, Sequence[OutputValue]]] = []
    for (group, bucket), values in pool.items():
        if bucket.is_distinctive or (same_family and not rule.across):
            others = [other for near in bucket.near for other in _free(other_pool, group, near)]
            choices += [(value, nearest(others, place)) for place, value in enumerate(values)]
    choices.sort(key=lambda choice: (choice[0].node.rank, choice[0].output))
    for value, other in increasing(choices, lambda value: value.node.rank):
        # A node may stand in the sequence by several outputs.
        are_free = value.node.is_free and other.node.is_free
        # Zeros are equal to any zeros: only where they come from tells them apart.
        is_telling = value.is_distinctive or are_akin(value.node, other.node)
        if are_free and is_telling and are_consistent(value.node, other.node):
            matching.join(value, other, rule.how("value+order"))


# Further outputs of nodes in a pair


Sharing = tuple[OutputValue, OutputValue, How]
"""An output of a paired op, the value of a node of the other side that is the same, and the evidence."""


def share_outputs(matching: Matching) -> None:
    """Pairs what is still free with a further output of a paired op."""
    for side in matching.sides:
        # All are found before any is paired: one that is taken now may not decide what is kin.
        sharings = [*_equal_outputs(side), *_makers_of_results(matching, side)]
        for output, other, how in sharings:
            if not output.is_taken and not other.node.is_paired:
                matching.share(output, other, how)


def _equal_outputs(side: Side) -> Iterator[Sharing]:
    """Outputs of paired ops, each with a free node of the other side of equal value and descent."""
    unpaired: dict[Bucket, list[Vertex]] = {}
    for node in side.other.work:
        if node.value.bucket is not None and not node.is_paired:
            unpaired.setdefault(node.value.bucket, []).append(node)
    for node in side.work:
        if node.is_free:
            continue
        further = [output for output in node.values if output is not node.main and output.varies]
        for output in further:
            for bucket in output.near:
                for other in unpaired.get(bucket, ()):
                    # They derive from what is paired in forward, or are fed by what is paired.
                    are_kin = shared_origins(node, other) > 0
                    if node.forward and other.forward:
                        partner = node.forward.representative.partner
                        are_kin = partner is not None and partner is other.forward.representative
                    if are_kin and node.phase == other.phase:
                        yield output, other.value, "value+provenance"


def _makers_of_results(matching: Matching, side: Side) -> Iterator[Sharing]:
    """The outputs and nodes that make the results of one name.

    The name tells where numbers do not, as in a gradient that cancels to noise about zero.
    """
    for match in matching.matches:
        result, other_result = match.on(side).node, match.on(side.other).node
        if match.how != "name" or not result.is_result:
            continue
        # Each is fed by one value at most.
        for output, other in zip(result.inputs[:1], other_result.inputs[:1], strict=False):
            are_work = output.node.is_work and other.node.is_work
            if are_work and not output.node.is_free and are_one(output, other):
                how: How = "value+provenance" if output.agrees(other) else "provenance"
                yield output, other, how
