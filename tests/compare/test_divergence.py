"""The first divergence: what a person who migrates a net needs to see, found where it was planted."""

from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.arrays import AnyArray
from explorer.model.divergence import OtherValue
from explorer.model.graph import Absence, GradGraph
from explorer.model.unpaired import Recorded
from explorer.words.divergences import first_divergence, sentence
from explorer.words.readings import reading
from tests.support.alignments import Row, assert_parts, parting, reasons, sources, values_read
from tests.support.computed_graphs import ComputedGraph, one_input
from tests.support.two_layer_nets import (
    BATCH_TIMES_OUTPUTS,
    mindspore_net,
    pytorch_net,
    start,
)
from tests.support.written_nets import net, two_nets

# One element changed


@pytest.mark.parametrize(
    ("op", "phase"),
    [
        *((op, "forward") for op in ("MatMul", "BiasAdd", "ReLU", "Sub", "Square", "ReduceMean")),
        *((op, "backward") for op in ("Muls", "BiasAddGrad", "ReluGrad")),
    ],
)
def test_one_element_changed_by_a_thousandth_is_the_first_divergence(op: str, phase: str) -> None:
    spoiled = mindspore_net(ComputedGraph("spoiled", spoiled=op))
    left, right, sentence = parting(mindspore_net(), spoiled)
    assert (left, right) == (op, op)
    assert sentence.startswith(f"First divergence in {phase}: `{op}` (")
    assert "take equal inputs but give different values" in sentence


def gelu_net(engine: str, gelu: str, multiply: str, share: float) -> GradGraph:
    """A net that passes small numbers through gelu, then great ones, of which it keeps a share."""

    def kept(x: AnyArray) -> AnyArray:
        return np.where(x > 1, share * x, np.maximum(x, 0))

    text = f"""
        x = input: np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]])
        weight = parameter: np.array([[7.0, 5.0, -4.0], [11.0, 2.0, 9.0]])
        first = {gelu} @1: kept(x)
        great = {multiply} @2: first * weight
        out = {gelu} @3: kept(great)
    """
    return net(engine, text, kept=kept)


@pytest.mark.parametrize("left", ["mindspore-graph", "torch-tape"])
def test_where_the_two_ops_are_equal_is_found_whichever_graph_comes_first(left: str) -> None:
    graphs = {
        "mindspore-graph": gelu_net("mindspore-graph", "GeLU", "Mul", 1.0),
        "torch-tape": gelu_net("torch-tape", "aten.gelu.default", "aten.mul.Tensor", 1.2),
    }
    (right,) = graphs.keys() - {left}
    divergence = align(graphs[left], graphs[right]).divergence
    assert isinstance(divergence, OtherValue)
    (places,) = divergence.equal_at
    ops = {"mindspore-graph": "GeLU", "torch-tape": "aten.gelu.default"}
    assert [place.label for place in places] == [ops[left], ops[right]]
    assert [place.source for place in places] == ["net.py:1", "net.py:1"]


def test_a_line_where_two_ops_differ_is_not_said_to_be_one_where_they_agree() -> None:
    def on_one_line(graph: GradGraph) -> GradGraph:
        nodes = [
            msgspec.structs.replace(it, source=it.source and ("net.py:1",)) for it in graph.nodes
        ]
        return msgspec.structs.replace(graph, nodes=tuple(nodes))

    left = gelu_net("mindspore-graph", "GeLU", "Mul", 1.0)
    right = gelu_net("torch-tape", "aten.gelu.default", "aten.mul.Tensor", 1.2)
    divergence = align(on_one_line(left), on_one_line(right)).divergence
    assert isinstance(divergence, OtherValue)
    assert divergence.equal_at == ()


# Two layers


def test_mean_for_sum_is_named_with_its_factor() -> None:
    left, right, sentence = parting(
        pytorch_net(), pytorch_net(ComputedGraph("mindspore-tape"), reduction="sum")
    )
    assert (left, right) == ("aten.mse_loss.default", "aten.mse_loss.default")
    assert f"{BATCH_TIMES_OUTPUTS} times" in sentence
    assert "net.py:8" in sentence


