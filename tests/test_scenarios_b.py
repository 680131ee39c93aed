"""What the scenarios of loops, shared, unused and integer tensors, kinks, checkpoints and nested
gradients teach, by numpy.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph, Node
from explorer.model.report import CaseReport, Report

Reports = Callable[[str], Report]
Floats = NDArray[Any]

FLOAT32, FLOAT64 = 2e-5, 1e-12
"""Relative tolerances for what was computed in these types, against float64 in numpy."""

BY_FIRST, BY_SECOND, BY_BOTH = GradCase("grad", 0), GradCase("grad", 1), GradCase("grad", (0, 1))
WHOLE = GradCase("grad", 0, "all")
MINDSPORE = ("mindspore-graph", "mindspore-tape")
TORCH = ("torch-graph", "torch-tape")


def row(report: Report, case: GradCase) -> CaseReport:
    return next(each for each in report.cases if each.case == case)


def given(report: Report) -> dict[str, Floats]:
    """The inputs and parameters of a report by name; what is floating, in float64."""
    arrays = {leaf.name: unpack(leaf.value) for leaf in (*report.inputs, *report.parameters)}
    return {
        name: array.astype(np.float64) if array.dtype.kind == "f" else array
        for name, array in arrays.items()
    }


def leaves(found: CaseReport, engine: str) -> dict[str, Floats]:
    """The leaves of an engine's answer by name."""
    result = found.results[engine]
    assert result.outcome == "ok", (engine, result.error)
    return {leaf.name: unpack(leaf.value) for leaf in result.leaves}


def all_say(
    found: CaseReport, expected: dict[str, Any], rtol: float, engines: Iterable[str] = ENGINES
) -> None:
    """Each of the engines answers, and its leaves of these names hold these numbers."""
    for engine in engines:
        got = leaves(found, engine)
        for name, wanted in expected.items():
            np.testing.assert_allclose(got[name], wanted, rtol, rtol, err_msg=f"{name} of {engine}")


def refuses(found: CaseReport, engine: str, words: str) -> None:
    result = found.results[engine]
    assert result.outcome == "raised", engine
    assert result.error is not None
    assert words in result.error.message


def graph(report: Report, engine: str) -> GradGraph:
    """The graph of an engine's last stage."""
    return [each for each in report.graphs if each.engine == engine][-1]


def value(node: Node) -> Floats:
    summary = node.outputs[0].values
    assert summary is not None
    assert summary.whole is not None
    return unpack(summary.whole)


def named(made: GradGraph, words: tuple[str, ...], phase: str) -> list[Node]:
    """The ops of a phase whose names hold one of ``words``, gradients of these operators excepted."""
    nodes = [node for node in made.nodes if node.kind == "op" and node.phase == phase]
    lower = [(node, node.op.lower()) for node in nodes]
    return [
        node
        for node, op in lower
        if any(word in op for word in words) and "grad" not in op and "backward" not in op
    ]


def origins(made: GradGraph, target: Node) -> list[Node]:
    nodes = made.by_id()
    return [
        nodes[edge.origin]
        for edge in made.edges
        if edge.target == target.id and edge.kind != "control"
    ]


def test_a_while_loop_is_unrolled_by_tapes_and_kept_as_one_body_by_mindspore_s_graph(
    report: Reports,
) -> None:
    whole = report("while_loop")
    x = given(whole)["x"]
    answering = (*MINDSPORE, "torch-tape")
    all_say(row(whole, BY_FIRST), {"dx": 8 * x**7}, FLOAT32, answering)
    turns = {engine: named(graph(whole, engine), ("mul",), "forward") for engine in answering}
    assert {engine: len(nodes) for engine, nodes in turns.items()} == {
        "mindspore-graph": 1,
        "mindspore-tape": 3,
        "torch-tape": 3,
    }
    assert [float(value(node)) for node in turns["torch-tape"]] == pytest.approx([x**2, x**4, x**8])
    assert float(value(turns["mindspore-graph"][0])) == pytest.approx(x**8)
    assert any(node.kind == "call" for node in graph(whole, "mindspore-graph").nodes)


def test_pytorch_s_joint_graph_of_a_while_loop_is_refused_with_the_line(report: Reports) -> None:
    result = row(report("while_loop"), BY_FIRST).results["torch-graph"]
    assert result.outcome == "unsupported"
    assert result.error is not None
    assert "Data-dependent branching" in result.error.message
    assert result.error.source.startswith("while_loop.py:")
    assert "Data-dependent branching" in report("while_loop").ungraphed["torch-graph"]


