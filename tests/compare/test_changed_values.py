"""No value can be changed in a captured graph without the alignment saying so."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment, SideName
from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph, Node
from explorer.numeric.summaries import summarise
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.workers.workers import Workers

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

FACTOR = 1.01
NOISE = 1e-5
"""The greatest element of a gradient that cancels: a hundredth of it is no difference."""

NAMES = (
    *("attention_block", "batch_norm_eval", "conv_bn_relu_pool", "conv_transpose", "dense_mse"),
    *("linear_bce", "odd_padding", "polynomial", "shared_weight", "top_k_mixture"),
)


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
    values = summarise((FACTOR * array).astype(array.dtype))
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


@pytest.mark.parametrize("name", NAMES)
def test_a_value_that_is_off_by_a_hundredth_is_told(workers: Workers, name: str) -> None:
    engines = ("mindspore-tape", "torch-tape")
    report = explore(load(find(name)), workers, engines=engines, selection="main")
    graphs = {graph.engine: graph for graph in report.graphs}
    left, right = (graphs[engine] for engine in engines)
    untold = []
    for side, graph in (("left", left), ("right", right)):
        for node in graph.nodes:
            off = changed(graph, node) if node.kind == "op" else None
            if off is not None:
                alignment = align(off, right) if side == "left" else align(left, off)
                if not is_told(alignment, side, node.id):  # type: ignore[arg-type]
                    untold.append((side, node.id, node.op))
    assert untold == []
