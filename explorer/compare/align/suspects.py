"""Suspects: the nodes between a result that differs and the last values that agree.

Divergences are looked for among them, by finders that stand in tables.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple

from explorer.compare.align.contrasts import FoundDivergence, from_leaf, from_lone_leaf
from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.provenance import readers, shared_origins
from explorer.compare.align.sameness import unit_of
from explorer.compare.align.vertices import Side, Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.graph import Phase

BUFFER = re.compile(r"(running_|moving_|num_batches)")
"""Parameters that a forward pass updates: running statistics and their counters."""

SILENT = frozenset({"expand", "tuple", "fill"})
"""Families that spread, bundle or fill in values: never themselves where graphs part."""

PRODUCTS = frozenset({"matmul", "conv"})
"""Families of products with weights: many an engine adds a bias in the same op.

They have an op in backward wherever something is differentiated.
"""

TAKEN_APART = (
    "unbind unstack chunk chunkview tensorsplit split splitwithsizes splitwithsize splitwithsizeview"
    " splittensor splittensorview"
)
SAME_PLACE = {"div": "mul", "sub": "add", **dict.fromkeys(TAKEN_APART.split(), "slice")}
"""Families that do the work of another: a division is a product with the inverse.

What takes all parts of a tensor at once takes the first of them.
"""


@dataclass(frozen=True)
class Suspects:
    """One side's unpaired nodes on the way to results that differ, in execution order.

    ``entries`` are those of them whose inputs agree.
    """

    nodes: tuple[Vertex, ...]
    entries: tuple[Vertex, ...]

    def is_alone(self, leaf: Vertex) -> bool:
        """Whether the first op that a leaf meets anything else in reads no other suspect.

        Where it does, graphs have parted before: the leaf may be a mask that is harmless.
        """
        made_of_leaf = {leaf}
        for node in self.nodes:
            read = set(node.feeders)
            if made_of_leaf.isdisjoint(read):
                continue
            if not read <= made_of_leaf:
                return read.intersection(self.nodes) <= made_of_leaf
            made_of_leaf.add(node)
        return True

    def downstream(self, entry: Vertex) -> list[Vertex]:
        """The suspects computed from an entry, without it, in execution order."""
        return in_order(_computed_from(entry, self.nodes) - {entry})

    def leading_to(self, last: Vertex) -> set[Vertex]:
        """The suspects that one was computed from, itself included."""
        members = set(self.nodes)
        return reach([last], lambda node: members.intersection(node.feeders))

    def lineage(self, last: Vertex) -> list[Vertex]:
        """Those of them that were observed, in execution order."""
        return in_order(node for node in self.leading_to(last) if node.main)

    def stretch(self, entry: Vertex) -> list[Vertex]:
        """The suspects from an entry on that the same line of the same module made.

        They are one expression in the source, in several ops.
        """
        if entry.is_leaf or not (entry.scope or entry.source):
            return [entry]
        same_line = [node for node in self.nodes if node.line == entry.line]
        return [it for it in in_order(_computed_from(entry, same_line)) if it.main] or [entry]


def _computed_from(entry: Vertex, nodes: Iterable[Vertex]) -> set[Vertex]:
    """An entry, and those of ``nodes`` that are computed from it."""
    members = set(nodes)
    return reach([entry], lambda node: members.intersection(node.consumers))


def find_suspects(results: Iterable[Vertex], phase: Phase) -> Suspects:
    """Walks back from results of one side through nodes without a partner.

    A forward whose results are equal is above suspicion when ``phase`` is backward.
    """

    def before(node: Vertex) -> list[Vertex]:
        return [feeder for feeder in node.feeders if not is_settled(feeder, phase)]

    start = [feeder for result in results for feeder in before(result)]
    nodes = tuple(in_order(reach(start, before)))
    # The earliest suspects that can be where graphs part, none of them computed from another. What
    # is silent and reads no entry is not behind one: its users may still be entries.
    behind: set[Vertex] = set()
    entries = []
    for node in nodes:
        if not behind.isdisjoint(node.feeders):
            behind.add(node)
        elif node.is_leaf or (node.main and node.family not in SILENT):
            behind.add(node)
            entries.append(node)
    return Suspects(nodes, tuple(entries) or nodes[:1])


def is_settled(node: Vertex, phase: Phase) -> bool:
    """Whether a node's value is known to agree, or cannot be where graphs part in ``phase``."""
    there = node.there
    # A pair by a further output may hold another main value: so do the places beside a sort's numbers.
    if node.partner and not node.is_agreed and node.value.agrees(node.partner.value) is False:
        there = None
    # What the other side keeps of it in a coarser dtype for backward says nothing of the last digits.
    if there and (there.phase == node.phase or unit_of(there.value) <= unit_of(node.value)):
        return True
    if node.is_bookkeeping and node.inputs:
        # A part that is handed on is known to the other side as a part of the same.
        taken_apart = node.inputs[0].node.there
        if taken_apart and any(part.agrees(node.value) is True for part in taken_apart.values[1:]):
            return True
    if node.is_leaf:
        # What backward starts from is one number over and over.
        bucket = node.values[0].bucket
        is_seed = node.phase == "backward" and bucket is not None and bucket.is_plain
        # A buffer may be observed before or after its update: it is named beside the op that reads
        # it, never blamed alone.
        return is_seed or BUFFER.search(node.name) is not None or node.is_packed
    return node.kind == "constant" or (phase == "backward" and node.phase == "forward")


# Searches


