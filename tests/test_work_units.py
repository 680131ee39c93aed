"""Tests that share something costly run in one process."""

import pytest

from tests.support.work_units import work_unit


@pytest.mark.parametrize(
    ("test_id", "unit"),
    [
        ("tests/scenarios/test_every_scenario.py::test_float64_scenarios_match[lstm]", "lstm"),
        ("tests/scenarios/test_lstm.py::test_it", "lstm"),
        ("tests/engines/test_graphs.py::test_a_graph[torch-tape-lstm]", "lstm"),
        ("tests/compare/test_align_captured_graphs.py::test_x", "conv_bn_relu_pool"),
        ("tests/compare/test_align_captured_graphs.py::test_x[lstm]", "lstm"),
        ("tests/corpus/test_recorded.py::test_x[real/gpt]", "real/gpt"),
        ("tests/compare/training/test_pairs.py::test_x[momentum]", "tests/compare/training"),
        ("tests/test_how_to.py::test_x", "tests/test_how_to.py::test_x"),
        ("tests/topics/test_tape_life.py::test_x", "tape_life"),
        ("tests/topics/test_tape_life_claims.py::test_y[27]", "tape_life"),
        ("tests/topics/test_devices.py::test_x", "devices"),
        ("tests/scenario/test_devices.py::test_x", "tests/scenario/test_devices.py"),
        ("tests/independent/test_agreements.py::test_x[tape-life-23]", "tape_life"),
        ("tests/independent/test_agreements.py::test_x[devices-study]", "devices"),
        ("tests/independent/test_agreements.py::test_x", "tests/independent/test_agreements.py"),
        ("tests/report/test_study.py::test_x", "tests/report/test_study.py"),
    ],
)
def test_a_scenario_a_topic_or_a_file(test_id: str, unit: str) -> None:
    assert work_unit(test_id) == unit