def test_tied_weights_get_the_sum_of_both_uses(report: Reports) -> None:
    whole = report("tied_weights")
    x, w = given(whole)["x"], given(whole)["w"]
    code = np.tanh(x @ w.T)
    error = 2 * (code @ w - x)
    inner = error @ w.T * (1 - code**2)
    decoding, encoding = code.T @ error, inner.T @ x
    all_say(row(whole, WHOLE), {"dx": inner @ w - error, "dw": decoding + encoding}, FLOAT64)
    for engine in ENGINES:
        made = graph(whole, engine)
        sums = [
            node
            for node in made.nodes
            if node.kind == "accumulate" and node.outputs[0].shape == w.shape
        ]
        (summed,) = [node for node in sums if np.allclose(value(node), decoding + encoding)]
        parts = [value(node) for node in origins(made, summed)]
        for part in (decoding, encoding):
            assert any(each.shape == part.shape and np.allclose(each, part) for each in parts), (
                engine
            )


def test_an_unused_input_gets_zeros_where_anything_was_recorded(report: Reports) -> None:
    whole = report("unused_input")
    x = given(whole)["x"]
    both = row(whole, BY_BOTH)
    all_say(both, {"dx": 3 * x**2, "dz": np.zeros(2)}, FLOAT32)
    assert "materialize_grads=True" in both.results["torch-tape"].code
    assert (
        ".grad None for z"
        in row(whole, GradCase("value_and_grad", (0, 1))).results["torch-tape"].note
    )
    for engine in ENGINES:
        (shown,) = (
            node
            for node in graph(whole, engine).nodes
            if node.kind == "output" and node.name == "dz"
        )
        assert value(shown).tolist() == [0, 0]
        (made,) = origins(graph(whole, engine), shown)
        assert (made.kind, origins(graph(whole, engine), made)) == ("constant", []), engine


def test_asked_for_an_unused_input_alone_pytorch_s_tape_raises(report: Reports) -> None:
    alone = row(report("unused_input"), BY_SECOND)
    all_say(alone, {"dz": np.zeros(2)}, FLOAT32, (*MINDSPORE, "torch-graph"))
    refuses(alone, "torch-tape", "does not require grad")
    assert (alone.verdict, alone.expected) == ("some_raise", True)


def test_rows_picked_twice_get_the_sum_and_rows_not_picked_zeros(report: Reports) -> None:
    whole = report("integer_input")
    table, index = given(whole)["table"], given(whole)["index"]
    wanted = np.zeros_like(table)
    np.add.at(wanted, index, 2 * table[index])
    assert len(set(index.tolist())) < len(index)
    all_say(row(whole, BY_FIRST), {"dtable": wanted}, FLOAT32)


def test_an_integer_input_gets_integer_zeros_in_mindspore_and_a_refusal_in_pytorch(
    report: Reports,
) -> None:
    by_index = row(report("integer_input"), BY_SECOND)
    for engine in MINDSPORE:
        (got,) = leaves(by_index, engine).values()
        assert (got.dtype.name, got.tolist()) == ("int32", [0, 0, 0])
    for engine in TORCH:
        refuses(by_index, engine, "only Tensors of floating point dtype can require gradients")
    assert by_index.expected
    assert by_index.oracle_agrees is None


def test_a_float16_gradient_below_two_to_the_minus_24_is_zero_and_scaling_saves_it(
    report: Reports,
) -> None:
    whole = report("float16_underflow")
    x, w = given(whole)["x"], given(whole)["w"]
    lost = w**2 < 2.0**-24
    assert lost.tolist() == [True, True, False]
    loss = row(whole, GradCase("grad", (0, 1), has_aux=True))
    all_say(loss, {"dx": np.where(lost, 0, w**2), "dw": 2 * x * w}, 0)
    all_say(loss, {"scaled": 1024 * (x * w**2).sum()}, 1e-3)
    both = row(whole, BY_BOTH)
    for engine in ENGINES:
        got = leaves(both, engine)["dx"]
        assert got.dtype == np.float16
        np.testing.assert_allclose(got.astype(np.float64) / 1025, w**2, 1e-3)
        (shown,) = (
            node
            for node in graph(whole, engine).nodes
            if node.kind == "output" and node.name == "loss"
        )
        assert (
            [value(node) for node in origins(graph(whole, engine), shown)]
            == [value(shown)]
            == [np.float16(2.0**-5)]
        )
    assert {loss.verdict, both.verdict} == {"match"}
    assert loss.oracle_agrees
    (estimate,) = (each for each in loss.oracle.estimates if each.name == "dx")
    np.testing.assert_allclose(unpack(estimate.value)[lost], 2.0**-26, 1e-2)


