"""Graphs in which one recorded value is changed, and what an alignment says of it."""

from collections.abc import Iterator

import msgspec
import numpy as np

from explorer.compare.align import align
from explorer.model.alignment import Alignment
from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph, Node, SideName
from explorer.numeric.summaries import summarise

FACTOR = 1.01

NOISE = 1e-5
"""The greatest element of a gradient that cancels: a hundredth of it is no difference."""


def changes(left: GradGraph, right: GradGraph) -> Iterator[tuple[SideName, Node, bool]]:
    """Change the value of one op node after another; the side, the node and whether that is told."""
    for node, off in _changed_graphs(left):
        yield "left", node, is_told(align(off, right), "left", node.id)
    for node, off in _changed_graphs(right):
        yield "right", node, is_told(align(left, off), "right", node.id)


def _changed_graphs(graph: GradGraph) -> Iterator[tuple[Node, GradGraph]]:
    """Each op node whose value can be changed, with the graph in which it is."""
    for node in graph.nodes:
        off = changed(graph, node) if node.kind == "op" else None
        if off is not None:
            yield node, off


def changed(graph: GradGraph, node: Node) -> GradGraph | None:
    """A graph in which one node's first value is off by a hundredth; None where it cannot be."""
    if not node.outputs or node.outputs[0].values is None:
        return None
    output = node.outputs[0]
    whole = node.outputs[0].values.whole
    if whole is None:
        return None
    array = unpack(whole)
    if array.dtype.kind != "f" or not np.abs(array).max(initial=0) > NOISE:
        return None
    scaled = (FACTOR * array).astype(array.dtype)
    if np.array_equal(scaled, array, equal_nan=True):
        return None  # infinities
    values = summarise(scaled)
    outputs = (msgspec.structs.replace(output, values=values), *node.outputs[1:])
    # A proof speaks of the value that was there.
    off = msgspec.structs.replace(node, outputs=outputs, proof="")
    nodes = tuple(off if other is node else other for other in graph.nodes)
    return msgspec.structs.replace(graph, nodes=nodes)


def is_told(alignment: Alignment, side: SideName, node: str) -> bool:
    """Whether something is said of a node: a divergence, or that its value has no partner.

    Of a step inside an op of the other side whose op no arithmetic can follow it is said that
    nothing confirms it.
    """
    if alignment.divergence:
        return True
    if any((lone.side, lone.node) == (side, node) for lone in alignment.unpaired):
        return True
    partners = {getattr(pair, side) for pair in alignment.pairs}
    return node not in partners and alignment.unproven > 0 and not alignment.is_same
