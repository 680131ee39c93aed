"""An LSTM: sums back through time, one operator here and every step there."""

import numpy as np
import pytest

from tests.support.scenario_reports import (
    FLOAT32,
    MINDSPORE,
    TORCH,
    WHOLE,
    Floats,
    Reports,
    all_say,
    graph,
    ops,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

PARAMETERS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


def sigmoid(z: Floats) -> Floats:
    activation: Floats = 1 / (1 + np.exp(-z))
    return activation


def lstm_gradients(
    x: Floats, w_ih: Floats, w_hh: Floats, b_ih: Floats, b_hh: Floats
) -> dict[str, Floats]:
    """Backpropagation through time of the sum of squared hidden states.

    Gates come in the order input, forget, cell, output; the hidden state has two elements.
    """
    h = c = np.zeros((1, w_hh.shape[1]))
    steps = []
    for x_now in x:
        z = x_now @ w_ih.T + b_ih + h @ w_hh.T + b_hh
        i, f, g, o = sigmoid(z[:, :2]), sigmoid(z[:, 2:4]), np.tanh(z[:, 4:6]), sigmoid(z[:, 6:])
        before = h, c
        c = f * c + i * g
        h = o * np.tanh(c)
        steps.append((before, (i, f, g, o), c, h))

    dx, d_ih, d_hh = np.zeros_like(x), np.zeros_like(w_ih), np.zeros_like(w_hh)
    db = np.zeros_like(b_ih)
    dh = dc = np.zeros((1, w_hh.shape[1]))
    for step in reversed(range(len(x))):
        (h_before, c_before), (i, f, g, o), c, h = steps[step]
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


def test_gradients_are_sums_back_through_time_and_both_biases_get_the_same(report: Reports) -> None:
    whole = report("lstm")
    values = values_of(whole)
    gradients = lstm_gradients(values["x"], *(values[f"lstm.{name}"] for name in PARAMETERS))
    expected = {"dx": gradients["x"]}
    for name in PARAMETERS:
        expected[f"dlstm.{name}"] = gradients[name]
    all_say(row(whole, WHOLE), expected, FLOAT32)


def test_it_is_one_operator_but_in_the_joint_graph_where_every_step_is_written_out(
    report: Reports,
) -> None:
    whole = report("lstm")
    for engine in MINDSPORE:
        assert ops(whole, engine, "forward").count("LSTM") == 1
        assert len([op for op in ops(whole, engine, "backward") if op.startswith("LSTM")]) == 1
    assert len([op for op in ops(whole, "torch-graph", "forward") if "sigmoid" in op]) == 3 * 3
    assert len(graph(whole, "torch-graph").nodes) > 5 * len(graph(whole, "mindspore-graph").nodes)


@pytest.mark.parametrize("engine", MINDSPORE + TORCH)
def test_an_operator_of_a_whole_lstm_shows_its_results_and_not_its_workspace(
    engine: str, report: Reports
) -> None:
    nodes = graph(report("lstm"), engine).nodes
    whole = [node for node in nodes if node.op in ("LSTM", "aten.mkldnn_rnn_layer.default")]
    assert bool(whole) == (engine != "torch-graph")  # which takes an LSTM apart
    for node in whole:
        shown = [output.values is not None for output in node.outputs]
        assert shown[:4] == [True, True, True, False]
        assert node.missing["values"].kind in ("unwritten", "unwritten_outputs")