def test_a_checkpointed_block_gives_the_same_gradient(report: Reports) -> None:
    whole = report("checkpointing")
    x = given(whole)["x"]
    hidden, slope = _block(x)
    all_say(row(whole, BY_FIRST), {"dx": _block(hidden)[1] * slope}, FLOAT64)


def _block(x: Floats) -> tuple[Floats, Floats]:
    """The block of the scenario, and its derivative."""
    size = 1 / (1 + np.exp(-x))
    return np.tanh(x) * size, (1 - np.tanh(x) ** 2) * size + np.tanh(x) * size * (1 - size)


RAN_AGAIN = {"mindspore-graph": 2, "mindspore-tape": 2, "torch-tape": 2, "torch-graph": 0}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_checkpointed_block_runs_again_in_backward_instead_of_being_saved(
    report: Reports, engine: str
) -> None:
    made = graph(report("checkpointing"), engine)
    first = named(made, ("tanh", "sigmoid"), "forward")
    again = named(made, ("tanh", "sigmoid"), "backward")
    assert len(first) == 4
    assert len(again) == RAN_AGAIN[engine]
    saved = {edge.origin for edge in made.edges if edge.kind == "saved"} & {
        node.id for node in first
    }
    assert len(saved) == 4 - len(again)
    nodes = made.by_id()
    for node in again:
        copied = [each for each in first[2:] if np.array_equal(value(each), value(node))]
        assert copied
        assert nodes[node.forward or ""] in first[2:] or engine.endswith("tape")


def test_a_checkpoint_keeps_fewer_bytes_than_the_same_block_without(report: Reports) -> None:
    whole = report("checkpointing")
    kept = {
        engine: [node.saved_bytes for node in graph(whole, engine).nodes if node.phase == "forward"]
        for engine in ENGINES
    }
    scopes = {node.scope for node in graph(whole, "torch-tape").nodes if node.saved_bytes}
    tensor = 6 * 8
    assert scopes == {"kept"}
    assert sum(kept["torch-tape"]) == 2 * tensor
    assert (
        sum(kept["mindspore-tape"]) == 3 * tensor
    )  # and the input of the second block, from which it is computed again
    assert sum(kept["torch-graph"]) == 4 * tensor


def test_kinks_have_conventions_that_are_shared_and_no_central_difference(report: Reports) -> None:
    whole = report("kinks")
    x = given(whole)["x"]
    with np.errstate(divide="ignore", invalid="ignore"):
        dead = np.where(x < 2, -1.0, 0.0) / (2 - x)
    passes = ((x >= -1) & (x <= 1)).astype(np.float64)
    ties = np.where(x == 1, 0.5, x > 1)
    by_x = row(whole, BY_FIRST)
    all_say(by_x, {"dx": (x > 0) + 2 * np.sign(x) + 4 * passes + 8 * ties + dead}, FLOAT32)
    assert np.isnan(leaves(by_x, "torch-tape")["dx"][-1])
    (estimate,) = by_x.oracle.estimates
    np.testing.assert_allclose(
        unpack(estimate.value)[:3], [-2.25, 0.5 + 4 - 0.5, 1 + 2 + 2 + 4 - 1], 1e-6
    )
    assert (by_x.verdict, by_x.oracle_agrees, by_x.expected) == ("match", False, True)


def test_the_norm_of_a_zero_vector_has_gradient_nan_in_mindspore_and_zero_in_pytorch(
    report: Reports,
) -> None:
    whole = report("kinks")
    by_v = row(whole, BY_SECOND)
    all_say(by_v, {"dv": np.full(2, np.nan)}, FLOAT32, MINDSPORE)
    all_say(by_v, {"dv": np.zeros(2)}, FLOAT32, TORCH)
    assert (by_v.verdict, by_v.expected) == ("differs", True)
    assert "PyTorch's norm answers 0" in by_v.reason
    named_first = {
        alignment.divergence.sentence for alignment in whole.alignments if alignment.divergence
    }
    assert named_first
    assert all("Sqrt" in sentence for sentence in named_first)


def test_only_chosen_experts_and_their_scores_get_gradients(report: Reports) -> None:
    whole = report("top_k_mixture")
    scores, answers = given(whole)["scores"], given(whole)["answers"]
    chosen = scores >= np.sort(scores)[:, -2:-1]
    weights = np.where(chosen, np.exp(scores), 0)
    weights /= weights.sum(axis=1, keepdims=True)
    mean = (weights * answers).sum(axis=1, keepdims=True)
    found = row(whole, BY_BOTH)
    all_say(found, {"dscores": weights * (answers - mean), "danswers": weights}, FLOAT32)
    assert chosen.any(axis=0).tolist() == [True, True, True, False]
    for engine in ENGINES:
        for gradient in leaves(found, engine).values():
            assert not gradient[~chosen].any(), engine


