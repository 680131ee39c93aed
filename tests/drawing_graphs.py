"""Gradient graphs written by hand, small and large, for the tests and the benchmark of the
drawings.
"""

from collections.abc import Sequence

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.graph import Edge, GradGraph, Kind, Node, Output, Phase
from explorer.numeric.summaries import summarise


class Build:
    """Collects nodes and edges; ids follow the order in which nodes are added."""

    def __init__(self) -> None:
        """Starts empty."""
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []

    def add(
        self,
        op: str,
        reads: Sequence[str] = (),
        *,
        kind: Kind = "op",
        phase: Phase = "forward",
        name: str = "",
        scope: str = "",
        of: str | None = None,
        shape: tuple[int, ...] = (2, 8),
        value: AnyArray | float | None = None,
        kept: Sequence[str] = (),
        body: str = "",
        missing: str = "",
    ) -> str:
        """Adds a node that reads others (``kept`` ones as saved tensors) and returns its id."""
        id_ = f"n{len(self.nodes)}"
        array = None if value is None else np.asarray(value, np.float32)
        output = Output(
            shape if array is None else array.shape,
            "float32",
            None if array is None else summarise(array),
        )
        self.nodes.append(
            Node(
                id=id_,
                op=op,
                kind=kind,
                phase=phase,
                name=name,
                scope=scope,
                forward=of,
                order=len(self.nodes),
                outputs=(output,),
                source=("net.py:12",),
                body=body,
                missing={"values": missing} if missing else {},
            )
        )
        self.edges += [Edge(origin, id_, 0, slot) for slot, origin in enumerate(reads)]
        self.edges += [
            Edge(origin, id_, 0, len(reads) + slot, "saved") for slot, origin in enumerate(kept)
        ]
        return id_

    def leaf(
        self,
        name: str,
        kind: Kind = "parameter",
        value: AnyArray | None = None,
        shape: tuple[int, ...] = (2, 8),
    ) -> str:
        """Adds an input or a parameter."""
        return self.add(kind, kind=kind, name=name, value=value, shape=shape)

    def back(
        self,
        op: str,
        of: str | None,
        reads: Sequence[str],
        kept: Sequence[str] = (),
        **more: object,
    ) -> str:
        """Adds a backward operator that derives from ``of``."""
        return self.add(op, reads, phase="backward", of=of, kept=kept, **more)  # type: ignore[arg-type]  # passed through

    def gradient(self, name: str, source: str, value: AnyArray | None = None) -> str:
        """Adds a gradient that the graph yields."""
        return self.add("output", [source], kind="output", phase="backward", name=name, value=value)

    def graph(self, case: str = "grad(net, grad_position=0, weights=None)") -> GradGraph:
        """The graph of all that was added."""
        return GradGraph(
            engine="torch-tape",
            case=case,
            stage="tape",
            nodes=tuple(self.nodes),
            edges=tuple(self.edges),
        )


def dense_mse() -> GradGraph:
    """A dense layer with mean squared error, every value in it."""
    b = Build()
    x, y = b.leaf("x", "input", np.array([[1, 2, 3]])), b.leaf("y", "input", np.array(19))
    weight = b.leaf("fc.weight", value=np.array([[2, 3, 4]]))
    turned = b.add("t", [weight], scope="fc", shape=(3, 1))
    product = b.add("mm", [x, turned], scope="fc", value=np.array([[20]]))
    logits = b.add("squeeze", [product], value=np.array(20))
    gap = b.add("sub", [logits, y], scope="loss", value=np.array(1))
    square = b.add("pow", [gap], scope="loss", value=np.array(1))
    loss = b.add("mean", [square], scope="loss", value=np.array(1))
    b.add("output", [loss], kind="output", name="loss", value=np.array(1))
    b.add("output", [logits], kind="output", name="logits", value=np.array(20))
    seed = b.add("ones_like", kind="constant", phase="backward", name="seed", value=np.array(1))
    spread = b.back("expand", loss, [seed], scope="loss", shape=())
    doubled = b.back("mul", square, [spread], [gap], scope="loss", value=np.array(2))
    back = b.back("unsqueeze", logits, [doubled], shape=(1, 1))
    d_weight = b.back("mm", product, [back], [x], scope="fc", value=np.array([[2], [4], [6]]))
    d_input = b.back("mm", product, [back], [turned], scope="fc", value=np.array([[4, 6, 8]]))
    turned_back = b.back("t", turned, [d_weight], scope="fc", shape=(1, 3))
    b.gradient("dx", d_input, np.array([[4, 6, 8]]))
    b.gradient("d fc.weight", turned_back, np.array([[2, 4, 6]]))
    return b.graph()