def test_mean_for_sum_across_frameworks_is_named_at_the_reduction() -> None:
    left, right, _ = parting(mindspore_net(), pytorch_net(reduction="sum"))
    assert (left, right) == ("Sub", "aten.mse_loss.default")
    divergence = align(mindspore_net(), pytorch_net(reduction="sum")).divergence
    assert divergence is not None
    assert "the 3 ops from `Sub` (loss, net.py:28) to `ReduceMean`" in sentence(
        divergence, ("a", "b")
    )
    excess = BATCH_TIMES_OUTPUTS - 1
    assert divergence.gap.greatest == pytest.approx(
        excess * float(reading(divergence.ends[0].value)), rel=1e-4
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("l2.bias", np.zeros(3), "start from different values of `l2.bias`"),
        ("y", np.ones((4, 3)), ""),
    ],
)
def test_a_leaf_that_starts_elsewhere_is_the_divergence(
    name: str, value: AnyArray, said: str
) -> None:
    other = pytorch_net(values=start() | {name: value})
    left, right, sentence = parting(mindspore_net(), other)
    assert (left, right) == (name, name)
    assert sentence.startswith("First divergence in forward")
    assert said in sentence


# Small nets


def softmax(x: AnyArray, axis: int = -1) -> AnyArray:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def batch_norm(x: AnyArray, eps: float) -> tuple[AnyArray, ...]:
    """The normalised input, its mean, and the reciprocal of its deviation."""
    mean, deviation = x.mean(0), np.sqrt(x.var(0) + eps)
    return (x - mean) / deviation, mean, 1 / deviation


W = np.random.default_rng(2).standard_normal((4, 4))

KNOWN: dict[str, Any] = {
    "W": W,
    "WIDE": np.random.default_rng(2).standard_normal((8, 3)),
    "LARGE": np.random.default_rng(5).standard_normal((64, 64)),
    "FUTURE": np.triu(np.ones((4, 4)), 1),
    "TIMES": np.arange(24.0).reshape(8, 3),
    "softmax": softmax,
    "batch_norm": batch_norm,
}

HALVES = """
    e = Exp @3: np.exp(x)
    t = Tanh @4: np.tanh(x)
"""

DECOMPOSED = """mean = ReduceMean @3 in bn: x.mean(0)
    variance = ReduceVar @3 in bn: x.var(0)
    centred = Sub @3 in bn: x - mean
    scale = Rsqrt @3 in bn: 1 / np.sqrt(variance + 1e-5)
    out = Mul @3 in bn: centred * scale"""

FUSED = "out = aten.native_batch_norm.default @8 in bn: batch_norm(x, 1e-5)"

WAVE = """
    x = input: np.linspace(0.5, 2, 5)
    s = Twice @2: 2 * x
    y = Wave @3: np.sin(s / 2)
    result out = y
    g = WaveGrad @3 of y: 1 * np.cos(s / 2)
    gradient dx = g
"""
THRICE = (
    ("Twice @2: 2 *", "Thrice @2: 3 *"),
    ("sin(s / 2", "sin(s / 3"),
    ("cos(s / 2", "cos(s / 3"),
)

