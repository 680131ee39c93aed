"""A gradient graph while it grows: the one builder of all captures, which becomes the record at the end."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from explorer.model.graph import Edge, EdgeKind, GradGraph, Kind, Node, Output, Phase

Slot = tuple[int, int]
"""The number of a node and the number of one of its outputs, both counted from 0."""


@dataclass(slots=True)
class NodeDraft:
    """A node that may still change; the fields are those of Node, and ``forward`` is a number."""

    op: str
    kind: Kind
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
    missing: dict[str, str] = field(default_factory=dict)


class GraphBuilder:
    """Nodes in traversal order, and the edges between their slots.

    A node keeps its number for as long as the builder lives: one that is replaced or removed is left
    out of the record, which alone counts anew.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeDraft] = []
        # Dicts for their order: an edge that is drawn twice is one edge.
        self._edges: dict[tuple[Slot, int, int], None] = {}
        self._controls: dict[tuple[int, int], None] = {}
        self._replaced: dict[int, list[Slot]] = {}
        self._removed: set[int] = set()

    # Making nodes and edges

    def add(
        self,
        op: str,
        kind: Kind,
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
        self._controls[before, after] = None

    # Taking nodes out again

    def replace(self, number: int, slots: list[Slot]) -> None:
        """Leave a node out of the record: whoever reads its output n reads ``slots[n]`` instead.

        Where it has more outputs than there are slots, the first slot stands for the others.
        """
        self._replaced[number] = slots

    def remove(self, number: int) -> None:
        """Leave a node that nobody reads out of the record, with the edges that lead to it."""
        self._removed.add(number)

    def resolve(self, slot: Slot) -> Slot:
        """The slot that is read where ``slot`` is asked for, replaced nodes followed to the end."""
        while slot[0] in self._replaced:
            slots = self._replaced[slot[0]]
            slot = slots[slot[1]] if slot[1] < len(slots) else slots[0]
        return slot

    # Looking

    def kept(self) -> Iterator[int]:
        """The numbers of the nodes that the record will have."""
        for number in range(len(self.nodes)):
            if number not in self._replaced and number not in self._removed:
                yield number

    def edges(self) -> Iterator[tuple[Slot, int, int]]:
        """Every edge as it was drawn: the slot that it leaves, the node and the place it leads to."""
        return iter(self._edges)

    def feeds(self) -> dict[int, list[int]]:
        """The nodes that each node reads, in the order in which the edges were drawn."""
        feeds: dict[int, list[int]] = {}
        for (origin, _), target, _ in self._edges:
            feeds.setdefault(target, []).append(origin)
        return feeds

    def leaves(self) -> dict[str, int]:
        """The numbers of the inputs and parameters of the main graph, by name."""
        leaves: dict[str, int] = {}
        for number, node in enumerate(self.nodes):
            if node.kind in ("input", "parameter") and not node.body:
                leaves[node.name] = number
        return leaves

    def forward_of(self, number: int | None) -> int | None:
        """The forward node that a node is or derives from; None where that is not known."""
        if number is None or self.nodes[number].phase == "forward":
            return number
        return self.nodes[number].forward

    # The record

    def record(self, engine: str, case: str, stage: str, notes: tuple[str, ...] = ()) -> GradGraph:
        """The graph as a record; an edge from forward into backward is one that was saved.

        ``engine``, ``case``, ``stage`` and ``notes`` are those of GradGraph.
        """
        numbers = {old: new for new, old in enumerate(self.kept())}
        edges = self._recorded_edges(numbers)
        sources = self._sources_of_sums(numbers)
        nodes = []
        for old, new in numbers.items():
            nodes.append(self._recorded_node(old, new, numbers, sources.get(old)))
        return GradGraph(
            engine=engine,
            case=case,
            stage=stage,
            nodes=tuple(nodes),
            edges=tuple(edges),
            notes=notes,
        )

    def _recorded_node(
        self, old: int, new: int, numbers: dict[int, int], source: tuple[str, ...] | None
    ) -> Node:
        draft = self.nodes[old]
        missing = draft.missing
        if source is not None:
            missing = {key: reason for key, reason in missing.items() if key != "source"}
        forward = None
        if draft.forward is not None:
            forward = f"n{numbers[self.resolve((draft.forward, 0))[0]]}"
        return Node(
            id=f"n{new}",
            op=draft.op,
            kind=draft.kind,
            phase=draft.phase,
            name=draft.name,
            scope=draft.scope,
            source=draft.source if source is None else source,
            forward=forward,
            order=new,
            outputs=draft.outputs,
            body=draft.body,
            calls=draft.calls,
            saved_bytes=draft.saved_bytes,
            tape=draft.tape,
            missing=missing,
        )

    def _recorded_edges(self, numbers: dict[int, int]) -> list[Edge]:
        drawn: dict[tuple[int, int, int, int, EdgeKind], None] = {}
        for slot, target, place in self._edges:
            if target not in numbers:
                continue
            origin, output = self.resolve(slot)
            crosses = (
                self.nodes[origin].phase == "forward" and self.nodes[target].phase == "backward"
            )
            kind: EdgeKind = "saved" if crosses else "data"
            drawn[numbers[origin], numbers[target], output, place, kind] = None
        for before, after in self._controls:
            if after in numbers:
                origin, _ = self.resolve((before, 0))
                drawn[numbers[origin], numbers[after], 0, 0, "control"] = None
        edges = []
        for new_origin, new_target, output, place, kind in drawn:
            edges.append(Edge(f"n{new_origin}", f"n{new_target}", output, place, kind))
        return edges

    def _sources_of_sums(self, numbers: dict[int, int]) -> dict[int, tuple[str, ...]]:
        """The lines of sums that have none: no line of a net asks for a sum of gradients.

        Each takes the first line of every gradient that it adds, first addend first.
        """
        bare = [
            number
            for number in numbers
            if self.nodes[number].kind == "accumulate" and not self.nodes[number].source
        ]
        sources: dict[int, tuple[str, ...]] = {}
        if not bare:
            return sources
        addends: dict[int, list[int]] = {}
        for slot, target, _ in self._edges:
            addends.setdefault(target, []).append(self.resolve(slot)[0])
        for number in bare:
            lines: dict[str, None] = {}
            for addend in addends.get(number, ()):
                lines.update(dict.fromkeys(sources.get(addend, self.nodes[addend].source)[:1]))
            if lines:
                sources[number] = tuple(lines)
        return sources


def shapes(values: list[Any]) -> tuple[Output, ...]:
    """The outputs of a node whose values are not observed; ``values`` are tensors of either framework."""
    return tuple(Output(tuple(value.shape), str(value.dtype).lower()) for value in values)
