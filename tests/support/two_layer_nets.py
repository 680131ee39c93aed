"""One small net as two frameworks show it, forward and backward.

Two dense layers, relu and squared error.
"""

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph
from tests.support.computed_graphs import ComputedGraph
from tests.support.written_nets import written

BATCH_TIMES_OUTPUTS = 12
"""What the mean of the squared error divides the sum by."""

LEAVES = """
    x = input: START["x"]
    y = input: START["y"]
    weight1 = parameter l1.weight: START["l1.weight"]
    bias1 = parameter l1.bias: START["l1.bias"]
    weight2 = parameter l2.weight: START["l2.weight"]
    bias2 = parameter l2.bias: START["l2.bias"]
"""

RESULTS = """
    result loss = loss
    gradient dx = dx
    gradient dl1.weight = dw1
    gradient dl1.bias = db1
    gradient dl2.weight = dw2
    gradient dl2.bias = db2
"""

# As PyTorch's dispatcher shows it: a dense layer is one op, and so is the loss.
PYTORCH = """
    turned1 = aten.t.default @5 in l1: weight1.T
    a = aten.addmm.default @5 in l1: bias1 + x @ turned1
    h = aten.relu.default @6: np.maximum(a, 0)
    turned2 = aten.t.default @7 in l2: weight2.T
    z = aten.addmm.default @7 in l2: bias2 + h @ turned2
    loss = aten.mse_loss.default @8: ((z - y) ** 2).sum() / COUNT
    one = aten.ones_like.default back: np.array(1.0)
    dz = aten.mse_loss_backward.default of loss: one * 2 * (z - y) / COUNT
    dh = aten.mm.default of z: dz @ weight2
    dw2 = aten.mm.default of z: dz.T @ h
    db2 = aten.sum.dim_IntList of z: dz.sum(0)
    da = aten.threshold_backward.default of h: dh * (h > 0)
    dx = aten.mm.default of a: da @ weight1
    dw1 = aten.mm.default of a: da.T @ x
    db1 = aten.sum.dim_IntList of a: da.sum(0)
"""

# As MindSpore's IR shows it: MatMul and BiasAdd are apart, the loss is in pieces, and the gradients are
# in another order.
MINDSPORE = """
    m1 = MatMul @25 in l1: x @ weight1.T
    a = BiasAdd @25 in l1: m1 + bias1
    h = ReLU @26: np.maximum(a, 0)
    m2 = MatMul @27 in l2: h @ weight2.T
    z = BiasAdd @27 in l2: m2 + bias2
    error = Sub @28 in loss: z - y
    square = Square @28 in loss: np.square(error)
    loss = ReduceMean @28 in loss: square.mean()
    shares = Fill of loss: np.full(square.shape, 1 / square.size)
    scaled = Mul of square: shares * error
    dz = Muls of square: 2 * scaled
    db2 = BiasAddGrad of z: dz.sum(0)
    dw2 = MatMul of m2: dz.T @ h
    dh = MatMul of m2: dz @ weight2
    da = ReluGrad of h: dh * (h > 0)
    db1 = BiasAddGrad of a: da.sum(0)
    dw1 = MatMul of m1: da.T @ x
    dx = MatMul of m1: da @ weight1
"""


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
    """The net with PyTorch's ops."""
    count = BATCH_TIMES_OUTPUTS if reduction == "mean" else 1
    text = LEAVES + PYTORCH + RESULTS
    made = graph or ComputedGraph("torch-tape")
    return written(made, text, START=values or start(), COUNT=count)


def mindspore_net(graph: ComputedGraph | None = None) -> GradGraph:
    """The net with MindSpore's ops."""
    made = graph or ComputedGraph("mindspore-graph")
    return written(made, LEAVES + MINDSPORE + RESULTS, START=start())
