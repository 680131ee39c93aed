"""A gradient graph while it grows, for every capture; it becomes the record at the end."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from explorer.model.graph import (
    Absence,
    Arguments,
    Edge,
    EdgeKind,
    GradGraph,
    GraphNote,
    Layer,
    LineGap,
    Node,
    NodeKind,
    Output,
    Phase,
    Proof,
    is_users,
)

Slot = tuple[int, int]
"""The number of a node and the number of one of its outputs, both counted from 0."""


class NodeDraft(msgspec.Struct):
    """A node that may still change; the fields are those of Node, and ``forward`` is a number."""

    op: str
    kind: NodeKind
    phase: Phase
    name: str = ""
    scope: str = ""
    source: tuple[str, ...] = ()
    forward: int | None = None
    outputs: tuple[Output, ...] = ()
    body: str = ""
    calls: tuple[str, ...] = ()
    saved_bytes: int = 0
    tape: str = ""
    proof: Proof = ""
    arguments: Arguments = {}
    missing: dict[str, Absence] = {}


COMPUTING = frozenset({"op", "call", "accumulate"})
"""The kinds of nodes that stand on a line of the net."""


class BorrowedLines:
    """The lines of all nodes by number, own and borrowed.

    ``nodes`` are all nodes, ``kept`` the numbers of those that count, ``feeds`` yields the nodes
    that each reads. A sum of gradients takes the first line of every gradient that it adds: no line
    of a net computes a sum. Of the others a node takes, where it has no line of its own, that of a
    gradient of it, of its forward node, or of the nodes that it reads and that read it.
    """

    def __init__(
        self,
        nodes: Sequence[NodeDraft],
        kept: Iterable[int],
        feeds: Callable[[], Mapping[int, Sequence[int]]],
    ) -> None:
        self._reasons: dict[int, LineGap] = {}
        self._nodes = nodes
        self._lines: dict[int, tuple[str, ...]] = {}
        computing = []
        self._bare: list[int] = []
        for number in kept:
            if nodes[number].kind in COMPUTING:
                computing.append(number)
                if self._lacks_line(number):
                    self._bare.append(number)
        if not self._bare:
            return
        # Followed only here: most graphs have a line for every node.
        self._feeds = feeds()
        self._users = readers(self._feeds)
        self._derived = _derived(nodes, computing)
        self._sum_up()
        self._take(self._of_derived, "line_of_gradient")
        self._take(self._of_forward, "line_of_forward")
        # Twice, so that a line also travels against the order of the nodes.
        self._take(self._of_neighbours, "line_of_neighbour")
        self._bare.reverse()
        self._take(self._of_neighbours, "line_of_neighbour")

    def lines(self, number: int) -> tuple[str, ...]:
        """The lines of a node, a user's first."""
        return self._lines.get(number, self._nodes[number].source)

    def missing(self, number: int) -> dict[str, Absence]:
        """What is missing of a node, and why; "source" where its line is borrowed."""
        missing = dict(self._nodes[number].missing)
        if number in self._reasons:
            missing["source"] = Absence(self._reasons[number])
        elif number in self._lines:
            missing.pop("source", None)
        return missing

    def _lacks_line(self, number: int) -> bool:
        node = self._nodes[number]
        is_explained = "source" in node.missing and node.kind != "accumulate"
        return self._line(number) is None and not is_explained

    def _line(self, number: int) -> str | None:
        """The innermost line of the user's code that a node is on."""
        for line in self.lines(number):
            if is_users(line):
                return line
        return None

    def _sum_up(self) -> None:
        """Give sums of gradients the lines of their addends, first addend first."""
        for number in self._bare:
            if self._nodes[number].kind == "accumulate" and not self._nodes[number].source:
                lines: dict[str, None] = {}
                for addend in self._feeds.get(number, ()):
                    lines.update(dict.fromkeys(self.lines(addend)[:1]))
                if lines:
                    self._lines[number] = tuple(lines)

    def _take(self, find: Callable[[int], str | None], reason: LineGap) -> None:
        for number in self._bare:
            if self._line(number) is not None:
                continue
            line = find(number)
            if line is not None:
                self._lines[number] = (line, *self._nodes[number].source)
                self._reasons[number] = reason

    def _of_derived(self, number: int) -> str | None:
        return self._first_line(self._derived.get(number, ()))

    def _of_forward(self, number: int) -> str | None:
        forward = self._nodes[number].forward
        return None if forward is None else self._line(forward)

    def _of_neighbours(self, number: int) -> str | None:
        """A line that what a node reads and what reads it share, else the one of what it reads."""
        before = self._lines_beside(number, self._feeds)
        after = self._lines_beside(number, self._users)
        for line in before:
            if line in after:
                return line
        return next(iter([*before, *after]), None)

    def _lines_beside(self, number: int, beside: Mapping[int, Sequence[int]]) -> list[str]:
        phase = self._nodes[number].phase
        lines = []
        for neighbour in beside.get(number, ()):
            line = self._line(neighbour)
            if line is not None and self._nodes[neighbour].phase == phase:
                lines.append(line)
        return lines

    def _first_line(self, numbers: Iterable[int]) -> str | None:
        for number in numbers:
            line = self._line(number)
            if line is not None:
                return line
        return None


