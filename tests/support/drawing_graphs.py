"""Gradient graphs written by hand, small and large, for tests and benchmarks of drawing."""

from typing import NamedTuple

import numpy as np

from explorer.model.graph import Absence, GradGraph
from tests.support.handmade_graph import HandmadeGraph


def dense_mse() -> GradGraph:
    """A dense layer with mean squared error, every value in it."""
    g = HandmadeGraph()
    x = g.leaf("x", "input", np.array([[1, 2, 3]]))
    y = g.leaf("y", "input", np.array(19))
    weight = g.leaf("fc.weight", value=np.array([[2, 3, 4]]))
    turned = g.add("t", [weight], scope="fc", shape=(3, 1))
    product = g.add("mm", [x, turned], scope="fc", value=np.array([[20]]))
    logits = g.add("squeeze", [product], value=np.array(20))
    gap = g.add("sub", [logits, y], scope="loss", value=np.array(1))
    square = g.add("pow", [gap], scope="loss", value=np.array(1))
    loss = g.add("mean", [square], scope="loss", value=np.array(1))
    g.result("loss", loss, np.array(1))
    g.result("logits", logits, np.array(20))

    seed = g.seed(value=np.array(1))
    spread = g.back("expand", loss, [seed], scope="loss", shape=())
    doubled = g.back("mul", square, [spread], [gap], scope="loss", value=np.array(2))
    back = g.back("unsqueeze", logits, [doubled], shape=(1, 1))
    d_weight = g.back("mm", product, [back], [x], scope="fc", value=np.array([[2], [4], [6]]))
    d_input = g.back("mm", product, [back], [turned], scope="fc", value=np.array([[4, 6, 8]]))
    turned_back = g.back("t", turned, [d_weight], scope="fc", shape=(1, 3))
    g.gradient("dx", d_input, np.array([[4, 6, 8]]))
    g.gradient("d fc.weight", turned_back, np.array([[2, 4, 6]]))
    return g.record()


def convolution() -> GradGraph:
    """A convolution net in the names of MindSpore's compiled graph.

    Convolution, batch norm, ReLU, max-pool, dense and cross-entropy.
    """
    g = HandmadeGraph()
    x = g.leaf("x", "input", shape=(2, 3, 8, 8))
    label = g.leaf("label", "input", shape=(2,))
    names = (
        "conv.weight",
        "bn.weight",
        "bn.bias",
        "bn.running_mean",
        "bn.running_var",
        "fc.weight",
        "fc.bias",
    )
    w = {name: g.leaf(name, shape=(4,)) for name in names}
    conv = g.add("Conv2D", [x, w["conv.weight"]], scope="conv", shape=(2, 4, 8, 8))
    reads = [conv, w["bn.weight"], w["bn.bias"], w["bn.running_mean"], w["bn.running_var"]]
    norm = g.add(
        "BatchNorm",
        reads,
        scope="bn",
        shape=(2, 4, 8, 8),
        value=np.random.default_rng(0).normal(size=(2, 4, 8, 8)),
    )
    relu = g.add("ReLU", [norm], shape=(2, 4, 8, 8))
    pool = g.add("MaxPool", [relu], shape=(2, 4, 4, 4))
    flat = g.add("Flatten", [pool], shape=(2, 64))
    dense = g.add("MatMul", [flat, w["fc.weight"]], scope="fc", shape=(2, 3))
    biased = g.add("BiasAdd", [dense, w["fc.bias"]], scope="fc", shape=(2, 3))
    top = g.add("ReduceMax", [biased], scope="loss", shape=(2, 1))
    less = g.add("Sub", [biased, top], scope="loss", shape=(2, 3))
    power = g.add("Exp", [less], scope="loss", shape=(2, 3))
    total = g.add("SumExt", [power], scope="loss", shape=(2, 1))
    log = g.add("Log", [total], scope="loss", shape=(2, 1))
    logits = g.add("Sub", [less, log], scope="loss", shape=(2, 3))
    index = g.add("ExpandDims", [label], scope="loss", shape=(2, 1))
    picked = g.add("GatherD", [logits, index], scope="loss", shape=(2, 1))
    loss = g.add("SumExt", [picked], scope="loss", value=1.2345)
    g.result("loss", loss, 1.2345)

    seed = g.seed("OnesLike", value=1)
    tile = g.back("Tile", loss, [seed], scope="loss", shape=(2, 1))
    scatter = g.back("GatherDGradV2", picked, [tile], [index], scope="loss", shape=(2, 3))
    d_log = g.back("SumExt", logits, [scatter], scope="loss", shape=(2, 1))
    d_log = g.back("Neg", logits, [d_log], scope="loss", shape=(2, 1))
    d_total = g.back("Div", log, [d_log], [total], scope="loss", shape=(2, 1))
    wide = g.back("Tile", total, [d_total], scope="loss", shape=(2, 3))
    d_power = g.back("Mul", power, [wide], [power], scope="loss", shape=(2, 3))
    added = g.accumulate("AddN", [scatter, d_power], scope="loss", shape=(2, 3))
    d_top = g.back("Neg", less, [added], scope="loss", shape=(2, 3))
    d_top = g.back("SumExt", less, [d_top], scope="loss", shape=(2, 1))
    equal = g.back("Equal", top, [], [biased, top], scope="loss", shape=(2, 3))
    share = g.back("Mul", top, [equal, d_top], scope="loss", shape=(2, 3))
    summed = g.accumulate("AddN", [added, share], scope="loss", shape=(2, 3))
    d_bias = g.back("BiasAddGrad", biased, [summed], scope="fc", shape=(3,))
    d_weight = g.back("MatMul", dense, [summed], [flat], scope="fc", shape=(3, 64))
    d_flat = g.back("MatMul", dense, [summed, w["fc.weight"]], scope="fc", shape=(2, 64))
    d_pool = g.back("Reshape", flat, [d_flat], shape=(2, 4, 4, 4))
    d_relu = g.back("MaxPoolGrad", pool, [d_pool], [relu, pool], shape=(2, 4, 8, 8))
    d_norm = g.back("ReluGrad", relu, [d_relu], [relu], shape=(2, 4, 8, 8))
    parts = g.back(
        "BatchNormGrad",
        norm,
        [d_norm, w["bn.weight"]],
        [conv, norm],
        scope="bn",
        shape=(2, 4, 8, 8),
    )
    d_conv = g.back(
        "Conv2DBackpropFilter",
        conv,
        [parts],
        [x],
        scope="conv",
        value=np.full((4, 3, 3, 3), np.nan),
    )
    d_x = g.back(
        "Conv2DBackpropInput", conv, [parts, w["conv.weight"]], scope="conv", shape=(2, 3, 8, 8)
    )
    g.gradient("dx", d_x)
    g.gradient("d conv.weight", d_conv)
    g.gradient("d bn.weight", parts)
    g.gradient("d bn.bias", parts)
    g.gradient("d fc.weight", d_weight)
    g.gradient("d fc.bias", d_bias)
    return g.record("grad(net, grad_position=0, weights=all)")