ROWS = {
    # Inputs and parameters
    "a transposed weight of square shape": Row(
        """
        w = parameter fc.weight: W
        out = MatMul @3: x @ w
        """,
        (("fc.weight: W", "fc.weight: W.T.copy()"),),
        ("MatMul", "MatMul"),
        ("take the same numbers, transposed (`fc.weight` against `fc.weight`) and give",),
    ),
    "a mask of one side is not named where what is masked differs already": Row(
        """
        h = Mul @3: 0.5 * x
        mask = parameter: np.where(FUTURE > 0, -1e8, 0.0)
        rows = Slice @4: mask[:4]
        masked = Add @4: h + rows
        out = Exp @5: np.exp(masked)
        """,
        (("0.5 * x", "0.6 * x"),),
        ("Mul", "Mul"),
        alike=(("mask = parameter", "mask = constant"), ("-1e8", "-1e9")),
    ),
    "a missing bias is named by its parameter": Row(
        """
        w = parameter fc.weight: W
        - y = MatMul @9 in fc: x @ w
        + b = parameter fc.bias: np.arange(4.0)
        + y = aten.addmm.default @4 in fc: b + x @ w
        out = ReLU: np.maximum(y, 0)
        """,
        ends=(None, "fc.bias"),
        said=(
            "only b has the parameter `fc.bias`; ",
            "`aten.addmm.default` (fc, net.py:4) uses it",
        ),
    ),
    "an op that reads a parameter of which the other side reads nothing is one side's alone": Row(
        """
        scale = parameter: np.linspace(0.5, 1.5, 4)
        - out = Tanh @3: np.tanh(x)
        + scaled = Mul @2: x * scale
        + out = Tanh @3: np.tanh(scaled)
        """,
        ends=(None, "Mul"),
        said=("only b has `Mul` (net.py:2)",),
    ),
    "what differs ahead of a parameter that one side alone reads": Row(
        """
        scale = parameter: np.linspace(0.5, 1.5, 4)
        - out = Square @2: np.square(np.tanh(x))
        + h = Sigmoid @2: 1 / (1 + np.exp(-x))
        + out = Pow @2: h ** scale
        """,
        said=("`Sigmoid` (net.py:2)",),
    ),
    "a running statistic is named beside the op that reads it": Row(
        """
        mean = parameter bn.running_mean: np.full(4, 0.5)
        out = BatchNorm @3: x - mean
        """,
        (("0.5", "0.7"),),
        ("BatchNorm", "BatchNorm"),
        ("equal inputs, apart from `bn.running_mean`, but",),
    ),
    "leaves are compared even where graphs name no results": Row(
        "w = parameter: np.array([1.0, 2.0, 4.0])\ne = Exp: np.exp(w)",
        (("2.0", "3.0"),),
        ("w", "w"),
        ("First divergence in forward",),
    ),
    "a leaf of backward parts the graphs in backward": Row(
        """
        x = input: np.array([1.0, 2.0, 4.0])
        sens = input back: np.array([3.0, 5.0, 7.0])
        y = Exp: np.exp(x)
        result out = y
        g = Mul back: x * sens
        gradient dx = g
        """,
        (("3.0, 5.0, 7.0", "6.0, 10.0, 14.0"),),
        ("sens", "sens"),
        ("in backward", "`sens`"),
    ),
    # What two ops read
    "one thing in the place of another": Row(
        """
        gate = MatMul @2: x @ W
        up = MatMul @3: x @ W.T
        opened = SiLU @4: gate / (1 + np.exp(-gate))
        out = Mul @5: opened * up
        """,
        (("* up", "* gate"), ("gate / (1 + np.exp(-gate))", "up / (1 + np.exp(-up))")),
        ("SiLU", "SiLU"),
        ("take different inputs, `MatMul` (net.py:2) against `MatMul` (net.py:3), and give",),
    ),
    "a constant that one side alone reads": Row(
        """
        c = constant: np.array(0.2)
        out = Scale @2: x * c
        """,
        (("c = constant: np.array(0.2)\n", ""), ("x * c", "x * 0.02")),
        ("Scale", "Scale"),
        ("equal inputs (besides 0.2, a constant of a alone) but give",),
    ),
    "a tensor that one side alone reads": Row(
        """
        c = Cos @2: np.cos(x)
        fused = Fuse @3: 2 * x
        out = Add @4: fused + c
        """,
        (("2 * x", "x * c"),),
        ("Fuse", "Fuse"),
        ("take equal inputs, apart from `Cos` (net.py:2) of b alone, but give",),
    ),
    "a tensor that was not observed is not said to be equal": Row(
        """
        m = constant: np.full((4, 4), 0.9)
        out = Mul @2: x * m
        """,
        (("constant: np.full((4, 4), 0.9)", "constant unobserved: np.full((4, 4), 0.1)"),),
        ("Mul", "Mul"),
        ("equal inputs, as far as their values are known, but give",),
    ),
    "what backward starts from is never what only one side has": Row(
        """
        x = input: np.linspace(0.5, 2, 5)
        y = Exp: np.exp(x)
        result out = y
        seed = input back: np.ones(5)
        g = Mul @2 of y: 3 * seed * y
        gradient dx = g
        """,
        (("3 * seed", "2 * seed"),),
        ("Mul", "Mul"),
        alike=(("input back: np.ones(5)", "OnesLike back: np.ones_like(y)"),),
    ),
    "inputs of equal numbers that broadcast otherwise are named with both shapes": Row(
        """
        x = input: W[:3, :3]
        b = input: np.array([1.0, 2.0, 4.0])
        column = Reshape @2: b.reshape(3, 1)
        out = Add @3: x + column
        """,
        (("b.reshape(3, 1)", "b.reshape(3)"),),
        said=("take equal inputs in other shapes, `b` as [3, 1] against [3], and give",),
    ),
    "a fill with another number is named where the number is used": Row(
        """
        filled = FillV2 @2: np.full(x.shape, 2.0)
        out = Mul @3: x * filled
        """,
        (("2.0", "3.0"),),
        ("Mul", "Mul"),
    ),
    # The same ops, done in another way
    "swapped arguments": Row(
        """
        y = input: np.eye(4)
        out = Sub @3: x - y
        """,
        (("x - y", "y - x"),),
        ("Sub", "Sub"),
        ("given in another order", "opposite in sign"),
    ),
    "halves put side by side in another order": Row(
        f"""{HALVES}
        both = Concat @5: np.concatenate((e, t), axis=1)
        scaled = Mul @6: both * 0.7
        weight = parameter: WIDE
        out = MatMul @7: scaled @ weight
        """,
        (("(e, t)", "(t, e)"),),
        ("Concat", "Concat"),
        ("given in another order", "the same numbers in another order"),
    ),
    "numbers that one side alone puts in another order are not called equal": Row(
        f"""{HALVES}
        both = Concat @5: np.concatenate((e, t), axis=1)
        + first = Slice @6: both[:, :4]
        + second = Slice @6: both[:, 4:]
        + turned = Concat @6: np.concatenate((second, first), axis=1)
        weight = parameter: WIDE
        - out = MatMul @7: both @ weight
        + out = MatMul @7: turned @ weight
        """,
        (),
        ("MatMul", "MatMul"),
        (
            "take the same numbers in another order (`Concat` (net.py:5) against `Concat`"
            " (net.py:6)) and give",
        ),
    ),
    "halves that are taken apart again are named where they were put together": Row(
        f"""{HALVES}
        both = Concat @5: np.concatenate((e, t))
        first = Slice @6: both[:4]
        second = Slice @6: both[4:]
        wave = Sin @7: np.sin(first)
        out = Add @8: wave + second
        """,
        (("(e, t)", "(t, e)"),),
        ("Concat", "Concat"),
    ),
    "the other half of what one op takes apart is no other order": Row(
        """
        halves = Split @3: (x[:2], x[2:])
        negative = Neg @4: -halves[0]
        out = Exp @5: np.exp(negative)
        """,
        (("halves[0]", "halves[1]"),),
        ("Neg", "Neg"),
    ),
    "a product of swapped factors and not what reads its transpose": Row(
        f"""{HALVES}
        turned = Transpose @5: t.T
        scores = MatMul @6: e @ turned
        scaled = Mul @7: scores * 0.5
        out = Softmax @8: softmax(scaled)
        """,
        (("t.T", "e.T"), ("e @ turned", "t @ turned")),
        ("MatMul", "MatMul"),
    ),
    "axes moved to other places, where one engine takes the product inside its addition": Row(
        """
        h = Exp @3: np.exp(x)
        flat = Reshape @4: h.reshape(4, 4, 1)
        moved = Permute @5: flat.transpose(0, 1, 2)
        w = parameter: np.full((1, 1), 1.5)
        b = parameter: np.full(1, 0.25)
        y = addmm @6: b + moved @ w
        z = Reshape @7: y.reshape(4, 4)
        out = Add @8: x + z
        """,
        (("transpose(0, 1, 2)", "transpose(1, 0, 2)"),),
        ("Reshape", "Permute"),
        alike=(("y = addmm @6: b + moved @ w", "d = MatMul @6: moved @ w\ny = BiasAdd @6: d + b"),),
    ),
    "of several steps that pass numbers on the one that moves them": Row(
        """
        e = Exp @1: np.exp(x)
        moved = Permute @2: e.T
        same = Reshape @3: moved.copy()
        flat = Reshape @4: same.reshape(2, 8)
        out = MatMul @5: flat @ TIMES
        """,
        (("e.T", "e.copy()"),),
        ("Permute", "Permute"),
    ),
    "of ops that are equally alike the first": Row(
        """
        p = Muls @3: 2 * x
        q = Muls @4: 4 * x
        out = AddN: p + q
        """,
        (("2 * x", "5 * x"), ("4 * x", "11 * x")),
        ("Muls", "Muls"),
        ("`Muls` (net.py:3) and `Muls` (net.py:3)",),
    ),
    "ops of one module whatever they read": Row(
        """
        y = input: 3 * W
        total = Add: x + y
        result sum = total
        curve = Tanh @3 in net.curve: np.tanh(x)
        result out = curve
        """,
        (("Tanh @3 in net.curve: np.tanh(x)", "Softsign @3 in net.curve: np.tanh(y)"),),
        ("Tanh", "Softsign"),
    ),
    "another eps of batch norm at the module even where it is decomposed": Row(
        DECOMPOSED,
        (("1e-5", "1e-2"),),
        ("ReduceVar", "aten.native_batch_norm.default"),
        ("(bn, net.py:3) to `Mul`",),
        alike=((DECOMPOSED, FUSED),),
    ),
    "an equal second output does not excuse a first one that differs": Row(
        """
        norm = BatchNorm @2: batch_norm(x, 1e-5)
        y = ReLU @3: np.maximum(norm[0], 0)
        result out = y
        result bn.running_mean = norm[1]
        """,
        (("1e-5", "1e-1"),),
        ("BatchNorm", "BatchNorm"),
    ),
    "a further output that differs is of two ops that correspond": Row(
        """
        norm = BatchNorm @1: (x - x.mean(0), 0.1 * x.mean(0))
        loss = Sum @2: norm[0].sum()
        result out = loss
        result running_mean = norm[1]
        """,
        (("0.1 *", "0.9 *"),),
        said=(
            "`BatchNorm` (net.py:1) and `BatchNorm` (net.py:1) give different values of `running_mean`",
            "9 times",
        ),
    ),
    "a loss of many ops is compared with one of a single op where both return it": Row(
        """
        x = input: W
        - out = MSELoss @1: np.mean(x**2) + 1
        + powers = Exp @1: np.exp(x)
        + total = ReduceSum @1: powers.sum()
        + out = Div @2: total / 7
        """,
        said=(f"{np.mean(W**2) + 1:.6g} against {np.exp(W).sum() / 7:.6g}",),
    ),
    "ops of one line are compared up to where they are as large as the other op": Row(
        """
        shifted = Sub @3: x - 1
        square = Square @3: np.square(shifted)
        out = ReduceMean @3: square.mean()
        """,
        (("np.square(x", "2 * np.square(x"),),
        ("Sub", "SquaredError"),
        ("the 2 ops from `Sub` (net.py:3) to `Square` and `SquaredError`",),
        alike=(
            ("square = Square @3: np.square(shifted)", ""),
            ("shifted = Sub @3: x - 1", "square = SquaredError @8: np.square(x - 1)"),
            ("ReduceMean @3", "ReduceMean @9"),
        ),
    ),
    "a reshape is not taken for an op that hardly changes its input": Row(
        """
        h = Exp: np.exp(x)
        r = Reshape: h.reshape(2, 8)
        norm = BatchNorm @5: r / np.sqrt(1 + 1e-3)
        out = Sin: np.sin(norm).reshape(4, 4)
        """,
        (("1e-3", "1e-5"),),
        ("BatchNorm", "BatchNorm"),
        alike=(("r = Reshape: h.reshape(2, 8)", ""), ("r /", "h /")),
    ),
    "large values by their figures, in whichever order they lie": Row(
        """
        x = input: LARGE
        t = Tanh: np.tanh(x)
        result out = t
        """,
        (("np.tanh(x)", "1.01 * np.tanh(x)"),),
        ("Tanh", "Tanh"),
        alike=(("result out = t", "moved = T: t.T\nresult out = moved"),),
    ),
    # Gradients
    "a forward difference too small for the outputs is still where gradients part": Row(
        """
        h = Gelu @3: x + 0.1 * x**3
        w = parameter: np.eye(4)
        z = MatMul @4: h @ w
        total = Sum @5: z.sum() * 0 + 5
        result loss = total
        g = GeluGrad @3 of h: h * 2
        gradient dx = g
        """,
        (("0.1 *", "0.12 *"),),
        ("Gelu", "Gelu"),
        ("First divergence in forward",),
    ),
    "steps of forward that lead to equal results are none": Row(
        WAVE,
        (("1 * np.cos", "1.5 * np.cos"),),
        ("WaveGrad", "WaveGrad"),
        ("First divergence in backward",),
        alike=THRICE,
    ),
    "the same op with another value, though the outputs agree": Row(
        WAVE.replace("Twice", "Muls"),
        (("Muls @2: 2 *", "Muls @2: 3 *"), *THRICE[1:], ("1 * np.cos", "1.5 * np.cos")),
        ("Muls", "Muls"),
    ),
    "a gradient that only one side names comes last": Row(
        """
        x = input: np.linspace(0.5, 2, 5)
        y = Sin @2: np.sin(1 * x)
        result out = y
        g = SinGrad of y: 1 * np.cos(1 * x)
        gradient dx = g
        gradient dy = y
        """,
        (("gradient dy = y", ""), ("1 *", "2 *")),
        ("Sin", "Sin"),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_written_otherwise_is_the_divergence_and_what_is_the_same_is_none(
    name: str,
) -> None:
    sentence = assert_parts(ROWS[name], **KNOWN)
    assert not ("equal inputs" in sentence and "different inputs" in sentence)


def test_what_is_absent_has_no_line_and_no_value() -> None:
    row = ROWS["a missing bias is named by its parameter"]
    divergence = align(*two_nets(row.text, **KNOWN)).divergence
    assert divergence is not None
    assert sources(divergence) == ("", "net.py:4")
    assert values_read(divergence) == ("absent", "[0, 1, 2, 3]")


def test_a_gradient_that_only_one_side_names_is_told_where_nothing_else_differs() -> None:
    text = ROWS["a gradient that only one side names comes last"].text
    alignment = align(net("a", text), net("b", text, ("gradient dy = y", "")))
    assert alignment.differing == ("dy",)
    assert "only a returns the gradient `dy`" in first_divergence(alignment)


def test_another_momentum_shows_only_where_running_statistics_are_results() -> None:
    hidden = """
        y = BatchNorm: batch_norm(x, 1e-5)[0]
        running = UpdateMean in bn: 0.1 * x.mean(0)
        result out = y
    """
    left, right = net("a", hidden, **KNOWN), net("b", hidden, ("0.1", "0.9"), **KNOWN)
    alignment = align(left, right)
    assert alignment.divergence is None
    assert reasons(alignment, "left", left) == {"UpdateMean": "bookkeeping"}
    shown = hidden + "result bn.running_mean = running"
    apart = parting(net("a", shown, **KNOWN), net("b", shown, ("0.1", "0.9"), **KNOWN))
    assert apart[:2] == ("UpdateMean", "UpdateMean")


def test_an_unobserved_value_is_never_called_a_difference() -> None:
    freed = {"values": Absence("not_in_ir")}

    def two_ops(graph: ComputedGraph, x: int) -> int:
        sine = graph.op("Sin", np.sin, x, observed=False, missing=freed)
        return graph.op("Exp", np.exp, sine)

    alignment = align(one_input("b", two_ops), net("c", "out = ExpSin: np.exp(np.sin(x))"))
    assert alignment.divergence is None
    assert [(unpaired.reason, unpaired.why) for unpaired in alignment.unpaired] == [
        ("unobserved", Recorded(freed["values"]))
    ]
