"""What the scenarios of chains, layers, custom and stopped gradients, writes and views teach,
against numbers from numpy.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.report import CaseReport, Report
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.numeric.cotangents import cotangent
from explorer.scenario.contract import find, load
from explorer.scenario.settling import settle
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.conftest import NETS

Reports = Callable[[str], Report]
Floats = NDArray[np.float64]

BY_INPUT = GradCase("grad", 0)
BY_WEIGHTS = GradCase("grad", None, "all")
BY_BOTH = GradCase("grad", 0, "all")
FLOAT32 = 2e-5
"""Relative tolerance for what was computed in float32, against float64 in numpy."""


def row(report: Report, case: GradCase) -> CaseReport:
    return next(each for each in report.cases if each.case == case)


def given(report: Report) -> dict[str, Floats]:
    """The inputs and parameters of a report by name, in float64."""
    return {
        leaf.name: unpack(leaf.value).astype(np.float64)
        for leaf in (*report.inputs, *report.parameters)
    }


def all_say(
    found: CaseReport,
    expected: dict[str, Any],
    rtol: float = 1e-12,
    engines: Iterable[str] = ENGINES,
) -> None:
    """Every engine answers, and its leaves of these names hold these numbers."""
    for engine in engines:
        result = found.results[engine]
        assert result.outcome == "ok", (engine, result.error)
        leaves = {leaf.name: unpack(leaf.value) for leaf in result.leaves}
        for name, wanted in expected.items():
            np.testing.assert_allclose(
                leaves[name], wanted, rtol, rtol, err_msg=f"{name} of {engine}"
            )


def graph(report: Report, engine: str) -> GradGraph:
    """The graph of an engine's last stage."""
    return [each for each in report.graphs if each.engine == engine][-1]


def ops(report: Report, engine: str, phase: str) -> list[str]:
    return [
        node.op
        for node in graph(report, engine).nodes
        if node.phase == phase and node.kind in ("op", "accumulate")
    ]


def test_a_vector_output_is_seeded_by_a_vector_of_its_shape(report: Reports) -> None:
    whole = report("vector_chain")
    v, y = given(whole)["v"], np.ones((2, 2))
    all_say(row(whole, GradCase("grad", 0, has_aux=True)), {"dx": 2 * v})
    all_say(row(whole, GradCase("grad", (0, 1))), {"dx": 2 * v + 2 * np.ones((2, 2)), "dv": y})
    seeds = cotangent(0, (), "float64"), cotangent(1, (2, 2), "float64")
    sens = GradCase("GradOperation", (0, 1), get_all=True, sens_param=True)
    all_say(row(whole, sens), {"dx": 2 * (v * seeds[0] + seeds[1]), "dv": y * seeds[0]})


def sigmoid(z: Floats) -> Floats:
    made: Floats = 1 / (1 + np.exp(-z))
    return made


def lstm_gradients(
    x: Floats, w_ih: Floats, w_hh: Floats, b_ih: Floats, b_hh: Floats
) -> dict[str, Floats]:
    """Backpropagation through time of the sum of squared hidden states; gates in the order input,
    forget, cell, output.
    """
    steps, hidden = len(x), w_hh.shape[1]
    h = c = np.zeros((1, hidden))
    kept = []
    for step in range(steps):
        z = x[step] @ w_ih.T + b_ih + h @ w_hh.T + b_hh
        i, f, g, o = sigmoid(z[:, :2]), sigmoid(z[:, 2:4]), np.tanh(z[:, 4:6]), sigmoid(z[:, 6:])
        before, c = (h, c), f * c + i * g
        h = o * np.tanh(c)
        kept.append((before, (i, f, g, o), c, h))
    dx, d_ih, d_hh, db = (
        np.zeros_like(x),
        np.zeros_like(w_ih),
        np.zeros_like(w_hh),
        np.zeros_like(b_ih),
    )
    dh = dc = np.zeros((1, hidden))
    for step in reversed(range(steps)):
        (h_before, c_before), (i, f, g, o), c, h = kept[step]
        dh = dh + 2 * h
        dc = dc + dh * o * (1 - np.tanh(c) ** 2)
        parts = (
            dc * g * i * (1 - i),
            dc * c_before * f * (1 - f),
            dc * i * (1 - g**2),
            dh * np.tanh(c) * o * (1 - o),
        )
        dz = np.concatenate(parts, axis=1)
        d_ih, d_hh, db = d_ih + dz.T @ x[step], d_hh + dz.T @ h_before, db + dz[0]
        dx[step], dh, dc = dz @ w_ih, dz @ w_hh, dc * f
    return {"x": dx, "weight_ih_l0": d_ih, "weight_hh_l0": d_hh, "bias_ih_l0": db, "bias_hh_l0": db}