def branches() -> GradGraph:
    """Two parallel branches of one input, a skip past both, and their sum."""
    g = HandmadeGraph()
    x = g.leaf("x", "input", shape=(4, 8))
    left_weight = g.leaf("left.weight", shape=(8, 8))
    right_weight = g.leaf("right.weight", shape=(8, 8))
    stem = g.add("tanh", [x], scope="stem", shape=(4, 8))
    left = g.add("mm", [stem, left_weight], scope="left", shape=(4, 8))
    relu = g.add("relu", [left], scope="left", shape=(4, 8))
    right = g.add("mm", [stem, right_weight], scope="right", shape=(4, 8))
    sigmoid = g.add("sigmoid", [right], scope="right", shape=(4, 8))
    joined = g.add("add", [relu, sigmoid], shape=(4, 8))
    skipped = g.add("add", [joined, stem], shape=(4, 8))
    loss = g.add("sum", [skipped], value=3.5)
    g.result("loss", loss, 3.5)

    wide = g.back("expand", loss, [g.seed(value=1)], shape=(4, 8))
    d_left = g.back("threshold_backward", relu, [wide], [relu], scope="left", shape=(4, 8))
    d_left_weight = g.back("mm", left, [d_left], [stem], scope="left", shape=(8, 8))
    from_left = g.back("mm", left, [d_left, left_weight], scope="left", shape=(4, 8))
    g.gradient("d left.weight", d_left_weight)
    d_right = g.back("sigmoid_backward", sigmoid, [wide], [sigmoid], scope="right", shape=(4, 8))
    d_right_weight = g.back("mm", right, [d_right], [stem], scope="right", shape=(8, 8))
    from_right = g.back("mm", right, [d_right, right_weight], scope="right", shape=(4, 8))
    g.gradient("d right.weight", d_right_weight)
    parts = [wide, from_left, from_right]
    d_stem = g.accumulate("add", parts, forward=stem, scope="stem", shape=(4, 8))
    d_x = g.back("tanh_backward", stem, [d_stem], [stem], scope="stem", shape=(4, 8))
    g.gradient("dx", d_x)
    return g.record("grad(net, grad_position=0, weights=all)")


