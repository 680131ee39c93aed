"""The loss-scale study: what float16 loses, what scaling saves, and how the scalers of both
frameworks live.
"""

import dataclasses
from typing import Any

import numpy as np
import pytest

from explorer.model.errors import UsageError
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale import QUESTIONS, STUDY, given, measurement
from explorer.topics.loss_scale.telling import STYLES, counts
from explorer.topics.studying import run, target
from explorer.workers.workers import Workers
from tests.measured_once import once

ENGINES = tuple(STYLES)
MINDSPORE = ("mindspore-graph", "mindspore-tape")


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return once(workers, STUDY.measurements(target(STUDY, None, "cpu")))


def figures(measured: dict[str, Measured], question: str, engine: str) -> dict[str, Any]:
    found = measured[measurement(question, engine).name]
    assert found.outcome == "ok", found.error
    return found.figures


def in_half(scale: float) -> Any:
    """The gradients that float16 makes of the spread at one scale, by numpy alone."""
    activations, slopes = given.spread()
    with np.errstate(over="ignore"):
        seeds = (slopes * np.float32(scale)).astype(np.float16)
        return seeds * activations.astype(np.float16)


@pytest.mark.parametrize("engine", ENGINES)
def test_float16_loses_what_numpys_float16_loses(
    measured: dict[str, Measured], engine: str
) -> None:
    found = figures(measured, "sweep", engine)["float16"]
    assert found == given.losses([in_half(2.0**exponent) for exponent in given.EXPONENTS])


@pytest.mark.parametrize("engine", ENGINES)
def test_small_scales_underflow_and_large_ones_overflow_with_room_between(
    measured: dict[str, Measured], engine: str
) -> None:
    found = figures(measured, "sweep", engine)["float16"]
    assert found["underflow"][0] > 0.1
    assert found["overflow"][0] == 0
    assert found["underflow"][-1] == 0
    assert found["overflow"][-1] > 0.1
    assert any(
        under == over == 0
        for under, over in zip(found["underflow"], found["overflow"], strict=True)
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("dtype", "error"), [("bfloat16", 2**-9), ("float32", 2**-24)])
def test_wide_exponents_lose_nothing_at_any_scale(
    measured: dict[str, Measured], engine: str, dtype: str, error: float
) -> None:
    found = figures(measured, "sweep", engine)[dtype]
    assert set(found["underflow"]) | set(found["overflow"]) == {0.0}
    assert 0 < max(found["error"]) <= error


@pytest.mark.parametrize("engine", ENGINES)
def test_the_guides_example_comes_out_as_in_the_guide(
    measured: dict[str, Measured], engine: str
) -> None:
    found = figures(measured, "guide_example", engine)
    assert found["scaled"] == {"loss": 1024, "gradient": [[2048, 4096, 6144]]}
    assert found["unscaled"] == {"loss": 1, "gradient": [[2, 4, 6]]}
    assert found["all_finite"] is True


@pytest.mark.parametrize("engine", ENGINES)
def test_a_gradient_of_1e_8_is_zero_in_float16_and_survives_scaling(
    measured: dict[str, Measured], engine: str
) -> None:
    found = figures(measured, "underflow", engine)["float16"]
    assert found["without"] == 0
    assert found["unscaled in float32"] == pytest.approx(1e-8, rel=1e-3)


@pytest.mark.parametrize("engine", MINDSPORE)
def test_unscaling_in_float16_loses_the_gradient_again(
    measured: dict[str, Measured], engine: str
) -> None:
    assert figures(measured, "underflow", engine)["float16"]["unscaled there"] == 0


def test_grad_scaler_refuses_to_unscale_float16(measured: dict[str, Measured]) -> None:
    refused = figures(measured, "underflow", "torch")["float16"]["unscaled there"]
    assert refused == {"raised": "ValueError", "message": "Attempting to unscale FP16 gradients."}


