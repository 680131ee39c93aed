"""The noise of a graph's nodes, where another graph has it: of the same graph, or of the same values."""

from math import prod, sqrt

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.graphs.view import GraphView
from explorer.model.graph import GradGraph, Node, Output, Slot, with_outputs
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import QUANTILES

ALIKE = 1e-2
"""Two values whose figures are this near, as a share of their size, have one level of noise."""


def have_one_form(one: GradGraph, other: GradGraph) -> bool:
    """Whether two captures are of one graph: the same ops in the same places, with as many outputs."""
    forms = [[(node.id, node.op, len(node.outputs)) for node in it.nodes] for it in (one, other)]
    return forms[0] == forms[1]


def with_levels(graph: GradGraph, measured: GradGraph) -> GradGraph:
    """A graph with the levels of another capture of the same graph, node by node.

    Where it is not the same graph after all, its nodes get the levels of equal values.
    """
    if not have_one_form(graph, measured):
        return lent_levels(graph, measured)
    nodes = measured.by_id()

    def leveled(slot: Slot, output: Output) -> Output:
        same = nodes[slot[0]].outputs[slot[1]]
        return replace(output, noise=same.noise, levels=same.levels)

    return with_outputs(graph, leveled)


def lent_levels(graph: GradGraph, lender: GradGraph) -> GradGraph:
    """A graph whose nodes have the levels of the nodes of ``lender`` that hold the same values.

    Results are found by their names. A value that the lender does not have is as noisy, relative to
    its size, as the noisiest that its node reads; without such a one its noise stays unknown.
    """
    shelf, flow = _Shelf(lender), GraphView(graph)
    relative: dict[Slot, float] = {}
    outputs: dict[Slot, Output] = {}
    for node in sorted(graph.nodes, key=lambda node: (node.phase == "backward", node.order)):
        read = [relative[slot] for slot in flow.slots(node.id) if slot in relative]
        for place, output in enumerate(node.outputs):
            held = shelf.find(node, output)
            level = held.noise if held else None
            size = usual_size(output)
            if level is None and read and output.values is not None:
                level = max(read) * size
            if level is not None and size:
                relative[node.id, place] = level / size
            of_examples = held.levels if held and held.shape == output.shape else ()
            outputs[node.id, place] = replace(output, noise=level, levels=of_examples)
    return with_outputs(graph, lambda slot, _: outputs[slot])


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
        # Of each size the figures of its outputs, a row for each, their noise and their dtypes.
        self._figures = {
            size: (
                np.array([_row(output) for output in outputs]),
                np.array([output.noise for output in outputs]),
                np.array([output.dtype for output in outputs]),
            )
            for size, outputs in self._of_size.items()
        }

    def find(self, node: Node, output: Output) -> Output | None:
        """The output of one name, or whose values are nearest; None where none is near."""
        named = self._named.get((node.phase, node.name)) if node.kind == "output" else None
        if named is not None:
            return named
        size = prod(output.shape)
        if output.values is None or size not in self._figures or output.values.nonfinite:
            return None
        rows, levels, dtypes = self._figures[size]
        row = _row(output)
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


def _row(output: Output) -> Floats:
    """The figures by which values are found: order statistics, which do not depend on layout."""
    quantiles = output.values.quantiles if output.values else ()
    row = np.zeros(QUANTILES)
    row[: len(quantiles)] = quantiles
    return row
