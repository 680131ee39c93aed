"""One view of a gradient graph: what reads what, what lies before a node and behind it, rows of ops."""

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import TypeVar

import networkx as nx

from explorer.model.graph import Edge, GradGraph, Node, Output, Slot
from explorer.operators.families import family

RESHAPES = frozenset({"reshape"})
"""The families that put the same numbers into another shape."""

MOVES = frozenset({"reshape", "transpose"})
"""The families that only move numbers."""

Shape = tuple[int, ...]

T = TypeVar("T")


class GraphView:
    """A graph with its edges by what they lead to and come from; those of an order alone are left out.

    Of the outputs in ``turned``, by their nodes' ids and numbers, the values stand here with channels first,
    and have them last in the framework.
    """

    def __init__(self, graph: GradGraph, turned: Collection[Slot] = ()) -> None:
        self.graph = graph
        self._turned = turned
        self.nodes = graph.by_id()
        self._into: dict[str, list[Edge]] = {}
        self._out_of: dict[str, list[Edge]] = {}
        for edge in graph.edges:
            # Control edges only order execution: no value passes along them.
            if edge.kind != "control" and edge.origin in self.nodes and edge.target in self.nodes:
                self._into.setdefault(edge.target, []).append(edge)
                self._out_of.setdefault(edge.origin, []).append(edge)
        self._derived: dict[str, list[Node]] = {}
        for node in graph.nodes:
            if node.forward is not None:
                self._derived.setdefault(node.forward, []).append(node)

    @cached_property
    def network(self) -> nx.DiGraph:
        """The ids of the nodes, and which of them reads which."""
        network = nx.DiGraph()
        network.add_nodes_from(self.nodes)
        network.add_edges_from(
            (edge.origin, edge.target) for edges in self._into.values() for edge in edges
        )
        return network

    # What is beside a node

    def into(self, node: Node) -> list[Edge]:
        """The edges that lead to a node."""
        return self._into.get(node.id, [])

    def out_of(self, node: Node) -> list[Edge]:
        """The edges that come from a node."""
        return self._out_of.get(node.id, [])

    def origins(self, node: Node) -> list[Node]:
        """What a node reads."""
        return [self.nodes[edge.origin] for edge in self.into(node)]

    def shape(self, slot: Slot) -> Shape:
        """The shape of an output; () of one that was not recorded."""
        name, place = slot
        outputs = self.nodes[name].outputs
        return outputs[place].shape if place < len(outputs) else ()

    def slots(self, node: str) -> list[Slot]:
        """The outputs that a node reads."""
        return [(edge.origin, edge.output) for edge in self._into.get(node, [])]

    def readers(self, node: Node) -> list[Node]:
        """What reads a node, each once."""
        return [self.nodes[reader] for reader in {edge.target: None for edge in self.out_of(node)}]

    def results(self, node: Node) -> list[Node]:
        """The results that a node yields."""
        readers = [self.nodes[edge.target] for edge in self.out_of(node)]
        return [reader for reader in readers if reader.kind == "output"]

    def tensors(self, node: Node) -> dict[int, Output]:
        """The tensors that an op reads, by their place among them."""
        slots = {}
        for edge in self.into(node):
            outputs = self.nodes[edge.origin].outputs
            if edge.output < len(outputs):
                slots[edge.input] = outputs[edge.output]
        return dict(sorted(slots.items()))

    def derived(self, node: Node) -> list[Node]:
        """The ops in backward of a node in forward."""
        return self._derived.get(node.id, [])

    # Shapes as the framework has them

    def own_shapes(self, node: Node) -> dict[int, Shape]:
        """The shapes of what an op reads, as it reads them."""
        return {
            slot: _turned_back(output.shape) if self.reads_turned(node, slot) else output.shape
            for slot, output in self.tensors(node).items()
        }

    def own_shape(self, node: Node, shape: Shape) -> Shape:
        """A shape of what an op yields, as it yields it."""
        return _turned_back(shape) if (node.id, 0) in self._turned else shape

    def reads_turned(self, node: Node, slot: int) -> bool:
        """Whether a tensor that an op reads, by its place, has channels last in the framework."""
        read = {(edge.origin, edge.output) for edge in self.into(node) if edge.input == slot}
        return not read.isdisjoint(self._turned)

    # Rows of ops

    def next_op(self, node: Node, passed: frozenset[str] = RESHAPES) -> Node | None:
        """The only op that computes from a node in its phase; those of the families ``passed`` are.

        Which elements are greater than others, say for backward, is no further value.
        """

        def computing(node: Node) -> list[Node]:
            ops = _ops(self.readers(node), node)
            return [it for it in ops if {out.dtype for out in it.outputs} != {"bool"}] or ops

        return self._only_op(node, computing, passed)

    def previous_op(self, node: Node, passed: frozenset[str] = RESHAPES) -> Node | None:
        """The only op that a node computes from in its phase; those of the families ``passed`` are."""
        return self._only_op(node, lambda node: _ops(self.origins(node), node), passed)

    def _only_op(
        self, node: Node, onwards: Callable[[Node], list[Node]], passed: frozenset[str]
    ) -> Node | None:
        for _ in self.nodes:  # on a cycle there is no end
            ops = onwards(node)
            if len(ops) != 1:
                return None
            (node,) = ops
            if family(node.op) not in passed:
                return node
        return None

    def is_handed_on(self, origin: str, node: Node) -> bool:
        """Whether a node is ``origin``, or what only moves its numbers ends there."""
        seen: set[str] = set()
        while origin != node.id and origin not in seen:
            seen.add(origin)
            moving = self.nodes[origin]
            if family(moving.op) not in MOVES or not self.into(moving):
                return False
            origin = self.into(moving)[0].origin
        return origin == node.id

    def row(self, first: str, end: str) -> list[Node]:
        """Two nodes and all between them, in order; the first alone where no end is given."""
        if end in ("", first):
            return [self.nodes[first]]
        between = nx.descendants(self.network, first) & nx.ancestors(self.network, end)
        inner = [node for node in self.graph.nodes if node.id in between - {first, end}]
        return [self.nodes[first], *inner, self.nodes[end]]

    def row_up_to(self, last: Node, count: int) -> list[Node]:
        """At most ``count`` ops in a row that end with one."""
        row = [last]
        while len(row) < count:
            ops = _ops(self.origins(row[0]), last)
            if len(ops) != 1:
                break
            row.insert(0, ops[0])
        return row

    def read_by_row(self, last: Node, count: int) -> list[Node]:
        """What ``count`` ops in a row read from outside, of which a node is the last; its own first."""
        row = [last]
        reads: list[Node] = []
        for node in row:
            for origin in self.origins(node):
                is_of_row = len(row) < count and origin.kind == "op" and origin.phase == last.phase
                (row if is_of_row else reads).append(origin)
        return [read for read in reads if read not in row]

    # The whole graph

    def behind(self, node: str) -> set[str]:
        """A node and all that is computed from it."""
        behind: set[str] = nx.descendants(self.network, node)
        return behind | {node}

    def execution_order(self) -> list[Node]:
        """The nodes as they were recorded to run, forward first, but that none precedes what it reads."""

        def place(id_: str) -> tuple[bool, bool, int]:
            node = self.nodes[id_]
            is_leaf = node.kind in ("input", "parameter")  # before all work of their phase
            return node.phase == "backward", not is_leaf, node.order

        recorded = sorted(self.nodes, key=place)
        ranks = {id_: rank for rank, id_ in enumerate(recorded)}
        # As a rule they are in order: then no network is built.
        edges = itertools.chain.from_iterable(self._into.values())
        if all(ranks[edge.origin] < ranks[edge.target] for edge in edges):
            return [self.nodes[id_] for id_ in recorded]
        ready: list[str] = []
        with contextlib.suppress(nx.NetworkXUnfeasible):
            ready.extend(nx.lexicographical_topological_sort(self.network, ranks.__getitem__))
        # What lies on a cycle is never ready: it follows in the order that was recorded.
        return [self.nodes[id_] for id_ in dict.fromkeys([*ready, *recorded])]


def reach(start: Iterable[T], onwards: Callable[[T], Iterable[T]]) -> set[T]:
    """All nodes reached from ``start``, which is included, by going ``onwards`` repeatedly.

    For ways with conditions: walks of networkx through a filtered graph take five times as long.
    """
    reached = set(start)
    stack = list(reached)
    while stack:
        for node in onwards(stack.pop()):
            if node not in reached:
                reached.add(node)
                stack.append(node)
    return reached


def _ops(nodes: Iterable[Node], of: Node) -> list[Node]:
    """The ops among some nodes, in the phase of another one."""
    return [node for node in nodes if node.kind == "op" and node.phase == of.phase]


def _turned_back(shape: Shape) -> Shape:
    """A shape with channels first as one with them last."""
    return (shape[0], *shape[2:], shape[1])
