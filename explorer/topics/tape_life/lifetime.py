"""What is kept for backward, step by step: watched through boxes that die with it, or read off a
gradient graph.
"""

import math
import weakref
from collections import Counter
from collections.abc import Collection
from typing import Any

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.graph import GradGraph, Node
from explorer.model.results import Captured, Result

SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "float32": 4,
}
"""Bytes of one element; all others have eight."""

VIEWS = frozenset(
    {
        "aten.t.default", "aten.view.default", "aten.transpose.int", "aten.permute.default", "aten.squeeze.default",
        "aten.squeeze.dim", "aten.unsqueeze.default", "aten.expand.default", "aten.slice.Tensor", "aten.select.int",
        "Reshape", "Squeeze", "ExpandDims",
    }
)  # fmt: skip
"""Operators whose result shares the memory of their first operand."""

Slot = tuple[str, int]


class Box:
    """Holds one saved tensor for a tape that asked for it to be packed; as long as the tape needs
    it, the box lives.
    """

    def __init__(self, tensor: Any, place: int, size: int) -> None:
        self.tensor = tensor
        self.place = place
        self.size = size


class Watch:
    """Counts the boxes that live, and the bytes of the places in them; places that were there
    before anyway count apart.
    """

    def __init__(self, own: set[int]) -> None:
        self.own = own
        self.boxes: list[weakref.ref[Box]] = []
        self.steps: list[dict[str, Any]] = []
        self.savers: Counter[str] = Counter()
        self.phase = "forward"
        self.last = ""

    def pack(self, tensor: Any, place: int, size: int) -> Box:
        """A box for a tensor that is ``size`` bytes of the storage at ``place``; counts for the
        operator called ``last``.
        """
        box = Box(tensor, place, size)
        self.savers[self.last] += 1
        self.boxes.append(weakref.ref(box))
        return box

    def kept(self) -> dict[str, int]:
        """How many tensors are kept now, their bytes (a storage counts once), and the bytes that
        inputs and parameters hold.
        """
        live = [box for reference in self.boxes if (box := reference()) is not None]
        storages = {box.place: box.size for box in live}
        own = sum(size for place, size in storages.items() if place in self.own)
        return {
            "tensors": len(live),
            "bytes": sum(storages.values()) - own,
            "of inputs and parameters": own,
        }

    def step(self, op: str) -> None:
        """Notes what is kept when an operator has run."""
        self.steps.append({"phase": self.phase, "op": op, **self.kept()})


def first_alone(weights: Collection[str], several: bool) -> GradCase:
    """The gradient of a net's first output by its weights, or by the first input of a net without
    any.
    """
    return GradCase(
        "value_and_grad", None if weights else 0, "all" if weights else None, has_aux=several
    )


def captured_graph(captured: Captured) -> GradGraph:
    """The last stage of a captured graph; raises an ExplorerError when there is none, or none that
    shows what is kept.
    """
    if captured.result.error:
        raise ExplorerError(
            f"no gradient graph: {captured.result.error.type}: {captured.result.error.message}"
        )
    graph = captured.graphs[-1]
    if any(node.body for node in graph.nodes):
        raise ExplorerError(
            "the graph calls subgraphs, which hand over closures: what they keep cannot be read off it"
        )
    return graph


def crossing(graph: GradGraph) -> list[dict[str, Any]]:
    """What is kept after each operator of a gradient graph: forward values that a later operator of
    the backward reads.
    """
    nodes = graph.by_id()
    needed = readers(graph)
    own = {slot for slot in needed if nodes[slot[0]].kind in {"input", "parameter"}}
    steps = []
    for node in graph.nodes:
        if node.kind in {"op", "accumulate", "call"}:
            live = [
                slot for slot, last in needed.items() if nodes[slot[0]].order <= node.order < last
            ]
            kept = {
                "tensors": len(live),
                "bytes": sum(_size(nodes[slot[0]], slot[1]) for slot in live if slot not in own),
            }
            held = sum(_size(nodes[slot[0]], slot[1]) for slot in live if slot in own)
            steps.append(
                {"phase": node.phase, "op": node.op, **kept, "of inputs and parameters": held}
            )
    return steps


def readers(graph: GradGraph) -> dict[Slot, int]:
    """Each forward value that crosses into the backward, and the order of the last node there that
    reads it, or a view of it.
    """
    nodes = graph.by_id()
    viewed = {
        edge.target: (edge.origin, edge.output)
        for edge in graph.edges
        if edge.input == 0 and nodes[edge.target].op in VIEWS
    }
    needed: dict[Slot, int] = {}
    for edge in (
        edge for edge in graph.edges if edge.kind == "saved" and nodes[edge.target].kind != "output"
    ):
        slot = (edge.origin, edge.output)
        while slot[0] in viewed:
            slot = viewed[slot[0]]
        needed[slot] = max(needed.get(slot, 0), nodes[edge.target].order)
    return needed


def savers(graph: GradGraph) -> dict[str, int]:
    """How many forward values cross into the backward, by the operator that made them."""
    nodes = graph.by_id()
    return dict(sorted(Counter(nodes[origin].op for origin, _ in readers(graph)).items()))


def _size(node: Node, slot: int) -> int:
    if slot >= len(node.outputs):
        return 0
    return math.prod(node.outputs[slot].shape) * SIZES.get(node.outputs[slot].dtype, 8)


def plain_leaves(result: Result) -> Any:
    """The numbers of an engine's answer by name, or what it raised."""
    if result.error:
        return {"raised": result.error.type, "message": result.error.message}
    return {leaf.name: unpack(leaf.value).tolist() for leaf in result.leaves}
