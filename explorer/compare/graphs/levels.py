"""The noise of a graph's nodes, where another graph has it: of the same graph, or of the same values."""

from collections.abc import Iterable, Mapping
from math import prod, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import Summary
from explorer.model.graph import GradGraph, Node, Output
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import QUANTILES

ALIKE = 1e-2
"""Two values whose figures are this near, as a share of their size, have one level of noise."""

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
    levels = {node.id: [(it.noise, it.levels) for it in node.outputs] for node in measured.nodes}
    return _leveled(graph, levels)


def _leveled(graph: GradGraph, levels: Mapping[str, Iterable[NodeLevels]]) -> GradGraph:
    """A graph with the levels of the outputs of each node, by its id."""
    nodes = []
    for node in graph.nodes:
        outputs = [
            msgspec.structs.replace(output, noise=noise, levels=of_examples)
            for output, (noise, of_examples) in zip(
                node.outputs, levels.get(node.id, ()), strict=True
            )
        ]
        nodes.append(msgspec.structs.replace(node, outputs=tuple(outputs)))
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def lent_levels(graph: GradGraph, lender: GradGraph) -> GradGraph:
    """A graph whose nodes have the levels of the nodes of ``lender`` that hold the same values.

    Results are found by their names. A value that the lender does not have is as noisy, relative to
    its size, as the noisiest that its node reads; without such a one its noise stays unknown.
    """
    shelf, flow = _Shelf(lender), GraphView(graph)
    relative: dict[tuple[str, int], float] = {}
    levels: dict[str, list[NodeLevels]] = {}
    for node in sorted(graph.nodes, key=lambda node: (node.phase == "backward", node.order)):
        slots = [(edge.origin, edge.output) for edge in flow.into(node)]
        read = [relative[slot] for slot in slots if slot in relative]
        for slot, output in enumerate(node.outputs):
            level, of_examples = shelf.levels(node, output)
            size = usual_size(output)
            if level is None and read and output.values is not None:
                level = max(read) * size
            if level is not None and size:
                relative[node.id, slot] = level / size
            levels.setdefault(node.id, []).append((level, of_examples))
    return _leveled(graph, levels)


def usual_size(output: Output) -> float:
    """The root mean square of an output's values."""
    if output.values is None or not prod(output.shape):
        return 0.0
    return output.values.norm / sqrt(prod(output.shape))


class _Shelf:
    """The levels of a graph's outputs, to be found by value."""

    def __init__(self, graph: GradGraph) -> None:
        self._named: dict[tuple[str, str], Output] = {}
        self._of_size: dict[int, list[Output]] = {}
        for node in graph.nodes:
            for output in node.outputs:
                if output.noise is None or output.values is None:
                    continue
                if node.kind == "output":
                    self._named[node.phase, node.name] = output
                self._of_size.setdefault(prod(output.shape), []).append(output)
        self._figures = {size: _figures(outputs) for size, outputs in self._of_size.items()}

    def levels(self, node: Node, output: Output) -> NodeLevels:
        """The levels of the values that are nearest to an output's; None where none is near."""
        lender = self._named.get((node.phase, node.name)) if node.kind == "output" else None
        lender = lender or self._nearest(output)
        if lender is None:
            return None, ()
        return lender.noise, lender.levels if lender.shape == output.shape else ()

    def _nearest(self, output: Output) -> Output | None:
        size = prod(output.shape)
        if output.values is None or size not in self._figures or output.values.nonfinite:
            return None
        rows, levels, dtypes = self._figures[size]
        row = _row(output.values)
        apart = np.abs(rows - row).max(axis=1)
        room = ALIKE * np.abs(row).max() + CLEAR * levels
        near = apart <= room
        if not near.any():
            return None
        # The same numbers cast to float32 for backward have the noise of float32, and no other has.
        of_its_dtype = near & (dtypes == output.dtype)
        if of_its_dtype.any():
            near = of_its_dtype
        # Of several equally near ones the noisiest: which of them it is nobody knows.
        nearest = near & (apart <= 2 * apart[near].min() + levels)
        noisiest = np.where(nearest, levels, -1.0).argmax()
        return self._of_size[size][int(noisiest)]


def _figures(outputs: list[Output]) -> tuple[Floats, Floats, NDArray[np.str_]]:
    """The figures of some outputs, a row for each, with their noise and their dtypes."""
    rows = [_row(output.values) for output in outputs if output.values is not None]
    levels = [output.noise for output in outputs]
    return np.array(rows), np.array(levels), np.array([output.dtype for output in outputs])


def _row(values: Summary) -> Floats:
    """The figures by which values are found: order statistics, which do not depend on layout."""
    quantiles = np.zeros(QUANTILES)
    quantiles[: len(values.quantiles)] = values.quantiles
    return quantiles
