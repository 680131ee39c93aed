"""Deep residual nets in the op names of two engines, forward and backward, with every value."""

from typing import NamedTuple

import msgspec
import numpy as np

from explorer.compare.align import align
from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.graph import Arguments, GradGraph, Layer
from explorer.model.passes import EXPANDED, FINAL
from explorer.model.report import Report
from tests.support.computed_graphs import ComputedGraph
from tests.support.sample_report import report

OPS = {
    "torch-tape": ("aten.mm", "aten.tanh", "aten.add.Tensor", "aten.tanh_backward", "aten.t"),
    "mindspore-graph": ("MatMul", "Tanh", "Add", "TanhGrad", "Transpose"),
}
"""What each engine calls a product, tanh, a sum, the gradient of tanh, and a transposed matrix."""

SHAPE = (8, 16)
NODES_OF_BLOCK = 11
"""How many nodes a block adds, forward and backward, with its parameter."""

SPOILED = "MatMul"
"""The op whose first value is wrong in the nets that part."""

LINE = 5
"""The line of net.py that a block's product comes from."""


class _Block(NamedTuple):
    scope: str
    read: int
    weight: int
    product: int
    active: int


def deep_net(engine: str, blocks: int, spoiled: str = "") -> GradGraph:
    """A net of residual blocks x + tanh(x @ w), and the gradient of its sum by x and each w.

    The first op called ``spoiled`` has one wrong element, and so has all that comes from it.
    """
    mm, tanh, add, tanh_grad, turn = OPS[engine]
    rng = np.random.default_rng(3)
    graph = ComputedGraph(engine, spoiled=spoiled)
    last = graph.leaf("x", _single(rng, SHAPE), "input")
    made = []
    for number in range(blocks):
        scope = f"blocks.{number}"
        inner = f"{scope}.fc"
        weight = graph.leaf(f"{inner}.weight", _single(rng, (SHAPE[1], SHAPE[1])))
        product = graph.op(mm, np.matmul, last, weight, line=LINE, scope=inner)
        active = graph.op(tanh, np.tanh, product, line=LINE + 1, scope=scope)
        made.append(_Block(scope, last, weight, product, active))
        last = graph.op(add, np.add, last, active, line=LINE + 2, scope=scope)
    graph.result("y", last)
    _add_backward(graph, made, mm, add, tanh_grad, turn)
    return graph.record()


def _single(rng: np.random.Generator, shape: tuple[int, ...]) -> AnyArray:
    array: AnyArray = (rng.standard_normal(shape) / 4).astype(np.float32)
    return array


def _add_backward(
    graph: ComputedGraph, made: list[_Block], mm: str, add: str, tanh_grad: str, turn: str
) -> None:
    last = graph.leaf("seed", np.ones(SHAPE, np.float32), "constant", "backward")
    for scope, read, weight, product, active in reversed(made):
        inner = f"{scope}.fc"
        gate = graph.back(
            tanh_grad, lambda g, y: g * (1 - y * y), last, active, scope=scope, forward=active
        )
        turned = graph.back(turn, np.transpose, read, scope=inner, forward=product)
        d_weight = graph.back(mm, np.matmul, turned, gate, scope=inner, forward=product)
        graph.result(f"d{inner}.weight", d_weight, "backward")
        across = graph.back(turn, np.transpose, weight, scope=inner, forward=product)
        d_input = graph.back(mm, np.matmul, gate, across, scope=inner, forward=product)
        last = graph.back(add, np.add, last, d_input, scope=scope)
    graph.result("dx", last, "backward")


def deep_report(blocks: int, spoiled: str = "") -> Report:
    """A report with that net in two engines, in two stages of MindSpore's compiler.

    The earlier stage was not run, and lacks all transposed matrices.
    """
    label = GradCase("grad", 0).label
    tape = msgspec.structs.replace(deep_net("torch-tape", blocks), case=label)
    final = msgspec.structs.replace(
        deep_net("mindspore-graph", blocks, spoiled), case=label, stage=FINAL.stage
    )
    return msgspec.structs.replace(
        report(),
        graphs=(tape, _earlier(final), final),
        ungraphed={},
        alignments=(align(tape, final),),
    )


def with_arguments(whole: Report) -> Report:
    """The report with settings of the blocks' layers, and with arguments of products.

    PyTorch's differ from MindSpore's in ``eps`` alone.
    """
    graphs = []
    for graph in whole.graphs:
        eps = 1e-5 if graph.engine.startswith("torch") else 1e-3
        name = "nn.Linear" if graph.engine.startswith("torch") else "nn.Dense"
        layer = Layer(name, {"eps": eps, "stride": (2, 2), "pad": float("-inf")})
        scopes = {node.scope for node in graph.nodes if node.scope.endswith(".fc")}
        nodes = []
        for node in graph.nodes:
            is_product = node.op in ("aten.mm", "MatMul")
            arguments: Arguments = {"eps": eps, "dim": (0, 1)} if is_product else {}
            nodes.append(msgspec.structs.replace(node, arguments=arguments))
        layers = dict.fromkeys(sorted(scopes), layer)
        graphs.append(msgspec.structs.replace(graph, nodes=tuple(nodes), layers=layers))
    return msgspec.structs.replace(whole, graphs=tuple(graphs))


def _earlier(graph: GradGraph) -> GradGraph:
    """The stage before: without values, and without the nodes that only the last pass makes."""
    turns = {node.id for node in graph.nodes if node.op == "Transpose"}
    nodes = []
    for node in graph.nodes:
        outputs = tuple(msgspec.structs.replace(output, values=None) for output in node.outputs)
        if node.id not in turns:
            nodes.append(msgspec.structs.replace(node, outputs=outputs))
    edges = [edge for edge in graph.edges if not turns & {edge.origin, edge.target}]
    return msgspec.structs.replace(
        graph, stage=EXPANDED.stage, nodes=tuple(nodes), edges=tuple(edges)
    )
