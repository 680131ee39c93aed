"""What is alive of a forward: read off a gradient graph, or counted while a tape runs."""

import math
import weakref
from collections import Counter
from typing import Any

from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.graph import GradGraph, Node
from explorer.model.results import Captured
from explorer.text.failures import typed

ITEM_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "float32": 4,
    "complex128": 16,
}
"""Bytes of one element; all other dtypes have USUAL."""

USUAL = 8

VIEWS = frozenset(
    {
        "aten.t.default",
        "aten.view.default",
        "aten.transpose.int",
        "aten.permute.default",
        "aten.squeeze.default",
        "aten.squeeze.dim",
        "aten.unsqueeze.default",
        "aten.expand.default",
        "aten.slice.Tensor",
        "aten.select.int",
        "Reshape",
        "Squeeze",
        "ExpandDims",
    }
)
"""Operators whose result shares the memory of their first operand.

In PyTorch 2.13 and MindSpore 2.10.
"""

STEPS = {"op", "accumulate", "call"}
"""The kinds of nodes that run something."""

Value = tuple[str, int]
"""One tensor of a graph: the id of the node that yields it, and the output slot."""


def first_output_case(has_weights: bool, several_outputs: bool) -> GradCase:
    """The gradient of a net's first output with respect to all its weights.

    With respect to the first input where the net has none.
    """
    if has_weights:
        return GradCase("value_and_grad", None, "all", has_aux=several_outputs)
    return GradCase("value_and_grad", 0, None, has_aux=several_outputs)


def captured_graph(captured: Captured) -> GradGraph:
    """The last stage of a captured graph.

    Raises ExplorerError when there is none, or none that shows what is kept.
    """
    error = captured.result.error
    if error:
        raise ExplorerError(f"no gradient graph: {typed(error)}")
    graph = captured.graphs[-1]
    # A loop's body stands there once, however often it is run.
    if any(node.body for node in graph.nodes):
        raise ExplorerError(
            "the graph calls subgraphs, which hand over closures: what they keep cannot be read off"
            " it"
        )
    return graph


def steps(graph: GradGraph) -> list[dict[str, Any]]:
    """What is kept after each operator of a gradient graph, in the form of ``Watch.steps``.

    A forward value is kept from the operator that makes it until the last operator of the backward
    that reads it has run.
    """
    nodes = graph.by_id()
    last_reads = last_reads_in_backward(graph)
    kept_after: list[dict[str, Any]] = []
    for node in graph.nodes:
        if node.kind not in STEPS:
            continue

        tensors = own_bytes = made_bytes = 0
        for value, last_read in last_reads.items():
            origin = nodes[value[0]]
            # Made by now and not yet read for the last time: the last reader itself lets go of it.
            if not origin.order <= node.order < last_read:
                continue
            tensors += 1
            if origin.kind in {"input", "parameter"}:
                own_bytes += _bytes(origin, value[1])
            else:
                made_bytes += _bytes(origin, value[1])
        kept_after.append(
            {
                "phase": node.phase,
                "op": node.op,
                "tensors": tensors,
                "bytes": made_bytes,
                "of inputs and parameters": own_bytes,
            }
        )
    return kept_after


def last_reads_in_backward(graph: GradGraph) -> dict[Value, int]:
    """Each forward value that the backward reads, and the order of the last node that reads it.

    A node reads a value itself, or a view of it.
    """
    nodes = graph.by_id()
    viewed: dict[str, Value] = {}
    for edge in graph.edges:
        if edge.input == 0 and nodes[edge.target].op in VIEWS:
            viewed[edge.target] = (edge.origin, edge.output)

    last_reads: dict[Value, int] = {}
    for edge in graph.edges:
        reader = nodes[edge.target]
        if edge.kind != "saved" or reader.kind == "output":
            continue
        value = (edge.origin, edge.output)
        while value[0] in viewed:  # a view keeps the storage of what it views
            value = viewed[value[0]]

        # Views are read for what they view, so a value may have several readers.
        last_reads[value] = max(last_reads.get(value, 0), reader.order)
    return last_reads


def savers(graph: GradGraph) -> dict[str, int]:
    """How many forward values the backward reads, by the operator that made them."""
    nodes = graph.by_id()
    counts = Counter(nodes[origin].op for origin, _ in last_reads_in_backward(graph))
    return dict(sorted(counts.items()))


def _bytes(node: Node, slot: int) -> int:
    if slot >= len(node.outputs):
        return 0
    output = node.outputs[slot]
    return math.prod(output.shape) * ITEM_BYTES.get(output.dtype, USUAL)


class PackedTensor:
    """One saved tensor, packed for a tape by its saved-tensor hooks.

    It lives as long as the tape needs the tensor. ``address`` is where its storage lies, ``size``
    that storage's length in bytes.
    """

    def __init__(self, tensor: Any, address: int, size: int) -> None:
        self.tensor = tensor
        self.address = address
        self.size = size


class Watch:
    """Counts the boxes that live, and the bytes of the storages in them.

    ``own`` are the addresses of inputs and parameters, whose bytes the tape does not cost. ``last``
    is the operator that saved tensors are counted for in ``savers``; ``steps`` is what was kept
    after each operator of the ``phase`` that ran.
    """

    def __init__(self, own: set[int]) -> None:
        self.own = own
        # Weak, or the watch itself would keep alive what it counts.
        self.boxes: list[weakref.ref[PackedTensor]] = []
        self.steps: list[dict[str, Any]] = []
        self.savers: Counter[str] = Counter()
        self.phase = "forward"
        self.last = ""

    def pack(self, tensor: Any, address: int, size: int) -> PackedTensor:
        """A box for a saved tensor whose storage of ``size`` bytes lies at ``address``."""
        box = PackedTensor(tensor, address, size)
        self.savers[self.last] += 1
        self.boxes.append(weakref.ref(box))
        return box

    def kept(self) -> dict[str, int]:
        """How many tensors are kept now, and their bytes; a storage counts once.

        The bytes of inputs and parameters among them are counted apart.
        """
        tensors = 0
        storages: dict[int, int] = {}
        for reference in self.boxes:
            box = reference()
            if box is not None:
                tensors += 1
                # By address: several saved tensors may be views of one storage.
                storages[box.address] = box.size

        own = sum(size for address, size in storages.items() if address in self.own)
        return {
            "tensors": tensors,
            "bytes": sum(storages.values()) - own,
            "of inputs and parameters": own,
        }

    def step(self, op: str) -> None:
        """Notes what is kept now that ``op`` has run."""
        self.steps.append({"phase": self.phase, "op": op, **self.kept()})


def unpack(box: PackedTensor) -> Any:
    """The unpacking hook: the tensor that a box holds."""
    return box.tensor
