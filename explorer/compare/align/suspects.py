"""Suspects: the nodes between a result that differs and the last values that agree.

The first divergence is looked for among them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from explorer.compare.align.fingerprints import unit_of
from explorer.compare.align.vertices import Side, Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.graph import Phase

BUFFER = re.compile(r"(running_|moving_|num_batches)")
"""Parameters that a forward pass updates: running statistics and their counters."""

SILENT = frozenset({"expand", "tuple", "fill"})
"""Families that spread, bundle or fill in values: never themselves where graphs part."""


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
        return Suspects(_in_forward(self.nodes), _in_forward(self.entries))

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
        for consumer in node.consumers:
            if consumer in self.nodes:
                return consumer
        return None

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
        has_line = entry.scope or entry.source
        if entry.is_leaf or not has_line:
            return [entry]
        same_line = [node for node in self.nodes if _line(node) == _line(entry)]
        return _observed(_computed_from(entry, same_line)) or [entry]


SuspectsBySide = Mapping[Side, Suspects]
"""The suspects of the left side, and of the right."""


def find_suspects(results: Iterable[Vertex], phase: Phase) -> Suspects:
    """Walks back from results of one side through nodes without a partner.

    A forward whose results are equal is above suspicion when ``phase`` is backward.
    """
    start: list[Vertex] = []
    for result in results:
        start += _unsettled(result.feeders, phase)
    reached = reach(start, lambda node: _unsettled(node.feeders, phase))
    nodes = tuple(in_order(reached))
    return Suspects(nodes, _entries(nodes) or nodes[:1])


def _entries(nodes: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """The earliest suspects that can be where graphs part, none of them computed from another."""
    # What is silent and reads no entry is not behind one: its users may still be entries.
    behind: set[Vertex] = set()
    entries = []
    for node in nodes:
        if not behind.isdisjoint(node.feeders):
            behind.add(node)
        elif node.is_leaf or (node.main and node.family not in SILENT):
            behind.add(node)
            entries.append(node)
    return tuple(entries)


def _unsettled(nodes: Iterable[Vertex], phase: Phase) -> list[Vertex]:
    return [node for node in nodes if not is_settled(node, phase)]


def is_settled(node: Vertex, phase: Phase) -> bool:
    """Whether a node's value is known to agree, or cannot be where graphs part in ``phase``."""
    if _is_known_there(node):
        return True
    if node.is_leaf:
        # A buffer may be observed before or after its update: it is named beside the op that reads
        # it, never blamed alone.
        is_buffer = BUFFER.search(node.name) is not None
        return _is_seed(node) or is_buffer or node.is_packed
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


def _is_seed(leaf: Vertex) -> bool:
    """Whether a leaf is what backward starts from: one number over and over."""
    bucket = leaf.values[0].bucket
    return leaf.phase == "backward" and bucket is not None and bucket.is_plain


def unpaired_onwards(first: Vertex) -> set[Vertex]:
    """A forward node and all forward nodes that follow from it before values agree again."""
    return reach([first], lambda node: _unsettled(_computing_users(node), "forward"))


def _computing_users(node: Vertex) -> Iterator[Vertex]:
    for consumer in node.consumers:
        if consumer.phase == "forward" and not consumer.is_result:
            yield consumer


def same_work(one: Vertex, other: Vertex) -> bool:
    """Whether two nodes are the same kind of op, as far as the names tell."""
    return one.family == other.family and not one.is_bookkeeping


def kind(node: Vertex) -> str:
    """The family of an op, or the one whose work it does."""
    return SAME_PLACE.get(node.family, node.family)


def users_of(node: Vertex) -> list[Vertex]:
    """The forward ops that read a node, directly or through steps that pass its numbers on."""
    users = [node]
    for user in users:
        if user.origin is node.origin:
            users += [consumer for consumer in user.consumers if consumer not in users]
    computing = [user for user in users[1:] if user.phase == "forward"]
    return [user for user in computing if user.is_work and user.origin is not node.origin]


def followers(node: Vertex) -> set[str]:
    """The kinds of the ops that read a node, and the names of results that it is."""
    followers = {kind(user) for user in users_of(node)}
    for consumer in node.consumers:
        if consumer.is_result:
            followers.add(f"result {consumer.name}")
    return followers


def are_followed_alike(node: Vertex, other: Vertex) -> bool:
    """Whether the same kinds of ops, or results of the same names, read two nodes."""
    return not followers(node).isdisjoint(followers(other))


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


def _in_forward(nodes: Iterable[Vertex]) -> tuple[Vertex, ...]:
    return tuple(node for node in nodes if node.phase == "forward")


def _line(node: Vertex) -> tuple[str, ...]:
    return node.phase, node.scope, node.source
