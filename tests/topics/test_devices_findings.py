"""Findings on devices that are not here: two that differ, and tables without figures."""

import math
from typing import Any

from explorer.model.measurement import Measured
from explorer.topics.devices.findings import difference
from explorer.topics.devices.questions import MATRIX, TOPIC
from explorer.topics.evidence import Evidence
from explorer.topics.studying import tell


def cases(leaf: float, outcome: str = "ok") -> dict[str, Any]:
    """A matrix of one case with one leaf."""
    return {"grad(net)(x)": {"outcome": outcome, "leaves": {"dx": leaf}}}


def test_nothing_measured_is_told_as_empty_tables() -> None:
    telling = tell(TOPIC, Evidence({}))
    assert (telling.findings, telling.charts) == ((), ())
    assert all(table.rows == () for table in telling.tables)


def test_another_outcome_or_another_leaf_is_an_infinite_difference() -> None:
    missing = {"grad(net)(x)": {"outcome": "ok", "leaves": {}}}
    assert difference(cases(1.0), cases(1.5)) == 0.5
    assert difference(cases(1.0), cases(1.0, "raised")) == math.inf
    assert difference(cases(1.0), missing) == math.inf


def test_a_second_device_is_compared_with_the_cpu() -> None:
    answers = {"cpu": cases(1.0), "cuda:0": cases(1.25)}
    evidence = Evidence(
        {
            MATRIX.measurement_name("torch-tape"): Measured(outcome="ok", figures=answers),
            MATRIX.measurement_name("mindspore-tape"): Measured(
                outcome="ok", figures={"cpu": cases(1.0)}
            ),
        }
    )
    telling = tell(TOPIC, evidence)
    assert telling.findings == (
        "torch-tape on cuda:0 differs from cpu by at most 0.25 over 1 cases.",
    )
    (chart,) = telling.charts
    bars = {series.name: series.y for series in chart.series}
    assert bars == {"cpu": (1.0, 1.0), "cuda:0": (None, 1.0)}


def test_a_device_without_a_cpu_beside_it_has_nothing_to_be_compared_with() -> None:
    npu = Measured(outcome="ok", figures={"npu": cases(1.0)})
    telling = tell(TOPIC, Evidence({MATRIX.measurement_name("mindspore-tape"): npu}))
    assert telling.tables[-1].rows == (("mindspore-tape", "npu", 1, 1, None),)
