"""The noise of a graph's nodes, where another graph has it: of the same graph, or of the same values."""

from collections.abc import Iterable

import msgspec
import numpy as np

from explorer.compare.graphs.sameness import CLEAR
from explorer.model.arrays import Summary
from explorer.model.graph import GradGraph, Node, Output
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import QUANTILES

ALIKE = 1e-2
"""Two values whose figures are this near, as a share of their size, have one level of noise."""

OutputSlot = tuple[str, int]
"""The id of a node, and the number of one of its outputs."""

NodeLevels = tuple[float | None, tuple[float, ...]]
"""The noise of one output, and that of its examples."""


def with_levels(graph: GradGraph, measured: GradGraph) -> GradGraph:
    """A graph with the levels of another capture of the same graph, node by node.

    Where it is not the same graph after all, its nodes get the levels of equal values.
    """
    forms = [
        [(node.id, node.op, len(node.outputs)) for node in it.nodes] for it in (graph, measured)
    ]
    if forms[0] != forms[1]:
        return lent_levels(graph, measured)
    nodes = []
    for node, other in zip(graph.nodes, measured.nodes, strict=True):
        levels = [(output.noise, output.levels) for output in other.outputs]
        nodes.append(_leveled(node, levels))
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def _leveled(node: Node, levels: Iterable[NodeLevels]) -> Node:
    outputs = []
    for output, (noise, of_examples) in zip(node.outputs, levels, strict=True):
        outputs.append(msgspec.structs.replace(output, noise=noise, levels=of_examples))
    return msgspec.structs.replace(node, outputs=tuple(outputs))


def lent_levels(graph: GradGraph, lender: GradGraph) -> GradGraph:
    """A graph whose nodes have the levels of the nodes of ``lender`` that hold the same values.

    Results are found by their names. A value that the lender does not have is as noisy, relative to
    its size, as the noisiest that its node reads; without such a one its noise stays unknown.
    """
    shelf = _Shelf(lender)
    inputs = slots_read(graph)
    relative: dict[OutputSlot, float] = {}
    nodes = {}
    for node in sorted(graph.nodes, key=lambda node: (node.phase == "backward", node.order)):
        levels: list[NodeLevels] = []
        read = [relative[slot] for slot in inputs.get(node.id, ()) if slot in relative]
        for slot, output in enumerate(node.outputs):
            level, of_examples = shelf.levels(node, output)
            size = usual_size(output)
            if level is None and read and output.values is not None:
                level = max(read) * size
            if level is not None and size:
                relative[node.id, slot] = level / size
            levels.append((level, of_examples))
        nodes[node.id] = _leveled(node, levels)
    ordered = tuple(nodes[node.id] for node in graph.nodes)
    return msgspec.structs.replace(graph, nodes=ordered)


def slots_read(graph: GradGraph) -> dict[str, list[OutputSlot]]:
    """The outputs that each node reads: the node that yields one, and its slot."""
    slots: dict[str, list[OutputSlot]] = {}
    for edge in graph.edges:
        if edge.kind != "control":
            slots.setdefault(edge.target, []).append((edge.origin, edge.output))
    return slots


def usual_size(output: Output) -> float:
    """The root mean square of an output's values."""
    if output.values is None or not np.prod(output.shape):
        return 0.0
    return float(output.values.norm / np.sqrt(np.prod(output.shape)))


class _Shelf:
    """The levels of a graph's outputs, to be found by value."""

    def __init__(self, graph: GradGraph) -> None:
        self._named: dict[tuple[str, str], Output] = {}
        self._outputs: dict[int, list[Output]] = {}
        rows: dict[int, list[Floats]] = {}
        levels: dict[int, list[float]] = {}
        dtypes: dict[int, list[str]] = {}
        for node in graph.nodes:
            for output in node.outputs:
                if output.noise is None or output.values is None:
                    continue
                if node.kind == "output":
                    self._named[node.phase, node.name] = output
                size = int(np.prod(output.shape))
                self._outputs.setdefault(size, []).append(output)
                rows.setdefault(size, []).append(_row(output.values))
                levels.setdefault(size, []).append(output.noise)
                dtypes.setdefault(size, []).append(output.dtype)
        self._rows = {size: np.array(matrix) for size, matrix in rows.items()}
        self._levels = {size: np.array(noise) for size, noise in levels.items()}
        self._dtypes = {size: np.array(names) for size, names in dtypes.items()}

    def levels(self, node: Node, output: Output) -> NodeLevels:
        """The levels of the values that are nearest to an output's; None where none is near."""
        lender = self._lender(node, output)
        if lender is None:
            return None, ()
        return lender.noise, lender.levels if lender.shape == output.shape else ()

    def _lender(self, node: Node, output: Output) -> Output | None:
        if node.kind == "output" and (node.phase, node.name) in self._named:
            return self._named[node.phase, node.name]
        size = int(np.prod(output.shape))
        if output.values is None or size not in self._rows or output.values.nonfinite:
            return None
        row = _row(output.values)
        apart = np.abs(self._rows[size] - row).max(axis=1)
        room = ALIKE * np.abs(row).max() + CLEAR * self._levels[size]
        near = apart <= room
        if not near.any():
            return None
        # The same numbers cast to float32 for backward have the noise of float32, and no other has.
        of_its_dtype = near & (self._dtypes[size] == output.dtype)
        if of_its_dtype.any():
            near = of_its_dtype
        # Of several equally near ones the noisiest: which of them it is nobody knows.
        nearest = near & (apart <= 2 * apart[near].min() + self._levels[size])
        noisiest = np.where(nearest, self._levels[size], -1.0).argmax()
        return self._outputs[size][int(noisiest)]


def _row(values: Summary) -> Floats:
    """The figures by which values are found: order statistics, which do not depend on layout."""
    quantiles = np.zeros(QUANTILES)
    quantiles[: len(values.quantiles)] = values.quantiles
    return quantiles