def convolution() -> GradGraph:
    """Convolution, batch norm, ReLU, max-pool, dense and cross-entropy, in the names of MindSpore's
    compiled graph.
    """
    b = Build()
    x, label = b.leaf("x", "input", shape=(2, 3, 8, 8)), b.leaf("label", "input", shape=(2,))
    names = (
        "conv.weight",
        "bn.weight",
        "bn.bias",
        "bn.running_mean",
        "bn.running_var",
        "fc.weight",
        "fc.bias",
    )
    w = {name: b.leaf(name, shape=(4,)) for name in names}
    conv = b.add("Conv2D", [x, w["conv.weight"]], scope="conv", shape=(2, 4, 8, 8))
    reads = [conv, w["bn.weight"], w["bn.bias"], w["bn.running_mean"], w["bn.running_var"]]
    norm = b.add(
        "BatchNorm",
        reads,
        scope="bn",
        shape=(2, 4, 8, 8),
        value=np.random.default_rng(0).normal(size=(2, 4, 8, 8)),
    )
    relu = b.add("ReLU", [norm], shape=(2, 4, 8, 8))
    pool = b.add("MaxPool", [relu], shape=(2, 4, 4, 4))
    flat = b.add("Flatten", [pool], shape=(2, 64))
    dense = b.add("MatMul", [flat, w["fc.weight"]], scope="fc", shape=(2, 3))
    biased = b.add("BiasAdd", [dense, w["fc.bias"]], scope="fc", shape=(2, 3))
    top = b.add("ReduceMax", [biased], scope="loss", shape=(2, 1))
    less = b.add("Sub", [biased, top], scope="loss", shape=(2, 3))
    power = b.add("Exp", [less], scope="loss", shape=(2, 3))
    total = b.add("SumExt", [power], scope="loss", shape=(2, 1))
    log = b.add("Log", [total], scope="loss", shape=(2, 1))
    logits = b.add("Sub", [less, log], scope="loss", shape=(2, 3))
    index = b.add("ExpandDims", [label], scope="loss", shape=(2, 1))
    picked = b.add("GatherD", [logits, index], scope="loss", shape=(2, 1))
    loss = b.add("SumExt", [picked], scope="loss", value=1.2345)
    b.add("output", [loss], kind="output", name="loss", value=1.2345)
    seed = b.add("OnesLike", kind="constant", phase="backward", name="seed", value=1)
    tile = b.back("Tile", loss, [seed], scope="loss", shape=(2, 1))
    scatter = b.back("GatherDGradV2", picked, [tile], [index], scope="loss", shape=(2, 3))
    d_log = b.back("SumExt", logits, [scatter], scope="loss", shape=(2, 1))
    d_log = b.back("Neg", logits, [d_log], scope="loss", shape=(2, 1))
    d_total = b.back("Div", log, [d_log], [total], scope="loss", shape=(2, 1))
    wide = b.back("Tile", total, [d_total], scope="loss", shape=(2, 3))
    d_power = b.back("Mul", power, [wide], [power], scope="loss", shape=(2, 3))
    added = b.add(
        "AddN", [scatter, d_power], kind="accumulate", phase="backward", scope="loss", shape=(2, 3)
    )
    d_top = b.back("Neg", less, [added], scope="loss", shape=(2, 3))
    d_top = b.back("SumExt", less, [d_top], scope="loss", shape=(2, 1))
    equal = b.back("Equal", top, [], [biased, top], scope="loss", shape=(2, 3))
    share = b.back("Mul", top, [equal, d_top], scope="loss", shape=(2, 3))
    summed = b.add(
        "AddN", [added, share], kind="accumulate", phase="backward", scope="loss", shape=(2, 3)
    )
    d_bias = b.back("BiasAddGrad", biased, [summed], scope="fc", shape=(3,))
    d_weight = b.back("MatMul", dense, [summed], [flat], scope="fc", shape=(3, 64))
    d_flat = b.back("MatMul", dense, [summed, w["fc.weight"]], scope="fc", shape=(2, 64))
    d_pool = b.back("Reshape", flat, [d_flat], shape=(2, 4, 4, 4))
    d_relu = b.back("MaxPoolGrad", pool, [d_pool], [relu, pool], shape=(2, 4, 8, 8))
    d_norm = b.back("ReluGrad", relu, [d_relu], [relu], shape=(2, 4, 8, 8))
    parts = b.back(
        "BatchNormGrad",
        norm,
        [d_norm, w["bn.weight"]],
        [conv, norm],
        scope="bn",
        shape=(2, 4, 8, 8),
    )
    d_conv = b.back(
        "Conv2DBackpropFilter",
        conv,
        [parts],
        [x],
        scope="conv",
        value=np.full((4, 3, 3, 3), np.nan),
    )
    d_x = b.back(
        "Conv2DBackpropInput", conv, [parts, w["conv.weight"]], scope="conv", shape=(2, 3, 8, 8)
    )
    for name, source in (
        ("dx", d_x),
        ("d conv.weight", d_conv),
        ("d bn.weight", parts),
        ("d bn.bias", parts),
    ):
        b.gradient(name, source)
    b.gradient("d fc.weight", d_weight)
    b.gradient("d fc.bias", d_bias)
    return b.graph("grad(net, grad_position=0, weights=all)")


