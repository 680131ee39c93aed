"""One graph as the aligner walks it: execution ranks, inputs and consumers of every node."""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

from explorer.compare.align.families import family
from explorer.model.arrays import Summary
from explorer.model.graph import GradGraph, Node

Slot = tuple[str, int]
"""A node id and the number of one of its outputs."""

LEAVES = frozenset({"input", "parameter"})
WORK = frozenset({"op", "call", "accumulate"})


@dataclass(frozen=True)
class Side:
    """A graph's nodes by id, with their rank in execution order (forward first), inputs in slot
    order, and consumers.
    """

    engine: str
    nodes: dict[str, Node]
    rank: dict[str, int]
    inputs: dict[str, tuple[Slot, ...]]
    consumers: dict[str, tuple[str, ...]]

    def family(self, node: str) -> str:
        """The operator family of a node."""
        return family(self.nodes[node].op)

    def value(self, slot: Slot) -> Summary | None:
        """What was observed in an output slot."""
        outputs = self.nodes[slot[0]].outputs
        return outputs[slot[1]].values if slot[1] < len(outputs) else None

    def shape(self, slot: Slot) -> tuple[int, ...]:
        """The shape of an output slot; empty when the node does not say."""
        outputs = self.nodes[slot[0]].outputs
        return outputs[slot[1]].shape if slot[1] < len(outputs) else ()

    def size(self, slot: Slot) -> int:
        """How many elements an output slot has."""
        return prod(self.shape(slot))

    def shown(self, slot: Slot) -> tuple[Summary | None, tuple[int, ...]]:
        """What was observed in an output slot, and its shape."""
        return self.value(slot), self.shape(slot)

    def main(self, node: str) -> int:
        """The first output slot that was observed; -1 when none was."""
        return next(
            (i for i, out in enumerate(self.nodes[node].outputs) if out.values is not None), -1
        )

    def slot(self, node: str) -> Slot:
        """Where a node's value stands: its first observed output, else its first."""
        return node, max(self.main(node), 0)

    def source(self, node: str) -> str:
        """The user's line that made a node, or nothing."""
        return next(iter(self.nodes[node].source), "")

    def named(self, node: str) -> str:
        """A node as a reader finds it: `MatMul` (fc, net.py:12)."""
        found = self.nodes[node]
        where = ", ".join(part for part in (found.scope, self.source(node)) if part)
        label = found.name if found.kind in LEAVES and found.name else found.op
        return f"`{label}`" + (f" ({where})" if where else "")

    def results(self, phase: str | None = None) -> list[str]:
        """The result nodes in execution order, of one phase or of both."""
        return [
            n
            for n in self.ordered()
            if self.nodes[n].kind == "output" and phase in (None, self.nodes[n].phase)
        ]

    def result(self, node: str) -> Slot:
        """Where the value of a result stands: in its own slot, else in the slot that feeds it."""
        fed = self.inputs[node]
        return fed[0] if self.main(node) < 0 and fed else self.slot(node)

    def ordered(self) -> list[str]:
        """All node ids in execution order."""
        return sorted(self.rank, key=self.rank.__getitem__)


def view(graph: GradGraph) -> Side:
    """The walkable form of a graph; edges that only order execution carry no value and are left
    out.
    """
    nodes = graph.by_id()
    feeds: dict[str, list[tuple[int, str, int]]] = {node: [] for node in nodes}
    users: dict[str, set[str]] = {node: set() for node in nodes}
    for edge in graph.edges:
        if edge.kind != "control" and edge.origin in nodes and edge.target in nodes:
            feeds[edge.target].append((edge.input, edge.origin, edge.output))
            users[edge.origin].add(edge.target)
    rank = _ranks(graph, users)
    inputs = {
        node: tuple((origin, slot) for _, origin, slot in sorted(found))
        for node, found in feeds.items()
    }
    consumers = {node: tuple(sorted(found, key=rank.__getitem__)) for node, found in users.items()}
    return Side(graph.engine, nodes, rank, inputs, consumers)


def _ranks(graph: GradGraph, users: dict[str, set[str]]) -> dict[str, int]:
    """Execution order, corrected where it contradicts the edges: a node never ranks before its
    inputs.
    """
    key = {
        n.id: (n.phase == "backward", n.kind not in LEAVES, n.order, i)
        for i, n in enumerate(graph.nodes)
    }
    waiting = dict.fromkeys(key, 0)
    for found in users.values():
        for target in found:
            waiting[target] += 1
    ready = [(key[node], node) for node, count in waiting.items() if not count]
    heapify(ready)
    rank: dict[str, int] = {}
    while ready:
        node = heappop(ready)[1]
        rank[node] = len(rank)
        for target in users[node]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, (key[target], target))
    for node in sorted(key.keys() - rank.keys(), key=key.__getitem__):
        rank[node] = len(rank)
    return rank
