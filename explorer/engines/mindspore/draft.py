"""A gradient graph while it grows: nodes in traversal order, edges between their slots, settled into the record at the end."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from explorer.engines.capture.summation import sourced
from explorer.model.graph import Edge, GradGraph, Kind, Node, Output, Phase

Slot = tuple[int, int]
"""A node's number and the number of one of its outputs."""

UNWRITTEN: dict[str, tuple[int, ...]] = {"BatchNorm": (1, 2)}
"""Outputs that a CPU kernel of MindSpore 2.10.0 leaves as it found the memory: they differ from run to run."""

UNWRITTEN_REASON = "the kernel leaves outputs 1 and 2 unwritten"


@dataclass
class Draft:
    """Nodes and edges by number; what is learnt of a node only later stands beside it."""

    nodes: list[Node] = field(default_factory=list)
    edges: dict[tuple[int, int, int, int], None] = field(default_factory=dict)
    controls: dict[tuple[int, int], None] = field(default_factory=dict)
    saved: dict[int, int] = field(default_factory=dict)

    def add(
        self, op: str, kind: Kind, phase: Phase, inputs: tuple[Slot | None, ...] = (), **rest: Any
    ) -> int:
        """A new node fed by ``inputs`` (None: a place that no tensor fills); its number. ``forward`` is given as a number."""
        number = len(self.nodes)
        linked = rest.pop("forward", None)
        self.nodes.append(
            Node(
                id=f"n{number}",
                op=op,
                kind=kind,
                phase=phase,
                forward=None if linked is None else f"n{linked}",
                order=number,
                **rest,
            )
        )
        for place, slot in enumerate(inputs):
            if slot is not None:
                self.edges[(*slot, number, place)] = None
        return number

    def change(self, number: int, **rest: Any) -> None:
        """Replace fields of a node."""
        self.nodes[number] = msgspec.structs.replace(self.nodes[number], **rest)

    def leaves(self) -> dict[str, int]:
        """The numbers of inputs and parameters by name."""
        kinds = {"input", "parameter"}
        return {
            node.name: number
            for number, node in enumerate(self.nodes)
            if node.kind in kinds and not node.body
        }

    def forward_of(self, number: int | None) -> int | None:
        """The forward node that a node is or derives from."""
        if number is None or self.nodes[number].phase == "forward":
            return number
        linked = self.nodes[number].forward
        return None if linked is None else int(linked[1:])

    def settle(self, engine: str, case: str, stage: str, notes: tuple[str, ...] = ()) -> GradGraph:
        """The record; an edge from forward into backward is one that was saved."""
        nodes = [
            msgspec.structs.replace(node, saved_bytes=self.saved[number])
            if number in self.saved
            else node
            for number, node in enumerate(self.nodes)
        ]
        edges = [self._edge(*ends) for ends in self.edges]
        edges += [
            Edge(f"n{origin}", f"n{target}", kind="control") for origin, target in self.controls
        ]
        return sourced(
            GradGraph(
                engine=engine,
                case=case,
                stage=stage,
                nodes=tuple(nodes),
                edges=tuple(edges),
                notes=notes,
            )
        )

    def _edge(self, origin: int, output: int, target: int, place: int) -> Edge:
        crosses = self.nodes[origin].phase == "forward" and self.nodes[target].phase == "backward"
        return Edge(f"n{origin}", f"n{target}", output, place, "saved" if crosses else "data")


def shapes(values: list[Any]) -> tuple[Output, ...]:
    """The outputs of a node whose values are not observed."""
    return tuple(Output(tuple(value.shape), str(value.dtype).lower()) for value in values)
