"""What the operators of a recorded step read, element by element, as far as the record has it."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

from explorer.model.arrays import Array, unpack
from explorer.model.graph import GradGraph, Node
from explorer.operators.families import family, is_known

Reason = Literal["", "values", "operator"]
"""Why an operator is not computed again: values that it reads are not whole, or it is none that may be."""

HARMLESS = ("float", "bfloat", "complex", "bool")
"""How the names of dtypes begin whose elements no operator takes for a place in memory."""


class RecordedValues:
    """The values of a recorded graph that were kept whole, and which of its operators may be computed again.

    ``leaves`` are those of leaves, by the ids of their nodes. A graph may come from a file of anybody's:
    an operator must be one of the tables, and integers that it reads must be labels of classes.
    """

    def __init__(self, graph: GradGraph, leaves: Mapping[str, Array]) -> None:
        self.nodes = graph.by_id()
        self.leaves = leaves
        self._reads: dict[str, dict[int, tuple[str, int]]] = defaultdict(dict)
        for edge in graph.edges:
            if edge.kind != "control":
                self._reads[edge.target][edge.input] = edge.origin, edge.output

    def why_not(self, node: str) -> Reason:
        """Why the operator of the node with that id is not computed again; "" where it may be."""
        called = self.nodes[node]
        if called.kind not in ("op", "accumulate") or "arguments" in called.missing:
            return "operator"
        if not is_known(called.op):
            return "operator"
        try:
            arrays = self.read_by(node)
        except KeyError:
            return "values"
        return "" if all(_is_harmless(array, called, arrays) for array in arrays) else "operator"

    def operator(self, node: str) -> Node:
        """The node with that id; KeyError where it is not computed again."""
        if self.why_not(node):
            raise KeyError(node)
        return self.nodes[node]

    def read_by(self, node: str) -> list[Array]:
        """What a node reads, in order; KeyError where one is not there, or was not kept whole."""
        reads = self._reads[node]
        return [self.whole(*reads[place]) for place in range(len(reads))]

    def whole(self, node: str, output: int) -> Array:
        """An output of the node with that id; KeyError where it was not kept whole."""
        if node in self.leaves:
            return self.leaves[node]
        outputs = self.nodes[node].outputs
        values = outputs[output].values if output < len(outputs) else None
        if values is None or values.whole is None:
            raise KeyError(node)
        return values.whole


def _is_harmless(array: Array, called: Node, arrays: list[Array]) -> bool:
    if array.dtype.startswith(HARMLESS):
        return True
    classes = arrays[0].shape[1:2] or arrays[0].shape
    labels = unpack(array)
    return (
        family(called.op) == "crossentropy"
        and len(classes) > 0
        and bool(((labels >= 0) & (labels < classes[0])).all())
    )
