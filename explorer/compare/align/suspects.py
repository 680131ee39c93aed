"""Suspects: the nodes between a result that differs and the last values that agree.

The first divergence is looked for among them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from explorer.compare.align.matching import Matching, Mismatch
from explorer.compare.align.provenance import readers
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

    def forward_only(self) -> "Suspects":
        """The suspects of forward."""
        nodes = tuple(node for node in self.nodes if node.phase == "forward")
        return Suspects(nodes, tuple(node for node in self.entries if node.phase == "forward"))

    def leaves(self) -> list[Vertex]:
        """The inputs and parameters among the entries."""
        return [node for node in self.entries if node.is_leaf]

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

    def user_of(self, node: Vertex) -> Vertex | None:
        """The first suspect that uses a node."""
        return next((consumer for consumer in node.consumers if consumer in self.nodes), None)

    def downstream(self, entry: Vertex) -> list[Vertex]:
        """The suspects computed from an entry, without it, in execution order."""
        return in_order(_computed_from(entry, self.nodes) - {entry})

    def lineage(self, last: Vertex) -> list[Vertex]:
        """The observed suspects that one was computed from, itself included, in execution order."""
        members = set(self.nodes)
        return _observed(reach([last], lambda node: members.intersection(node.feeders)))

    def lineage_of_inputs(self, node: Vertex) -> list[Vertex]:
        """The lineage of the last observed suspect that a node reads; one that computes goes first."""
        feeding = _observed(set(self.nodes).intersection(node.feeders))
        feeding = [it for it in feeding if it.family not in SILENT] or feeding
        return self.lineage(feeding[-1]) if feeding else []

    def stretch(self, entry: Vertex) -> list[Vertex]:
        """The suspects from an entry on that the same line of the same module made.

        They are one expression in the source, in several ops.
        """
        if entry.is_leaf or not (entry.scope or entry.source):
            return [entry]
        same_line = [node for node in self.nodes if node.line == entry.line]
        return _observed(_computed_from(entry, same_line)) or [entry]


SuspectsBySide = Mapping[Side, Suspects]
"""The suspects of the left side, and of the right."""


def _computed_from(entry: Vertex, nodes: Iterable[Vertex]) -> set[Vertex]:
    """An entry, and those of ``nodes``, which are in execution order, that are computed from it."""
    reached = {entry}
    for node in nodes:
        if not reached.isdisjoint(node.feeders):
            reached.add(node)
    return reached


def _observed(nodes: Iterable[Vertex]) -> list[Vertex]:
    """The nodes whose values are known, in execution order."""
    return in_order(node for node in nodes if node.main)


def suspects_behind(matching: Matching, results: list[Mismatch], phase: Phase) -> SuspectsBySide:
    """The suspects of both sides behind results that differ."""
    suspects_of = {}
    for side in matching.sides:
        suspects_of[side] = find_suspects([mismatch.on(side) for mismatch in results], phase)
    return suspects_of


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
    if _is_known_there(node):
        return True
    if node.is_leaf:
        # What backward starts from is one number over and over.
        bucket = node.values[0].bucket
        is_seed = node.phase == "backward" and bucket is not None and bucket.is_plain
        # A buffer may be observed before or after its update: it is named beside the op that reads
        # it, never blamed alone.
        return is_seed or BUFFER.search(node.name) is not None or node.is_packed
    return node.kind == "constant" or (phase == "backward" and node.phase == "forward")


def _is_known_there(node: Vertex) -> bool:
    """Whether the other side is known to have the same quantity, to as many digits."""
    # A pair by a further output may hold another main value: so do the places beside a sort's numbers.
    if node.partner and not node.is_agreed and node.value.agrees(node.partner.value) is False:
        return False
    there = node.partner if node.is_agreed else node.origin.counterpart
    if there is None:
        return False
    # What the other side keeps of it in a coarser dtype for backward says nothing of the last digits.
    return there.phase == node.phase or unit_of(there.value) <= unit_of(node.value)


def work_onwards(first: Vertex) -> set[tuple[str, int]]:
    """The family and size of every forward op that follows from a node before values agree again."""

    def computing_users(node: Vertex) -> Iterator[Vertex]:
        for user in node.consumers:
            if user.phase == "forward" and not user.is_result and not is_settled(user, "forward"):
                yield user

    onwards = reach([first], computing_users)
    return {(node.family, node.value.size) for node in onwards if not node.is_bookkeeping}


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