def decided() -> GradGraph:
    """A branch that ran beside one that did not, forward and backward.

    Each is taken by a call, which has the value.
    """
    g = HandmadeGraph()
    left = "if x.sum() > 0: true branch"
    right = "if x.sum() > 0: false branch"
    idle = Absence("branch_not_run")
    x = g.leaf("x", "input", np.ones(3))
    w = g.leaf("w", "parameter", np.ones(3))
    total = g.add("sum", [x], value=3.0)
    square = g.add("mul", [x, x], value=np.ones(3), body=left)
    scaled = g.add("mul", [w, square], value=np.ones(3), body=left)
    wave = g.add("exp", [x], shape=(3,), body=right, missing=idle)
    other = g.add("mul", [w, wave], shape=(3,), body=right, missing=idle)
    chosen = g.add(
        "call", [total, scaled, other], kind="call", name="if x.sum() > 0", value=np.ones(3)
    )
    loss = g.add("sum", [chosen], value=3.0)
    g.result("loss", loss, 3.0)

    seed = g.seed("ones", value=np.ones(3))
    d_square = g.back("mul", scaled, [seed], [w], value=np.ones(3), body=f"{left}, backward")
    d_x = g.back("mul", square, [d_square], [x], value=np.ones(3), body=f"{left}, backward")
    d_wave = g.back(
        "mul", wave, [seed], [wave, w], shape=(3,), body=f"{right}, backward", missing=idle
    )
    back = g.add(
        "call",
        [d_x, d_wave],
        kind="call",
        phase="backward",
        name="if x.sum() > 0",
        forward=chosen,
        value=np.ones(3),
    )
    g.gradient("dx", back, np.ones(3))
    return g.record()


def tiny() -> GradGraph:
    """The square of a scalar."""
    g = HandmadeGraph()
    x = g.leaf("x", "input", np.array(3.0))
    y = g.add("pow", [x], value=9.0)
    g.result("y", y, 9.0)

    seed = g.seed(value=1.0)
    d_x = g.back("mul", y, [seed, x], value=6.0)
    g.gradient("dx", d_x, np.array(6.0))
    return g.record("grad(square)")