def test_an_lstm_s_gradients_are_sums_back_through_time_and_both_biases_get_the_same(
    report: Reports,
) -> None:
    whole = report("lstm")
    leaves = given(whole)
    w_ih, w_hh, b_ih, b_hh = (
        leaves[f"lstm.{name}"]
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    )
    made = lstm_gradients(leaves["x"], w_ih, w_hh, b_ih, b_hh)
    expected = {"dx" if name == "x" else f"dlstm.{name}": value for name, value in made.items()}
    all_say(row(whole, BY_BOTH), expected, FLOAT32)


def test_an_lstm_is_one_operator_but_in_the_joint_graph_where_every_step_is_written_out(
    report: Reports,
) -> None:
    whole = report("lstm")
    for engine in ("mindspore-graph", "mindspore-tape"):
        assert ops(whole, engine, "forward").count("LSTM") == 1
        assert len([op for op in ops(whole, engine, "backward") if op.startswith("LSTM")]) == 1
    assert len([op for op in ops(whole, "torch-graph", "forward") if "sigmoid" in op]) == 3 * 3
    assert len(graph(whole, "torch-graph").nodes) > 5 * len(graph(whole, "mindspore-graph").nodes)


@pytest.mark.parametrize("name", ["lstm", "attention_block"])
def test_mindspore_s_tape_indexes_tensors_in_every_case_also_after_calls_that_raised(
    report: Reports, name: str
) -> None:
    outcomes = [(each.case, each.results["mindspore-tape"].outcome) for each in report(name).cases]
    assert "raised" in dict(outcomes[:4]).values()
    assert [
        case.label
        for case, outcome in outcomes
        if (outcome == "raised") != (case.has_aux or case.must_fail)
    ] == []


def attention_gradients(leaves: dict[str, Floats]) -> dict[str, Floats]:
    """The backward of the block by hand: layer norm, residual, values, softmax, scores, and the
    three maps of x.
    """
    x, gamma = leaves["x"], leaves["norm.weight"]
    query, key, value = (x @ leaves[f"{name}.weight"].T for name in ("query", "key", "value"))
    raised = np.exp(query @ key.T / 2)
    share = raised / raised.sum(axis=1, keepdims=True)
    mixed = x + share @ value
    spread = np.sqrt(mixed.var(axis=1, keepdims=True) + 1e-5)
    normed = (mixed - mixed.mean(axis=1, keepdims=True)) / spread
    dout = 3 * (normed * gamma + leaves["norm.bias"]) ** 2
    dn = dout * gamma
    dm = (
        dn - dn.mean(axis=1, keepdims=True) - normed * (dn * normed).mean(axis=1, keepdims=True)
    ) / spread
    dshare = dm @ value.T
    dscores = share * (dshare - (dshare * share).sum(axis=1, keepdims=True)) / 2
    through = {"query": dscores @ key, "key": dscores.T @ query, "value": share.T @ dm}
    dx = dm + sum(d @ leaves[f"{name}.weight"] for name, d in through.items())
    return {
        "dx": dx,
        **{f"d{name}.weight": d.T @ x for name, d in through.items()},
        "dnorm.weight": (dout * normed).sum(axis=0),
        "dnorm.bias": dout.sum(axis=0),
    }


def test_queries_keys_values_and_the_residual_all_send_gradients_to_the_input(
    report: Reports,
) -> None:
    whole = report("attention_block")
    all_say(row(whole, BY_BOTH), attention_gradients(given(whole)), FLOAT32)


def test_repeated_indices_sum_their_gradients_into_one_row(report: Reports) -> None:
    whole = report("embedding_repeats")
    leaves = given(whole)
    table = np.zeros((3, 2))
    np.add.at(table, leaves["index"].astype(int), leaves["place"])
    assert table.tolist() == [[2, 20], [0, 0], [8, 80]]
    place = leaves["table.weight"][leaves["index"].astype(int)]
    all_say(row(whole, BY_WEIGHTS), {"dtable.weight": table, "dplace": place})


def test_an_index_is_refused_by_pytorch_and_has_a_gradient_of_zeros_in_mindspore(
    report: Reports,
) -> None:
    found = row(report("embedding_repeats"), BY_INPUT)
    all_say(found, {"dindex": [0, 0, 0, 0]}, engines=("mindspore-graph", "mindspore-tape"))
    for engine in ("torch-tape", "torch-graph"):
        assert "floating point dtype can require gradients" in getattr(
            found.results[engine].error, "message", ""
        )
    assert found.expected