def branches() -> GradGraph:
    """Two parallel branches of one input, a skip past both, and their sum."""
    b = Build()
    x = b.leaf("x", "input", shape=(4, 8))
    weights = [b.leaf(f"{side}.weight", shape=(8, 8)) for side in ("left", "right")]
    stem = b.add("tanh", [x], scope="stem", shape=(4, 8))
    ends, products = [], []
    for side, weight in zip(("left", "right"), weights, strict=True):
        product = b.add("mm", [stem, weight], scope=side, shape=(4, 8))
        products.append(product)
        ends.append(
            b.add("relu" if side == "left" else "sigmoid", [product], scope=side, shape=(4, 8))
        )
    joined = b.add("add", ends, shape=(4, 8))
    skipped = b.add("add", [joined, stem], shape=(4, 8))
    loss = b.add("sum", [skipped], value=3.5)
    b.add("output", [loss], kind="output", name="loss", value=3.5)
    seed = b.add("ones_like", kind="constant", phase="backward", name="seed", value=1)
    wide = b.back("expand", loss, [seed], shape=(4, 8))
    partial = [wide]
    for side, weight, product, end, op in zip(
        ("left", "right"),
        weights,
        products,
        ends,
        ("threshold_backward", "sigmoid_backward"),
        strict=True,
    ):
        d_end = b.back(op, end, [wide], [end], scope=side, shape=(4, 8))
        d_weight = b.back("mm", product, [d_end], [stem], scope=side, shape=(8, 8))
        partial.append(b.back("mm", product, [d_end, weight], scope=side, shape=(4, 8)))
        b.gradient(f"d {side}.weight", d_weight)
    total = b.add(
        "add", partial, kind="accumulate", phase="backward", of=stem, scope="stem", shape=(4, 8)
    )
    d_x = b.back("tanh_backward", stem, [total], [stem], scope="stem", shape=(4, 8))
    b.gradient("dx", d_x)
    return b.graph("grad(net, grad_position=0, weights=all)")


def decided() -> GradGraph:
    """A branch that ran beside one that did not, forward and backward, each taken by a call that
    has the value.
    """
    b = Build()
    left, right, idle = (
        "if x.sum() > 0: true branch",
        "if x.sum() > 0: false branch",
        "this branch did not run for this input",
    )
    x, w = b.leaf("x", "input", np.ones(3), (3,)), b.leaf("w", "parameter", np.ones(3), (3,))
    total = b.add("sum", [x], value=3.0)
    square = b.add("mul", [x, x], value=np.ones(3), body=left)
    scaled = b.add("mul", [w, square], value=np.ones(3), body=left)
    wave = b.add("exp", [x], shape=(3,), body=right, missing=idle)
    other = b.add("mul", [w, wave], shape=(3,), body=right, missing=idle)
    chosen = b.add(
        "call", [total, scaled, other], kind="call", name="if x.sum() > 0", value=np.ones(3)
    )
    loss = b.add("sum", [chosen], value=3.0)
    b.add("output", [loss], kind="output", name="loss", value=3.0)
    seed = b.add("ones", kind="constant", phase="backward", name="seed", value=np.ones(3))
    d_square = b.back("mul", scaled, [seed], [w], value=np.ones(3), body=f"{left}, backward")
    d_x = b.back("mul", square, [d_square], [x], value=np.ones(3), body=f"{left}, backward")
    d_wave = b.back(
        "mul", wave, [seed], [wave, w], shape=(3,), body=f"{right}, backward", missing=idle
    )
    back = b.add(
        "call",
        [d_x, d_wave],
        kind="call",
        phase="backward",
        name="if x.sum() > 0",
        of=chosen,
        value=np.ones(3),
    )
    b.gradient("dx", back, np.ones(3))
    return b.graph()