def _bends(x: Floats, w: Floats) -> dict[str, Floats]:
    """u″ of u = tanh(a), a = Σ tanh(w·x), and its derivatives by x and by w (points, units);
    "lacking" has no term a′².
    """
    t = np.tanh(np.outer(x, w))
    one, two = 1 - t**2, -2 * t * (1 - t**2)
    three = -2 * (1 - t**2) * (1 - 3 * t**2)
    a1, a2, a3 = ((w**n * part).sum(axis=1) for n, part in ((1, one), (2, two), (3, three)))
    u = np.tanh(t.sum(axis=1))
    s = 1 - u**2

    def along(p0: Floats, p1: Floats, p2: Floats) -> Floats:
        """The derivative of u″ along a change of a, a′ and a″."""
        du, ds = s * p0, -2 * u * s * p0
        made: Floats = ds * a2 + s * p2 - 2 * ((du * s + u * ds) * a1**2 + 2 * u * s * a1 * p1)
        return made

    far = x[:, None]
    by_w = along(
        *(part.T for part in (far * one, one + w * far * two, 2 * w * two + w**2 * far * three))
    )
    return {
        "bend": s * a2 - 2 * u * s * a1**2,
        "lacking": s * a2,
        "by_x": along(a1, a2, a3),
        "by_w": by_w.T,
    }


def test_a_derivative_inside_the_loss_is_differentiated_again(report: Reports) -> None:
    whole = report("physics_informed")
    x, w = given(whole)["x"][:, 0], given(whole)["w"]
    bends = _bends(x, w)
    residual = bends["bend"] + x
    right = ("mindspore-graph", *TORCH)
    expected = {
        "dx": (2 * residual * (bends["by_x"] + 1))[:, None],
        "dw": 2 * residual @ bends["by_w"],
    }
    all_say(row(whole, BY_BOTH), expected, FLOAT32, right)
    all_say(
        row(whole, GradCase("value_and_grad", (0, 1))), {"out": (residual**2).sum()}, FLOAT32, right
    )


def test_mindspore_s_tape_loses_a_term_of_a_second_derivative_behind_a_sum(report: Reports) -> None:
    whole = report("physics_informed")
    x, w = given(whole)["x"][:, 0], given(whole)["w"]
    found = row(whole, GradCase("value_and_grad", (0, 1)))
    all_say(
        found, {"out": ((_bends(x, w)["lacking"] + x) ** 2).sum()}, FLOAT32, ("mindspore-tape",)
    )
    assert (found.verdict, found.expected) == ("differs", True)
    apart = {
        (each.left, each.right): each.divergence for each in whole.alignments if each.divergence
    }
    assert all("mindspore-tape" in pair for pair in apart)
    assert len(apart) == 3
    for divergence in apart.values():
        assert divergence is not None
        assert "in forward" in divergence.sentence
        assert "TanhGrad" in divergence.sentence


def test_a_transposed_convolution_is_the_adjoint_of_a_convolution(report: Reports) -> None:
    whole = report("conv_transpose")
    x, kernel, bias = (given(whole)[name] for name in ("x", "up.weight", "up.bias"))
    image = np.zeros((3, 5, 5)) + bias[:, None, None]
    places = [
        (i, j, 2 * i - 1 + a, 2 * j - 1 + b, a, b)
        for i in range(3)
        for j in range(3)
        for a in range(3)
        for b in range(3)
    ]
    inside = [place for place in places if 0 <= place[2] < 5 and 0 <= place[3] < 5]
    for i, j, p, q, a, b in inside:
        image[:, p, q] += x[0, :, i, j] @ kernel[:, :, a, b]
    dx, dkernel = np.zeros_like(x), np.zeros_like(kernel)
    for i, j, p, q, a, b in inside:
        dx[0, :, i, j] += kernel[:, :, a, b] @ (2 * image[:, p, q])
        dkernel[:, :, a, b] += np.outer(x[0, :, i, j], 2 * image[:, p, q])
    expected = {"dx": dx, "dup.weight": dkernel, "dup.bias": (2 * image).sum(axis=(1, 2))}
    all_say(row(whole, WHOLE), expected, FLOAT32)
    assert any(
        node.op == "Conv2D" and node.phase == "backward"
        for node in graph(whole, "mindspore-graph").nodes
    )
