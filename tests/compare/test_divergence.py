"""The first divergence: what a person who migrates a net needs to see, found where it was planted."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Recorded
from explorer.model.arrays import AnyArray
from explorer.model.divergence import OtherValue
from explorer.model.graph import Absence, GradGraph
from explorer.words.divergences import first_divergence, sentence
from explorer.words.readings import reading
from tests.support.alignments import Row, assert_parts, parting, reasons, rows, sources, values_read
from tests.support.computed_graphs import ComputedGraph, one_input
from tests.support.two_layer_nets import BATCH_TIMES_OUTPUTS, mindspore_net, pytorch_net, start
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

ROWS = {
    **rows(Path(__file__).parent / "divergences.toml"),
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