@dataclass(frozen=True)
class Search:
    """What finders go by: results that differ, and the suspects of both sides behind them.

    Behind gradients that differ there may be suspects in forward although its results agree, within
    tolerance or because a later op hides the difference.
    """

    matching: Matching
    results: list[Mismatch]
    suspects_of: Mapping[Side, Suspects]
    phase: Phase

    @classmethod
    def behind(cls, matching: Matching, results: list[Mismatch], phase: Phase) -> "Search":
        """The search behind some results: in forward among its suspects alone.

        The way back from a gradient leads to these through backward.
        """
        suspects_of = {}
        for side in matching.sides:
            found = find_suspects([mismatch.on(side) for mismatch in results], phase)
            nodes, entries = (
                tuple(node for node in some if phase in ("backward", node.phase))
                for some in (found.nodes, found.entries)
            )
            suspects_of[side] = Suspects(nodes, entries)
        return cls(matching, results, suspects_of, phase)

    @cached_property
    def counterparts(self) -> tuple[Vertex, Vertex] | None:
        """The first side's earliest entry that has a counterpart, and that one.

        Where the two share no inputs, a later suspect in the place of one of them that does with the other:
        it is no entry itself where one of its inputs is something else on its side.
        """
        first, second = self.suspects_of.values()
        for node in first.entries:
            best = max(second.entries, key=partial(_likeness, node), default=None)
            if best is None or not any(_likeness(node, best)):
                continue
            if not shared_origins(node, best):
                for entry, there in ((node, second), (best, first)):
                    for later in there.nodes:
                        is_alike = later.phase == entry.phase and same_work(entry, later)
                        if is_alike and shared_origins(entry, later):
                            return (node, later) if entry is node else (later, best)
            return node, best
        return None

    def other_starts(self) -> Iterator[FoundDivergence]:
        """Leaves among the suspects that have another value on each side."""
        suspected = {node for suspects in self.suspects_of.values() for node in suspects.nodes}
        for mismatch in self.matching.mismatches:
            is_suspect = not suspected.isdisjoint((mismatch.first, mismatch.second))
            if is_suspect and mismatch.first.is_leaf:
                yield from_leaf(mismatch, self.phase)

    @property
    def relation(self) -> "Relation":
        """How the earliest suspects of the two sides stand to one another."""
        if self.counterparts is not None:
            return "alike" if same_work(*self.counterparts) else "unlike"
        has_entries = any(suspects.entries for suspects in self.suspects_of.values())
        return "apart" if has_entries else "none"


def _likeness(node: Vertex, other: Vertex) -> tuple[int, bool, bool, bool]:
    """The likeness of two nodes; of more similar nodes the tuple is greater.

    Shared inputs count first, then the same kind of op, then the same module, then what reads them: of
    two parts of one tensor it is this alone that tells which is which.
    """
    if node.phase != other.phase:
        return 0, False, False, False
    is_same_module = node.scope != "" and node.scope == other.scope
    likeness = shared_origins(node, other), same_work(node, other), is_same_module
    return *likeness, any(likeness) and are_followed_alike(node, other)


Relation = Literal["alike", "unlike", "apart", "none"]
"""Ops of one kind that correspond, or of two; none that correspond; no suspects whose inputs agree."""


class Finder(NamedTuple):
    """A way to find divergences: in which ``phase`` and ``relations`` of suspects, in all where not said."""

    find: Callable[[Search], Iterator[FoundDivergence]]
    phase: Phase | None = None
    relations: tuple[Relation, ...] = ()


def found_by(finders: Iterable[Finder], search: Search) -> Iterator[FoundDivergence]:
    """What finders find of a search that is of their phase and relation, in their order."""
    for finder in finders:
        is_of_phase = finder.phase in (None, search.phase)
        if is_of_phase and (not finder.relations or search.relation in finder.relations):
            yield from finder.find(search)


# Kinds of ops


def same_work(one: Vertex, other: Vertex) -> bool:
    """Whether two nodes are the same kind of op, as far as the names tell."""
    return one.family == other.family and not one.is_bookkeeping


def kind(node: Vertex) -> str:
    """The family of an op, or the one whose work it does."""
    return SAME_PLACE.get(node.family, node.family)


def users_of(node: Vertex) -> list[Vertex]:
    """The forward ops that read a node, directly or through steps that pass its numbers on."""
    computing = [user for user in readers(node) if user.phase == "forward"]
    return [user for user in computing if user.is_work and user.origin is not node.origin]


def are_followed_alike(node: Vertex, other: Vertex) -> bool:
    """Whether the same kinds of ops, or results of the same names, read two nodes."""
    followers = []
    for it in (node, other):
        names = {f"result {consumer.name}" for consumer in it.consumers if consumer.is_result}
        followers.append(names.union(map(kind, users_of(it))))
    return not followers[0].isdisjoint(followers[1])


# Leaves


def lone_leaves(search: Search, *, are_behind: bool = False) -> Iterator[FoundDivergence]:
    """The leaves among the earliest suspects that only one side has.

    Those that meet another suspect may be masks, which are harmless behind a divergence: of leaves that
    ``are_behind`` one, they count where the op that reads them has a counterpart, and so one more input.
    """
    for side, suspects in search.suspects_of.items():
        kinds = {kind(node) for node in search.suspects_of[side.other].nodes}
        for leaf in [node for node in suspects.entries if node.is_leaf]:
            user = next((it for it in leaf.consumers if it in suspects.nodes), None)
            is_one_more = False
            if are_behind and user is not None:
                is_bias = user.family == "add" and len(leaf.value.shape) == 1
                is_one_more = kind(user) in kinds or is_bias
            if is_one_more or suspects.is_alone(leaf):
                yield from_lone_leaf(leaf, user, search.phase)