def test_what_dropout_drops_gets_no_gradient_and_the_rest_a_larger_one(report: Reports) -> None:
    whole = report("dropout")
    leaves = given(whole)
    x, mask = leaves["x"], leaves["mask"]
    all_say(
        row(whole, GradCase("grad", (0, 1))),
        {"dx": 2 * x * mask / 0.75**2, "dmask": 2 * x**2 * mask / 0.75**2},
    )


def test_dropout_in_inference_mode_leaves_no_mask_in_any_graph(report: Reports) -> None:
    for engine in ENGINES:
        assert not [
            op
            for op in ops(report("dropout"), engine, "backward")
            if "drop" in op.lower() or "bernoulli" in op.lower()
        ]


def test_training_batch_norm_sends_the_gradient_through_mean_and_variance(report: Reports) -> None:
    whole = report("batch_norm_train")
    leaves = given(whole)
    x, gamma = leaves["x"], leaves["bn.weight"]
    spread = np.sqrt(x.var(axis=0) + 1e-5)
    normed = (x - x.mean(axis=0)) / spread
    dy = 3 * (normed * gamma + leaves["bn.bias"]) ** 2
    dn = dy * gamma
    dx = (dn - dn.mean(axis=0) - normed * (dn * normed).mean(axis=0)) / spread
    assert dx.sum(axis=0) == pytest.approx([0, 0], abs=1e-12)
    expected = {"dx": dx, "dbn.weight": (dy * normed).sum(axis=0), "dbn.bias": dy.sum(axis=0)}
    all_say(row(whole, BY_BOTH), expected, FLOAT32)


@pytest.mark.parametrize("engine", ENGINES)
def test_training_moves_the_running_statistics_by_the_unbiased_variance(
    report: Reports, engine: str
) -> None:
    whole = report("batch_norm_train")
    leaves = given(whole)
    moved = {
        "bn.running_mean": 0.9 * leaves["bn.running_mean"] + 0.1 * leaves["x"].mean(axis=0),
        "bn.running_var": 0.9 * leaves["bn.running_var"] + 0.1 * leaves["x"].var(axis=0, ddof=1),
    }
    for name, wanted in moved.items():
        np.testing.assert_allclose(results(whole, engine)[name], wanted, FLOAT32)


def results(report: Report, engine: str) -> dict[str, Floats]:
    """The values of the results in an engine's graph, by name."""
    nodes = (node for node in graph(report, engine).nodes if node.kind == "output")
    wholes = {
        node.name: node.outputs[0].values.whole
        for node in nodes
        if node.outputs and node.outputs[0].values
    }
    return {name: unpack(whole) for name, whole in wholes.items() if whole}


def test_batch_norm_in_inference_is_a_scale_by_constants(report: Reports) -> None:
    whole = report("batch_norm_eval")
    leaves = given(whole)
    scale = 1 / np.sqrt(leaves["bn.running_var"] + 1e-5)
    normed = (leaves["x"] - leaves["bn.running_mean"]) * scale
    dy = 3 * (normed * leaves["bn.weight"] + leaves["bn.bias"]) ** 2
    dx = dy * leaves["bn.weight"] * scale
    expected = {"dx": dx, "dbn.weight": (dy * normed).sum(axis=0), "dbn.bias": dy.sum(axis=0)}
    all_say(row(whole, BY_BOTH), expected, FLOAT32)
    for engine in ENGINES:
        assert not [name for name in results(whole, engine) if "running" in name]


def convolution_gradients(x: Floats, kernel: Floats, before: int) -> tuple[Floats, Floats]:
    """Gradients of the sum of squares of a 3×3 convolution of stride 2 on a 4×4 image, padded by
    one row and column in all.
    """
    padded = np.pad(x, (before, 1 - before))
    dpadded, dkernel = np.zeros_like(padded), np.zeros_like(kernel)
    for i in (0, 2):
        for j in (0, 2):
            window = padded[i : i + 3, j : j + 3]
            dy = 2 * (window * kernel).sum()
            dpadded[i : i + 3, j : j + 3] += dy * kernel
            dkernel += dy * window
    return dpadded[before : before + 4, before : before + 4], dkernel


def test_same_padding_puts_the_odd_zero_at_the_bottom_and_the_right(report: Reports) -> None:
    whole = report("odd_padding")
    x, kernel = given(whole)["x"][0, 0], given(whole)["conv.weight"][0, 0]
    dx, dkernel = convolution_gradients(x, kernel, before=0)
    all_say(
        row(whole, BY_BOTH), {"dx": dx[None, None], "dconv.weight": dkernel[None, None]}, FLOAT32
    )
    elsewhere, _ = convolution_gradients(x, kernel, before=1)
    assert np.abs(elsewhere - dx).max() > 1


