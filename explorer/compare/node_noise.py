"""The noise of a graph's nodes: measured or lent, and the ops that multiply it."""

from collections.abc import Iterable, Iterator
from math import inf, isfinite, prod, sqrt
from typing import NamedTuple

import msgspec
import numpy as np

from explorer.compare.framework_graphs import graphs_of_frameworks
from explorer.compare.noise import CLEAR
from explorer.model.arrays import Summary
from explorer.model.divergence import Place
from explorer.model.families import family
from explorer.model.findings import IllConditioned, ReportFinding
from explorer.model.graph import GradGraph, Node, Output
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import QUANTILES, UNIT

# Levels of noise


ALIKE = 1e-2
"""Two values whose figures are this near, as a share of their size, have one level of noise."""

Named = tuple[str, str]
"""The phase and the name of a result."""

OutputSlot = tuple[str, int]
"""The id of a node, and the number of one of its outputs."""

NodeLevels = tuple[float | None, tuple[float, ...]]
"""The noise of one output, and that of its examples."""


def with_levels(graph: GradGraph, measured: GradGraph) -> GradGraph:
    """A graph with the levels of another capture of the same graph, node by node.

    Where it is not the same graph after all, its nodes get the levels of equal values.
    """
    pairs = list(zip(graph.nodes, measured.nodes, strict=False))
    if len(graph.nodes) != len(measured.nodes) or any(_form(a) != _form(b) for a, b in pairs):
        return lent_levels(graph, measured)
    nodes = []
    for node, other in pairs:
        levels = [(output.noise, output.levels) for output in other.outputs]
        nodes.append(_leveled(node, levels))
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def _form(node: Node) -> tuple[str, str, int]:
    return node.id, node.op, len(node.outputs)


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
    inputs = _slots_read(graph)
    relative: dict[OutputSlot, float] = {}
    nodes = {}
    for node in sorted(graph.nodes, key=lambda node: (node.phase == "backward", node.order)):
        levels: list[NodeLevels] = []
        read = [relative[slot] for slot in inputs.get(node.id, ()) if slot in relative]
        for slot, output in enumerate(node.outputs):
            level, of_examples = shelf.levels(node, output)
            size = _size(output)
            if level is None and read and output.values is not None:
                level = max(read) * size
            if level is not None and size:
                relative[node.id, slot] = level / size
            levels.append((level, of_examples))
        nodes[node.id] = _leveled(node, levels)
    ordered = tuple(nodes[node.id] for node in graph.nodes)
    return msgspec.structs.replace(graph, nodes=ordered)


def _slots_read(graph: GradGraph) -> dict[str, list[OutputSlot]]:
    """The outputs that each node reads: the node that yields one, and its slot."""
    slots: dict[str, list[OutputSlot]] = {}
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
        self._named: dict[Named, Output] = {}
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


# Ill-conditioned ops


MULTIPLIES = 1e3
"""An op that multiplies the noise by this much, relative to the size of its values, is reported.

Three of the seven digits of float32 are lost there. The 12,500 op values of the shipped scenarios
are multiplied by less than 5 in 99 of 100 ops, and by less than 250 in all of them.
"""

SERIOUS = 1e-5
"""Values with less noise than this, relative to their size, are good enough: float64 has digits to lose."""

ZERO = 1 / 8
"""Noise of this share of a value that cancels makes it a zero.

Such is the gradient of a bias before a batch norm: nothing is lost, it is 0 by its formula.
"""

FEW_TIMES = 8
"""The noise of a sum is at most so many times that of its terms: its own rounding comes on top."""

SUMS = frozenset({"add", "sub", "sum", "mean", "matmul", "conv"})
"""Families of ops whose terms may cancel in forward; in backward the terms of any op may."""


class _Place(NamedTuple):
    """An op that multiplies noise: from ``entering`` to ``leaving``, relative to the values."""

    node: Node
    entering: float
    leaving: float

    @property
    def factor(self) -> float:
        return self.leaving / self.entering


def ill_conditioned(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each line of code at which rounding is multiplied, the worst of a framework first."""
    findings: list[ReportFinding] = []
    for graph in graphs_of_frameworks(graphs):
        findings += [_remark(graph.engine, places) for places in _by_line(_places(graph))]
    return tuple(findings)


def _places(graph: GradGraph) -> Iterator[_Place]:
    """The ops of a graph that multiply noise."""
    outputs: dict[OutputSlot, Output] = {}
    for node in graph.nodes:
        for slot, output in enumerate(node.outputs):
            outputs[node.id, slot] = output
    slots_read = _slots_read(graph)
    for node in graph.nodes:
        slots = slots_read.get(node.id, ())
        operands = [outputs[slot] for slot in slots if slot in outputs]
        known = [operand for operand in operands if _share(operand) is not None]
        # An input of which nothing is known may be as noisy as what comes out.
        if node.kind == "op" and len(known) == len(slots):
            yield from _multiplied(node, operands)


def _multiplied(node: Node, operands: list[Output]) -> Iterator[_Place]:
    entering = max((_share(operand) or 0.0 for operand in operands), default=0.0)
    for output in node.outputs:
        leaving = _share(output)
        if leaving is None or output.dtype not in UNIT or not isfinite(leaving):
            continue
        place = _Place(node, max(entering, UNIT[output.dtype]), leaving)
        is_great = place.factor >= MULTIPLIES and leaving >= SERIOUS
        if is_great and not (leaving >= ZERO and _cancels(node, output, operands)):
            yield place


def _cancels(node: Node, output: Output, operands: list[Output]) -> bool:
    """Whether a value that is nothing but noise is so because its terms cancel.

    A sum has no more noise than its terms, in their own units: such is the mean that a norm saves
    of what another norm has centred. What divides by nothing but noise has far more.
    """
    if node.phase == "backward" or family(node.op) in SUMS:
        return True
    noise = max(map(_noise_of_operand, operands), default=0.0)
    return output.noise is not None and output.noise <= FEW_TIMES * noise


def _noise_of_operand(operand: Output) -> float:
    """The noise of an operand in its own units, at least one rounding of its size."""
    rounding = UNIT.get(operand.dtype, 0.0) * _size(operand)
    return max(operand.noise or 0.0, rounding)


def _share(output: Output) -> float | None:
    """An output's noise relative to the root mean square of its values."""
    if output.values is None or output.noise is None or output.values.nonfinite:
        return None
    if not output.noise:
        return 0.0
    size = output.values.norm / sqrt(prod(output.shape))
    return output.noise / size if size else inf


def _by_line(places: Iterable[_Place]) -> list[list[_Place]]:
    """Places line by line, the worst of a line first, and of the lines."""
    by_line: dict[tuple[str, ...], list[_Place]] = {}
    for place in sorted(places, key=lambda place: -place.factor):
        node = place.node
        by_line.setdefault(node.source[:1] or (node.op, node.scope), []).append(place)
    return list(by_line.values())


def _remark(engine: str, places: list[_Place]) -> ReportFinding:
    """A line of code, by the worst of its places."""
    node, entering, leaving = places[0]
    others = {place.node.id for place in places} - {node.id}
    fact = IllConditioned(
        place=Place(label=node.op, scope=node.scope, source=next(iter(node.source), "")),
        engine=engine,
        factor=places[0].factor,
        entering=entering,
        leaving=leaving,
        others=len(others),
    )
    return ReportFinding(fact=fact, names=(node.scope or node.op,))