def lived(scale: float) -> list[dict[str, Any]]:
    """The life of a dynamic scaler by its rules alone."""
    turns, streak = [], 0
    for slope in given.BATCHES:
        finite = bool(scale * slope <= np.finfo(np.float16).max)
        streak = streak + 1 if finite else 0
        after = (
            scale * given.FACTOR
            if streak == given.WINDOW
            else scale
            if finite
            else scale / given.FACTOR
        )
        streak %= given.WINDOW
        turns.append(given.turn(scale, after, finite, finite))
        scale = after
    return turns


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dynamic_scaler_skips_shrinks_and_grows_after_its_window(
    measured: dict[str, Measured], engine: str
) -> None:
    turns = figures(measured, "life", engine)["turns"]
    assert turns == lived(given.INITIAL)
    assert min(counts(turns).values()) > 0


def test_mindspores_scale_stops_at_one_and_pytorchs_does_not(measured: dict[str, Measured]) -> None:
    for engine in MINDSPORE:
        assert figures(measured, "limits", engine)["down"] == [8, 4, 2, 1, 1, 1, 1, 1]
    assert figures(measured, "limits", "torch")["down"] == [8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_power_of_two_is_unscaled_without_error(
    measured: dict[str, Measured], engine: str
) -> None:
    errors = figures(measured, "unscaling", engine)["error"]
    assert errors["1024.0"] == 0
    assert 0 < errors["1000.0"] < 2**-22


@pytest.mark.parametrize("engine", ENGINES)
def test_all_finite_knows_infinities_and_nan(measured: dict[str, Measured], engine: str) -> None:
    for case, value in figures(measured, "finiteness", engine).items():
        if isinstance(value, bool):
            assert value == (not any(mark in case for mark in ("inf", "nan"))), case


def test_findings_carry_the_measured_numbers(measured: dict[str, Measured]) -> None:
    told = STUDY.tell(Evidence(measured))
    text = " ".join(told.findings)
    assert "loss 1024, gradient [[2048, 4096, 6144]]; unscaled 1 and [[2, 4, 6]]" in text
    assert "the same scale at 24 of 24 steps" in text
    assert "from 8 to 1 in 7 steps, and it stays there" in text
    assert "from 8 to 0.0625 in 7 steps, and it is still falling" in text
    assert [chart.name for chart in told.charts] == ["shares", "error", "life", "floor"]


def test_a_run_of_its_own_has_the_same_figures_and_says_on_what(
    measured: dict[str, Measured], workers: Workers
) -> None:
    cheap = (
        *(measurement(question, "torch") for question in QUESTIONS),
        measurement("guide_example", "mindspore-graph"),
    )
    chosen = dataclasses.replace(STUDY, measurements=lambda _: cheap)
    record = run(chosen, target(chosen, None, "cpu"), workers)
    assert record.study == "loss-scale"
    assert {"mindspore", "torch"} <= record.versions.keys()
    assert record.figures == {each.name: measured[each.name].figures for each in cheap}


def test_a_scenario_is_refused_since_the_study_has_nets_of_its_own() -> None:
    with pytest.raises(UsageError, match="takes no scenario"):
        target(STUDY, "dense_mse", "cpu")


def test_without_evidence_there_are_no_findings_and_every_table_says_why() -> None:
    told = STUDY.tell(Evidence({}))
    assert told.findings == ()
    assert told.charts == ()
    assert all("not measured" in table.note for table in told.tables)


def test_one_framework_alone_is_told_about(measured: dict[str, Measured]) -> None:
    told = STUDY.tell(
        Evidence({name: each for name, each in measured.items() if name.endswith(".torch")})
    )
    assert any("GradScaler: 5 of 24 steps overflow" in finding for finding in told.findings)
    assert all("MindSpore, graph: not measured." in table.note for table in told.tables)


def test_a_missed_skip_and_an_early_growth_are_counted() -> None:
    turns = lived(given.INITIAL)
    turns[0]["stepped"] = True
    turns[20]["finite"] = False
    found = counts(turns)
    assert found["skipped"] < found["overflows"]
    assert found["on time"] < found["grown"]