def test_a_straight_through_backward_is_what_was_written_and_not_the_derivative(
    report: Reports,
) -> None:
    whole = report("custom_gradient")
    x = given(whole)["x"]
    found = row(whole, BY_INPUT)
    all_say(found, {"dx": 3 * 3 * (3 * np.sign(x)) ** 2 * (np.abs(x) <= 1)})
    (estimate,) = found.oracle.estimates
    assert unpack(estimate.value).tolist() == [0, 0, 0, 0]
    assert (found.verdict, found.oracle_agrees, found.expected) == ("match", False, True)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_backward_written_by_hand_computes_is_backward_and_derives_from_the_forward_it_belongs_to(
    report: Reports, engine: str
) -> None:
    drawn = graph(report("custom_gradient"), engine)
    nodes = drawn.by_id()
    size, mask = (
        next(node for node in drawn.nodes if re.search(op, node.op))
        for op in ("Abs|aten.abs", "LessEqual|aten.le")
    )
    last = next(nodes[edge.target] for edge in drawn.edges if edge.origin == mask.id)
    for node in (size, mask, last):
        assert node.phase == "backward", node.op
        assert "sign" in nodes[node.forward or ""].op.lower(), node.op


@pytest.mark.parametrize(
    ("engine", "text"),
    [("mindspore-graph", "ops.abs(x) <= 1"), ("torch-graph", "torch.abs(x) <= 1")],
)
def test_a_graph_names_the_line_on_which_a_backward_was_written_by_hand(
    report: Reports, engine: str, text: str
) -> None:
    lines = find("custom_gradient").read_text(encoding="utf-8").splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if text in line)
    named = [
        node.op
        for node in graph(report("custom_gradient"), engine).nodes
        if f"custom_gradient.py:{number}" in node.source
    ]
    assert len(named) == 3, named


def test_a_stopped_value_counts_in_the_loss_but_not_in_the_gradient(report: Reports) -> None:
    whole = report("stop_gradient")
    x = given(whole)["x"]
    found = row(whole, BY_INPUT)
    all_say(found, {"dx": 2 * x**3})
    (estimate,) = found.oracle.estimates
    np.testing.assert_allclose(unpack(estimate.value), 4 * x**3, 1e-6)
    assert (found.oracle_agrees, found.expected) == (False, True)


def test_a_tape_refuses_the_tensor_that_was_overwritten_and_a_compiler_has_kept_it(
    report: Reports,
) -> None:
    whole = report("in_place_update")
    x = given(whole)["x"]
    all_say(
        row(whole, GradCase("grad", 0, has_aux=True)),
        {"dx": 18 * x, "energy": np.sum(x**4)},
        FLOAT32,
    )
    found = row(whole, BY_INPUT)
    all_say(found, {"dx": 18 * x + 4 * x**3}, FLOAT32, ("mindspore-graph",))
    for engine in ("mindspore-tape", "torch-tape", "torch-graph"):
        result = found.results[engine]
        assert result.outcome == "raised"
        assert "modified by an inplace operation" in getattr(result.error, "message", "")
    assert (found.oracle_agrees, found.expected) == (True, True)
    assert ops(whole, "mindspore-graph", "forward").count("TensorMove") >= 1


@pytest.mark.parametrize(
    ("net", "engine", "gradient"),
    [
        ("ms_element_written", "mindspore-graph", [8.0, 18.0, 26.0]),
        ("ms_element_written", "mindspore-tape", [20.0, 18.0, 26.0]),
        ("ms_scaled_in_place", "mindspore-graph", [8.0, 16.0, 24.0]),
        ("ms_scaled_in_place", "mindspore-tape", [2.0, 4.0, 6.0]),
    ],
)
def test_what_mindspore_s_tape_makes_of_a_write_that_it_does_not_watch(
    workers: Workers, net: str, engine: str, gradient: list[float]
) -> None:
    scenario = load(NETS / f"{net}.py")
    request = settle(scenario, workers, (engine,), {engine: "cpu"}).requests[engine]
    reply = workers.call(
        "mindspore", f"{ENGINES[engine].module}:answer", CaseRequest(request, BY_INPUT), Result
    )
    assert not isinstance(reply, Lost)
    assert [unpack(leaf.value).tolist() for leaf in reply.leaves] == [gradient], reply.error


def test_overlapping_slices_add_their_gradients(report: Reports) -> None:
    whole = report("view_and_slice")
    element = given(whole)["x"].ravel()
    expected = np.zeros(6)
    expected[:-1] += element[1:]
    expected[1:] += element[:-1]
    expected[::2] += 2 * element[::2]
    all_say(row(whole, BY_INPUT), {"dx": expected.reshape(2, 3)})
