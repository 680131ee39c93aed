"""The noise of a graph's nodes: measured on the same graph, or lent by another of the same values."""

from collections.abc import Iterable

import msgspec
import numpy as np

from explorer.compare.noise import CLEAR
from explorer.model.arrays import Summary
from explorer.model.graph import GradGraph, Node, Output
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import QUANTILES

ALIKE = 1e-2
"""Two values whose figures are this near, as a share of their size, have one level of noise."""

Named = tuple[str, str]
"""The phase and the name of a result."""


def with_levels(graph: GradGraph, measured: GradGraph) -> GradGraph:
    """A graph with the levels of another capture of the same graph, node by node.

    Where it is not the same graph after all, its nodes get the levels of equal values.
    """
    pairs = list(zip(graph.nodes, measured.nodes, strict=False))
    if len(graph.nodes) != len(measured.nodes) or any(_form(a) != _form(b) for a, b in pairs):
        return lent_levels(graph, measured)
    nodes = []
    for node, other in pairs:
        noise = [output.noise for output in other.outputs]
        nodes.append(_leveled(node, noise))
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def _form(node: Node) -> tuple[str, str, int]:
    return node.id, node.op, len(node.outputs)


def _leveled(node: Node, noise: Iterable[float | None]) -> Node:
    outputs = []
    for output, level in zip(node.outputs, noise, strict=True):
        outputs.append(msgspec.structs.replace(output, noise=level))
    return msgspec.structs.replace(node, outputs=tuple(outputs))


def lent_levels(graph: GradGraph, lender: GradGraph) -> GradGraph:
    """A graph whose nodes have the levels of the nodes of ``lender`` that hold the same values.

    Results are found by their names. A value that the lender does not have is as noisy, relative to
    its size, as the noisiest that its node reads; without such a one its noise stays unknown.
    """
    shelf = _Shelf(lender)
    inputs = _slots_read(graph)
    relative: dict[tuple[str, int], float] = {}
    nodes = {}
    for node in sorted(graph.nodes, key=lambda node: (node.phase == "backward", node.order)):
        levels = []
        read = [relative[slot] for slot in inputs.get(node.id, ()) if slot in relative]
        for slot, output in enumerate(node.outputs):
            level = shelf.level(node, output)
            size = _size(output)
            if level is None and read and output.values is not None:
                level = max(read) * size
            if level is not None and size:
                relative[node.id, slot] = level / size
            levels.append(level)
        nodes[node.id] = _leveled(node, levels)
    ordered = tuple(nodes[node.id] for node in graph.nodes)
    return msgspec.structs.replace(graph, nodes=ordered)


def _slots_read(graph: GradGraph) -> dict[str, list[tuple[str, int]]]:
    """The outputs that each node reads: the node that yields one, and its slot."""
    slots: dict[str, list[tuple[str, int]]] = {}
    for edge in graph.edges:
        if edge.kind != "control":
            slots.setdefault(edge.target, []).append((edge.origin, edge.output))
    return slots


def _size(output: Output) -> float:
    """The root mean square of an output's values."""
    if output.values is None or not np.prod(output.shape):
        return 0.0
    return float(output.values.norm / np.sqrt(np.prod(output.shape)))


class _Shelf:
    """The levels of a graph's outputs, to be found by value."""

    def __init__(self, graph: GradGraph) -> None:
        self._named: dict[Named, float] = {}
        rows: dict[int, list[Floats]] = {}
        levels: dict[int, list[float]] = {}
        dtypes: dict[int, list[str]] = {}
        for node in graph.nodes:
            for output in node.outputs:
                if output.noise is None or output.values is None:
                    continue
                if node.kind == "output":
                    self._named[node.phase, node.name] = output.noise
                size = int(np.prod(output.shape))
                rows.setdefault(size, []).append(_row(output.values))
                levels.setdefault(size, []).append(output.noise)
                dtypes.setdefault(size, []).append(output.dtype)
        self._rows = {size: np.array(matrix) for size, matrix in rows.items()}
        self._levels = {size: np.array(noise) for size, noise in levels.items()}
        self._dtypes = {size: np.array(names) for size, names in dtypes.items()}

    def level(self, node: Node, output: Output) -> float | None:
        """The level of the values that are nearest to an output's; None where none is near."""
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
        return float(self._levels[size][nearest].max())


def _row(values: Summary) -> Floats:
    """The figures by which values are found: order statistics, which do not depend on layout."""
    quantiles = np.zeros(QUANTILES)
    quantiles[: len(values.quantiles)] = values.quantiles
    return quantiles