def readers(feeds: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """The nodes that read each node, of the nodes that each reads."""
    of_each: dict[int, list[int]] = {}
    for target, origins in feeds.items():
        for origin in origins:
            of_each.setdefault(origin, []).append(target)
    return of_each


def _derived(nodes: Sequence[NodeDraft], numbers: Iterable[int]) -> dict[int, list[int]]:
    """The backward nodes that derive from each forward node."""
    derived: dict[int, list[int]] = {}
    for number in numbers:
        forward = nodes[number].forward
        if forward is not None:
            derived.setdefault(forward, []).append(number)
    return derived


class GraphBuilder:
    """Nodes in traversal order, and the edges between their slots.

    A node keeps its number for as long as the builder lives: one that is replaced or removed is
    left out of the record, which alone counts anew.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeDraft] = []
        # A dict for its order: an edge that is drawn twice is one edge. The place of an edge that
        # carries no value, only an order of execution, is None.
        self._edges: dict[tuple[Slot, int, int | None], None] = {}
        self._replaced: dict[int, list[Slot]] = {}
        self._ends: dict[Slot, Slot] = {}
        self._removed: set[int] = set()

    # Making nodes and edges

    def add(
        self,
        op: str,
        kind: NodeKind,
        phase: Phase,
        inputs: tuple[Slot | None, ...] = (),
        **fields: Any,
    ) -> int:
        """A new node fed by ``inputs`` (None: a place that no tensor fills); its number.

        ``fields`` are further fields of NodeDraft.
        """
        number = len(self.nodes)
        self.nodes.append(NodeDraft(op, kind, phase, **fields))
        for place, slot in enumerate(inputs):
            if slot is not None:
                self.connect(slot, number, place)
        return number

    def connect(self, origin: Slot, target: int, place: int) -> None:
        """Draw an edge from an output to input ``place`` of node ``target``."""
        self._edges[origin, target, place] = None

    def control(self, before: int, after: int) -> None:
        """Note that ``after`` runs after ``before`` although no value passes between them."""
        self._edges[(before, 0), after, None] = None

    # Taking nodes out again

    def replace(self, number: int, slots: list[Slot]) -> None:
        """Leave a node out of the record: whoever reads its output n reads ``slots[n]`` instead.

        Where it has more outputs than there are slots, the first slot stands for the others.
        """
        if number in self._replaced:
            self._ends.clear()
        self._replaced[number] = slots

    def remove(self, number: int) -> None:
        """Leave a node that no other reads out of the record, with the edges that lead to it."""
        self._removed.add(number)

    def resolve(self, slot: Slot) -> Slot:
        """The slot that is read where ``slot`` is requested, replaced nodes followed to the end."""
        passed = []
        while slot[0] in self._replaced:
            passed.append(slot)
            slot = self._ends.get(slot) or self._stand_in(slot)
        # Chains of thousands of aliases are walked once.
        for known in passed:
            self._ends[known] = slot
        return slot

    def _stand_in(self, slot: Slot) -> Slot:
        """The slot that is read instead of one of a replaced node."""
        slots = self._replaced[slot[0]]
        return slots[slot[1]] if slot[1] < len(slots) else slots[0]

    # Looking

    def kept(self) -> Iterator[int]:
        """The numbers of the nodes that the record will have."""
        return filter(self.is_kept, range(len(self.nodes)))

    def is_kept(self, number: int) -> bool:
        """Whether the record will have a node."""
        return number not in self._replaced and number not in self._removed

    def edges(self) -> Iterator[tuple[Slot, int, int]]:
        """Every edge with a value as it was drawn: its slot, and the node and place it leads to."""
        for origin, target, place in self._edges:
            if place is not None:
                yield origin, target, place

    def connected(self, origin: Slot, target: int, place: int) -> bool:
        """Whether an edge was drawn from that output to that input."""
        return (origin, target, place) in self._edges

    def feeds(self) -> dict[int, list[int]]:
        """The nodes that each node reads, in the order in which the edges were drawn."""
        feeds: dict[int, list[int]] = {}
        for (origin, _), target, _ in self.edges():
            feeds.setdefault(target, []).append(origin)
        return feeds

    def leaves(self) -> dict[str, int]:
        """The numbers of the inputs and parameters of the main graph, by name."""
        leaves: dict[str, int] = {}
        for number, node in enumerate(self.nodes):
            if node.kind in ("input", "parameter") and not node.body:
                leaves[node.name] = number
        return leaves

    def edge_kind(self, origin: int, target: int) -> EdgeKind:
        """The kind of an edge with a value: "saved" from forward into backward, else "data"."""
        crosses = self.nodes[target].phase == "backward" and self.nodes[origin].phase == "forward"
        return "saved" if crosses else "data"

    def forward_of(self, number: int | None) -> int | None:
        """The forward node that a node is or derives from; None where that is not known."""
        if number is None or self.nodes[number].phase == "forward":
            return number
        return self.nodes[number].forward

    # The record

    def ids(self) -> dict[int, str]:
        """The ids that nodes have in the record, by number."""
        return {number: f"n{order}" for order, number in enumerate(self.kept())}

    def record(
        self,
        engine: str,
        case: str,
        stage: str,
        notes: tuple[GraphNote, ...] = (),
        layers: Mapping[str, Layer] = MappingProxyType({}),
    ) -> GradGraph:
        """The graph as a record; an edge from forward into backward is one that was saved.

        ``engine``, ``case``, ``stage`` and ``notes`` are those of GradGraph; of ``layers``, all that
        the net has, it keeps those in which a node runs.
        """
        ids = self.ids()
        edges = self._recorded_edges(ids)
        borrowed = BorrowedLines(self.nodes, ids, self._resolved_feeds)
        nodes = []
        for order, number in enumerate(ids):
            nodes.append(self._recorded_node(number, order, ids, borrowed))
        scopes = dict.fromkeys(node.scope for node in nodes)
        return GradGraph(
            engine=engine,
            case=case,
            stage=stage,
            nodes=tuple(nodes),
            edges=tuple(edges),
            notes=notes,
            layers={scope: layers[scope] for scope in scopes if scope in layers},
        )

    def _recorded_node(
        self, number: int, order: int, ids: dict[int, str], borrowed: BorrowedLines
    ) -> Node:
        draft = self.nodes[number]
        forward = None
        if draft.forward is not None:
            forward = ids[self.resolve((draft.forward, 0))[0]]
        return Node(
            id=ids[number],
            op=draft.op,
            kind=draft.kind,
            phase=draft.phase,
            name=draft.name,
            scope=draft.scope,
            source=borrowed.lines(number),
            forward=forward,
            order=order,
            outputs=draft.outputs,
            body=draft.body,
            calls=draft.calls,
            saved_bytes=draft.saved_bytes,
            tape=draft.tape,
            proof=draft.proof,
            arguments=draft.arguments,
            missing=borrowed.missing(number),
        )

    def _recorded_edges(self, ids: dict[int, str]) -> list[Edge]:
        edges = []
        for slot, target, place in self._edges:
            if target not in ids:
                continue
            origin, output = self.resolve(slot)
            if place is None:
                edge = Edge(ids[origin], ids[target], kind="control")
            else:
                edge = Edge(ids[origin], ids[target], output, place, self.edge_kind(origin, target))
            edges.append(edge)
        # Two edges may become one where nodes are replaced.
        return list(dict.fromkeys(edges)) if self._replaced else edges

    def _resolved_feeds(self) -> dict[int, list[int]]:
        """The nodes that each node reads once replaced ones are followed to their end."""
        feeds: dict[int, list[int]] = {}
        for slot, target, _ in self.edges():
            feeds.setdefault(target, []).append(self.resolve(slot)[0])
        return feeds


def shapes(values: list[Any]) -> tuple[Output, ...]:
    """The outputs of a node that yields tensors of either framework, without their values."""
    outputs = []
    for value in values:
        dtype = str(value.dtype).removeprefix("torch.").lower()
        outputs.append(Output(tuple(value.shape), dtype))
    return tuple(outputs)
