"""An LSTM: one operator, or every step."""

import pytest

from tests.support.scenario_reports import MINDSPORE, TORCH, Reports, graph

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


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