def chain(length: int, scope: str = "") -> GradGraph:
    """A chain of ``length`` nodes, half of them backward.

    ``scope`` is a format string of the index.
    """
    g = HandmadeGraph()
    last = g.leaf("x", "input")
    steps = []
    for index in range((length - 3) // 2):
        last = g.add("tanh", [last], scope=scope.format(index=index))
        steps.append(last)
    g.result("y", last)

    last = g.seed()
    for step in reversed(steps):
        last = g.back("tanh_backward", step, [last], [step], scope=g.node(step).scope)
    g.gradient("dx", last)
    return g.record(f"chain of {length}")


class _Linear(NamedTuple):
    """A product of a residual block: what it reads, its parameter, and itself."""

    read: str
    weight: str
    product: str


def residual(blocks: int, width: int = 5) -> GradGraph:
    """Residual blocks, each of ``width`` operators and a skip, with a parameter an operator.

    They have about blocks × 3.4 × width nodes.
    """
    g = HandmadeGraph()
    last = g.leaf("x", "input")
    linears_of_blocks: list[list[_Linear]] = []
    for block in range(blocks):
        begin = last
        linears = []
        for index in range(width):
            weight = g.leaf(f"blocks.{block}.{index}.weight")
            product = g.add("mm", [last, weight], scope=f"blocks.{block}.linear{index}")
            linears.append(_Linear(last, weight, product))
            last = product
        last = g.add("add", [last, begin], scope=f"blocks.{block}")
        linears_of_blocks.append(linears)
    g.result("y", last)

    last = g.seed()
    for linears in reversed(linears_of_blocks):
        skip = last
        for read, weight, product in reversed(linears):
            scope = g.node(product).scope
            d_weight = g.back("mm", product, [last], [read], scope=scope)
            g.gradient(f"d {g.node(weight).name}", d_weight)
            last = g.back("mm", product, [last, weight], scope=scope)
        last = g.accumulate("add", [last, skip])
    g.gradient("dx", last)
    return g.record(f"{blocks} residual blocks")


class _Normed(NamedTuple):
    """A convolution and its batch norm: what they read, and their parameters."""

    read: str
    conv: str
    norm: str
    weights: tuple[str, ...]


def bottlenecks(blocks: int) -> GradGraph:
    """Residual bottlenecks in training mode, as PyTorch's tape has them.

    Each block has three convolutions with their batch norms, and about 48 nodes.
    """
    g = HandmadeGraph()
    last = g.leaf("x", "input")
    blocks_of_layers: list[tuple[str, list[_Normed]]] = []
    moved: list[tuple[str, str]] = []
    for block in range(blocks):
        begin = last
        layers = []
        for number in (1, 2, 3):
            conv_scope, scope = f"layers.{block}.conv{number}", f"layers.{block}.bn{number}"
            weights = tuple(
                g.leaf(name)
                for name in (f"{conv_scope}.weight", f"{scope}.weight", f"{scope}.bias")
            )
            state = [f"{scope}.running_mean", f"{scope}.running_var"]
            batches = g.leaf(f"{scope}.num_batches_tracked")
            conv = g.add("convolution", [last, weights[0]], scope=conv_scope)
            g.add("add_", [batches], scope=scope)
            reads = [conv, *weights[1:], *(g.leaf(name) for name in state)]
            norm = g.add("native_batch_norm", reads, scope=scope)
            moved += [(name, norm) for name in state]
            layers.append(_Normed(last, conv, norm, weights))
            last = g.add("relu", [norm], scope=f"layers.{block}.relu")
        last = g.add("add", [last, begin], scope=f"layers.{block}")
        blocks_of_layers.append((last, layers))
    g.result("y", last)
    for name, norm in moved:
        g.result(name, norm)

    last = g.seed()
    for sum_, layers in reversed(blocks_of_layers):
        skip = last
        for layer in reversed(layers):
            name = g.node(layer.weights[0]).name
            scope = g.node(layer.norm).scope
            last = g.back("relu_backward", layer.norm, [last], [layer.norm], scope=scope)
            last = g.back("norm_backward", layer.norm, [last], [layer.conv], scope=scope)
            for weight in layer.weights[1:]:
                g.gradient(f"d{g.node(weight).name}", last)
            scope = g.node(layer.conv).scope
            last = g.back("conv_backward", layer.conv, [last], [layer.read], scope=scope)
            g.gradient(f"d{name}", last)
        last = g.accumulate("add", [last, skip], forward=sum_)
    g.gradient("dx", last)
    return g.record(f"{blocks} bottlenecks")


def experts(count: int) -> GradGraph:
    """A mixture of experts that stand side by side: each two products, weighted and summed."""
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    gate = g.add("softmax", [x], scope="gate")
    total = ""
    linears: list[_Linear] = []
    for index in range(count):
        last = x
        for name in ("up", "down"):
            scope = f"experts.{index}.{name}"
            weight = g.leaf(f"{scope}.weight")
            product = g.add("mm", [last, g.add("t", [weight], scope=scope)], scope=scope)
            linears.append(_Linear(last, weight, product))
            last = product
        share = g.add("mul", [g.add("slice", [gate]), last])
        total = g.add("add", [total, share]) if total else share
    g.result("y", total)

    seed = g.seed()
    for up, down in zip(linears[::2], linears[1::2], strict=True):
        back = g.back("mul", down.product, [seed], [gate])
        for linear in (down, up):
            scope = g.node(linear.product).scope
            d_weight = g.back("mm", linear.product, [back], [linear.read], scope=scope)
            g.gradient(f"d{g.node(linear.weight).name}", d_weight)
            back = g.back("mm", linear.product, [back, linear.weight], scope=scope)
    return g.record(f"{count} experts")


def unrolled(steps: int) -> GradGraph:
    """A recurrent cell unrolled: the same two modules at each step, with operators between them."""
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    weights = {name: g.leaf(f"{name}.weight") for name in ("gate", "state")}
    last = g.add("zeros")
    cells = []
    for _ in range(steps):
        joined = g.add("cat", [g.add("select", [x]), last])
        gate = g.add("sigmoid", [g.add("mm", [joined, weights["gate"]], scope="gate")])
        state = g.add("tanh", [g.add("mm", [joined, weights["state"]], scope="state")])
        last = g.add("mul", [gate, state])
        cells.append((joined, gate, state, last))
    g.result("y", last)

    back = g.seed()
    for joined, gate, state, cell in reversed(cells):
        back = g.back("mul", cell, [back], [gate, state])
        d_gate = g.back("sigmoid_backward", gate, [back], [gate], scope="gate")
        d_state = g.back("tanh_backward", state, [back], [state], scope="state")
        back = g.accumulate("add", [d_gate, d_state], forward=joined)
    return g.record(f"{steps} steps")


def shared(count: int) -> GradGraph:
    """Subgraphs that all read one value and are all added up."""
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    stem = g.add("exp", [x])
    heads = []
    for index in range(count):
        scope = f"head{index}"
        heads.append(g.add("sin", [g.add("mul", [stem], scope=scope)], scope=scope))
    total = g.add("add", heads)
    g.result("y", total)

    wide = g.back("expand", total, [g.seed()])
    backs = [g.back("cos", head, [wide], [head], scope=g.node(head).scope) for head in heads]
    summed = g.accumulate("add", backs, forward=stem)
    g.gradient("dx", g.back("mul", stem, [summed], [stem]))
    return g.record(f"{count} shared subgraphs")
