"""What the operators of a recorded step read, element by element, as far as the record has it."""

from collections import defaultdict
from collections.abc import Mapping

from explorer.model.arrays import Array
from explorer.model.graph import GradGraph, Node


class RecordedValues:
    """The values of a recorded graph that were kept whole.

    ``leaves`` are those of leaves, by the ids of their nodes.
    """

    def __init__(self, graph: GradGraph, leaves: Mapping[str, Array]) -> None:
        self.nodes = graph.by_id()
        self._leaves = leaves
        self._reads: dict[str, dict[int, tuple[str, int]]] = defaultdict(dict)
        for edge in graph.edges:
            if edge.kind != "control":
                self._reads[edge.target][edge.input] = edge.origin, edge.output

    def operator(self, node: str) -> Node:
        """The node with that id; KeyError where it is no operator's, or its arguments are not known."""
        called = self.nodes[node]
        if called.kind not in ("op", "accumulate") or "arguments" in called.missing:
            raise KeyError(node)
        return called

    def read_by(self, node: str) -> list[Array]:
        """What a node reads, in order; KeyError where one is not there, or was not kept whole."""
        reads = self._reads[node]
        return [self.whole(*reads[place]) for place in range(len(reads))]

    def whole(self, node: str, output: int) -> Array:
        """An output of the node with that id; KeyError where it was not kept whole."""
        if node in self._leaves:
            return self._leaves[node]
        outputs = self.nodes[node].outputs
        values = outputs[output].values if output < len(outputs) else None
        if values is None or values.whole is None:
            raise KeyError(node)
        return values.whole
