"""One small net as two frameworks show it, forward and backward.

Two dense layers, relu and squared error.
"""

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph
from tests.support.computed_graphs import ComputedGraph

BATCH_TIMES_OUTPUTS = 12
"""What the mean of the squared error divides the sum by."""


def start() -> dict[str, AnyArray]:
    """The inputs x and y, and the parameters."""
    rng = np.random.default_rng(0)
    shapes = {
        "x": (4, 5),
        "y": (4, 3),
        "l1.weight": (6, 5),
        "l1.bias": (6,),
        "l2.weight": (3, 6),
        "l2.bias": (3,),
    }
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def pytorch_net(
    graph: ComputedGraph | None = None,
    values: dict[str, AnyArray] | None = None,
    reduction: str = "mean",
) -> GradGraph:
    """As PyTorch's dispatcher shows it: a dense layer is one op, and so is the loss."""
    g = graph or ComputedGraph("torch-tape")
    leaves = _leaves(g, values)
    reduce = np.mean if reduction == "mean" else np.sum
    count = BATCH_TIMES_OUTPUTS if reduction == "mean" else 1

    w1 = g.op("aten.t.default", np.transpose, leaves["l1.weight"], line=5, scope="l1")
    a = g.op("aten.addmm.default", addmm, leaves["l1.bias"], leaves["x"], w1, line=5, scope="l1")
    h = g.op("aten.relu.default", relu, a, line=6)
    w2 = g.op("aten.t.default", np.transpose, leaves["l2.weight"], line=7, scope="l2")
    z = g.op("aten.addmm.default", addmm, leaves["l2.bias"], h, w2, line=7, scope="l2")
    y = leaves["y"]
    loss = g.op("aten.mse_loss.default", lambda z, y: reduce((z - y) ** 2), z, y, line=8)

    one = g.hold("aten.ones_like.default", 1.0, phase="backward")
    dz = g.back(
        "aten.mse_loss_backward.default",
        lambda one, z, y: 2 * (z - y) / count * one,
        *(one, z, y),
        forward=loss,
    )
    dh = g.back("aten.mm.default", np.matmul, dz, leaves["l2.weight"], forward=z)
    dw2 = g.back("aten.mm.default", transposed_product, dz, h, forward=z)
    db2 = g.back("aten.sum.dim_IntList", column_sums, dz, forward=z)
    da = g.back("aten.threshold_backward.default", relu_gradient, dh, h, forward=h)
    dx = g.back("aten.mm.default", np.matmul, da, leaves["l1.weight"], forward=a)
    dw1 = g.back("aten.mm.default", transposed_product, da, leaves["x"], forward=a)
    db1 = g.back("aten.sum.dim_IntList", column_sums, da, forward=a)
    _results(g, loss, (dx, dw1, db1, dw2, db2))
    return g.record()


def mindspore_net(
    graph: ComputedGraph | None = None, values: dict[str, AnyArray] | None = None
) -> GradGraph:
    """As MindSpore's IR shows it.

    MatMul and BiasAdd are apart, the loss is in pieces, the gradients are in another order.
    """
    g = graph or ComputedGraph("mindspore-graph")
    leaves = _leaves(g, values)
    m1 = g.op("MatMul", product_transposed, leaves["x"], leaves["l1.weight"], line=25, scope="l1")
    a = g.op("BiasAdd", np.add, m1, leaves["l1.bias"], line=25, scope="l1")
    h = g.op("ReLU", relu, a, line=26)
    m2 = g.op("MatMul", product_transposed, h, leaves["l2.weight"], line=27, scope="l2")
    z = g.op("BiasAdd", np.add, m2, leaves["l2.bias"], line=27, scope="l2")
    error = g.op("Sub", np.subtract, z, leaves["y"], line=28, scope="loss")
    square = g.op("Square", np.square, error, line=28, scope="loss")
    loss = g.op("ReduceMean", np.mean, square, line=28, scope="loss")

    shares = g.back("Fill", lambda s: np.full(s.shape, 1 / s.size), square, forward=loss)
    scaled = g.back("Mul", np.multiply, shares, error, forward=square)
    dz = g.back("Muls", lambda scaled: 2 * scaled, scaled, forward=square)
    db2 = g.back("BiasAddGrad", column_sums, dz, forward=z)
    dw2 = g.back("MatMul", transposed_product, dz, h, forward=m2)
    dh = g.back("MatMul", np.matmul, dz, leaves["l2.weight"], forward=m2)
    da = g.back("ReluGrad", relu_gradient, dh, h, forward=h)
    db1 = g.back("BiasAddGrad", column_sums, da, forward=a)
    dw1 = g.back("MatMul", transposed_product, da, leaves["x"], forward=m1)
    dx = g.back("MatMul", np.matmul, da, leaves["l1.weight"], forward=m1)
    _results(g, loss, (dx, dw1, db1, dw2, db2))
    return g.record()


def _leaves(graph: ComputedGraph, values: dict[str, AnyArray] | None) -> dict[str, int]:
    leaves = {}
    for name, value in (values or start()).items():
        leaves[name] = graph.leaf(name, value, "input" if len(name) == 1 else "parameter")
    return leaves


def _results(graph: ComputedGraph, loss: int, gradients: tuple[int, ...]) -> None:
    graph.result("loss", loss)
    names = ("dx", "dl1.weight", "dl1.bias", "dl2.weight", "dl2.bias")
    for name, gradient in zip(names, gradients, strict=True):
        graph.result(name, gradient, "backward")


def relu(a: AnyArray) -> AnyArray:
    return np.maximum(a, 0)


def relu_gradient(dh: AnyArray, h: AnyArray) -> AnyArray:
    gradient: AnyArray = dh * (h > 0)
    return gradient


def addmm(b: AnyArray, x: AnyArray, w: AnyArray) -> AnyArray:
    dense: AnyArray = x @ w + b
    return dense


def product_transposed(x: AnyArray, w: AnyArray) -> AnyArray:
    product: AnyArray = x @ w.T
    return product


def transposed_product(g: AnyArray, x: AnyArray) -> AnyArray:
    product: AnyArray = g.T @ x
    return product


def column_sums(g: AnyArray) -> AnyArray:
    sums: AnyArray = g.sum(0)
    return sums