def tied() -> GradGraph:
    """One parameter used twice: its two gradients are added."""
    b = Build()
    x, weight = b.leaf("x", "input", np.array([1.0, 2.0])), b.leaf("w", value=np.array([3.0, 4.0]))
    first = b.add("mul", [x, weight], scope="first", value=np.array([3.0, 8.0]))
    second = b.add("mul", [first, weight], scope="second", value=np.array([9.0, 32.0]))
    loss = b.add("sum", [second], value=41.0)
    b.add("output", [loss], kind="output", name="loss", value=41.0)
    seed = b.add("ones_like", kind="constant", phase="backward", name="seed", value=1.0)
    wide = b.back("expand", loss, [seed], shape=(2,))
    d_late = b.back("mul", second, [wide], [first], scope="second", value=np.array([3.0, 8.0]))
    onward = b.back("mul", second, [wide, weight], scope="second", value=np.array([3.0, 4.0]))
    d_early = b.back("mul", first, [onward, x], scope="first", value=np.array([3.0, 8.0]))
    d_x = b.back("mul", first, [onward, weight], scope="first", value=np.array([9.0, 16.0]))
    total = b.add(
        "add", [d_late, d_early], kind="accumulate", phase="backward", value=np.array([6.0, 16.0])
    )
    b.gradient("dx", d_x, np.array([9.0, 16.0]))
    b.gradient("dw", total, np.array([6.0, 16.0]))
    return b.graph()


def tiny() -> GradGraph:
    """The square of a scalar."""
    b = Build()
    x = b.leaf("x", "input", np.array(3.0))
    y = b.add("pow", [x], value=9.0)
    b.add("output", [y], kind="output", name="y", value=9.0)
    seed = b.add("ones_like", kind="constant", phase="backward", name="seed", value=1.0)
    d_x = b.back("mul", y, [seed, x], value=6.0)
    b.gradient("dx", d_x, np.array(6.0))
    return b.graph("grad(square)")


def chain(length: int, scope: str = "") -> GradGraph:
    """A chain of ``length`` nodes, half of them backward; ``scope`` is a format string of the
    index.
    """
    b = Build()
    last = b.leaf("x", "input")
    made = []
    for index in range((length - 3) // 2):
        last = b.add("tanh", [last], scope=scope.format(index=index))
        made.append(last)
    b.add("output", [last], kind="output", name="y")
    last = b.add("ones_like", kind="constant", phase="backward", name="seed")
    for node in reversed(made):
        last = b.back("tanh_backward", node, [last], [node], scope=b.nodes[int(node[1:])].scope)
    b.gradient("dx", last)
    return b.graph(f"chain of {length}")


def residual(blocks: int, width: int = 5) -> GradGraph:
    """Residual blocks, each of ``width`` operators and a skip, with a parameter an operator; about
    blocks × 3.4 × width nodes.
    """
    b = Build()
    last = b.leaf("x", "input")
    made: list[tuple[str, list[tuple[str, str, str]], str]] = []
    for block in range(blocks):
        begin, ops = last, []
        for index in range(width):
            weight = b.leaf(f"blocks.{block}.{index}.weight")
            read, last = last, b.add("mm", [last, weight], scope=f"blocks.{block}.linear{index}")
            ops.append((read, weight, last))
        last = b.add("add", [last, begin], scope=f"blocks.{block}")
        made.append((begin, ops, last))
    b.add("output", [last], kind="output", name="y")
    last = b.add("ones_like", kind="constant", phase="backward", name="seed")
    for _, ops, _ in reversed(made):
        skip = last
        for read, weight, node in reversed(ops):
            scope = b.nodes[int(node[1:])].scope
            weight_gradient = b.back("mm", node, [last], [read], scope=scope)
            b.gradient(f"d {b.nodes[int(weight[1:])].name}", weight_gradient)
            last = b.back("mm", node, [last, weight], scope=scope)
        last = b.add("add", [last, skip], kind="accumulate", phase="backward")
    b.gradient("dx", last)
    return b.graph(f"{blocks} residual blocks")


def shared(count: int) -> GradGraph:
    """Subgraphs that all read one value and are all added up."""
    b = Build()
    x = b.leaf("x", "input")
    stem = b.add("exp", [x])
    ends = [
        b.add("sin", [b.add("mul", [stem], scope=f"head{i}")], scope=f"head{i}")
        for i in range(count)
    ]
    total = b.add("add", ends)
    b.add("output", [total], kind="output", name="y")
    seed = b.add("ones_like", kind="constant", phase="backward", name="seed")
    wide = b.back("expand", total, [seed])
    backs = [b.back("cos", end, [wide], [end], scope=b.nodes[int(end[1:])].scope) for end in ends]
    summed = b.add("add", backs, kind="accumulate", phase="backward", of=stem)
    b.gradient("dx", b.back("mul", stem, [summed], [stem]))
    return b.graph(f"{count} shared subgraphs")
