"""The loss-scale study: what float16 loses, what scaling saves, and how scalers live."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.arrays import AnyArray
from explorer.model.errors import UsageError
from explorer.model.measurement import Figures, Measured
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale import inputs
from explorer.topics.loss_scale.figures import (
    FRAMEWORK_NAMES,
    SCALER_NAMES,
    Turn,
    counts,
    same_scales,
)
from explorer.topics.loss_scale.findings import is_finite
from explorer.topics.loss_scale.inputs import turn
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    LIFE,
    LIMITS,
    SCALING,
    SWEEP,
    TOPIC,
    UNDERFLOW,
    UNSCALING,
)
from explorer.topics.measurements import measure
from explorer.topics.question import MINDSPORE_STYLES, Question, Target
from explorer.topics.studies import target
from explorer.words.messages import text
from explorer.workers.workers import Workers
from tests.support.tellings import check_every_failure, check_telling, telling_text
from tests.support.topics import World, measured_once

FiguresOf = Callable[[Question, str], Figures]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_once(workers, TOPIC.measurements(Target()))


@pytest.fixture(scope="module")
def figures_of(measured: dict[str, Measured]) -> FiguresOf:
    """Gives what a party answered to a question."""

    def figures(question: Question, party: str) -> Figures:
        outcome = measured[question.measurement_name(party)]
        assert outcome.outcome == "ok", outcome.error
        return outcome.figures

    return figures


# Gradients over many magnitudes


def in_half(scale: float) -> AnyArray:
    """The gradients that float16 makes of the spread at one scale, by numpy alone."""
    activations, slopes = inputs.spread()
    with np.errstate(over="ignore"):
        seeds = (slopes * np.float32(scale)).astype(np.float16)
        gradients: AnyArray = seeds * activations.astype(np.float16)
        return gradients


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
def test_float16_loses_what_numpys_float16_loses(figures_of: FiguresOf, party: str) -> None:
    expected = inputs.losses_by_scale([in_half(2.0**exponent) for exponent in inputs.EXPONENTS])
    assert figures_of(SWEEP, party)["float16"] == expected


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
def test_small_scales_underflow_and_large_ones_overflow_with_room_between(
    figures_of: FiguresOf, party: str
) -> None:
    losses = figures_of(SWEEP, party)["float16"]
    underflow, overflow = losses["underflow"], losses["overflow"]
    assert underflow[0] > 0.1
    assert overflow[0] == 0
    assert underflow[-1] == 0
    assert overflow[-1] > 0.1
    assert (0, 0) in zip(underflow, overflow, strict=True)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
@pytest.mark.parametrize(("dtype", "error"), [("bfloat16", 2**-9), ("float32", 2**-24)])
def test_wide_exponents_lose_nothing_at_any_scale(
    figures_of: FiguresOf, party: str, dtype: str, error: float
) -> None:
    losses = figures_of(SWEEP, party)[dtype]
    assert set(losses["underflow"]) | set(losses["overflow"]) == {0.0}
    assert 0 < max(losses["error"]) <= error


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
def test_a_gradient_of_1e_8_is_zero_in_float16_and_survives_scaling(
    figures_of: FiguresOf, party: str
) -> None:
    figures = figures_of(UNDERFLOW, party)["float16"]
    assert figures["without"] == 0
    assert figures["unscaled in float32"] == pytest.approx(inputs.TINY, rel=1e-3)


@pytest.mark.mindspore
@pytest.mark.parametrize("style", MINDSPORE_STYLES)
def test_unscaling_in_float16_loses_the_gradient_again(figures_of: FiguresOf, style: str) -> None:
    assert figures_of(UNDERFLOW, style)["float16"]["unscaled there"] == 0


@pytest.mark.torch
def test_grad_scaler_refuses_to_unscale_float16(figures_of: FiguresOf) -> None:
    refused = figures_of(UNDERFLOW, "torch")["float16"]["unscaled there"]
    assert refused["raised"] == "ValueError"
    assert "FP16 gradients" in refused["message"]


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
def test_the_guides_example_comes_out_as_in_the_guide(figures_of: FiguresOf, party: str) -> None:
    figures = figures_of(GUIDE_EXAMPLE, party)
    assert figures["scaled"] == {"loss": 1024, "gradient": [[2048, 4096, 6144]]}
    assert figures["unscaled"] == {"loss": 1, "gradient": [[2, 4, 6]]}
    assert figures["all_finite"] is True


# Dynamic scalers


def as_turns(figures: list[dict[str, Any]]) -> tuple[Turn, ...]:
    """The figures of a life as findings and claims read them."""
    return msgspec.convert(figures, tuple[Turn, ...])


def life_by_the_rules(scale: float) -> list[dict[str, Any]]:
    """The life of a dynamic scaler by its rules alone."""
    turns = []
    finite_in_a_row = 0
    for slope in inputs.BATCHES:
        finite = bool(scale * slope <= np.finfo(np.float16).max)
        finite_in_a_row = finite_in_a_row + 1 if finite else 0
        after = scale
        if not finite:
            after = scale / inputs.FACTOR
        elif finite_in_a_row == inputs.WINDOW:
            after = scale * inputs.FACTOR
            finite_in_a_row = 0
        turns.append(turn(scale, after, finite, finite))
        scale = after
    return turns


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
def test_a_dynamic_scaler_skips_shrinks_and_grows_after_its_window(
    figures_of: FiguresOf, party: str
) -> None:
    turns = figures_of(LIFE, party)["turns"]
    assert turns == life_by_the_rules(inputs.INITIAL)
    assert min(counts(as_turns(turns))) > 0


def test_a_missed_skip_and_an_early_growth_are_counted() -> None:
    turns = life_by_the_rules(inputs.INITIAL)
    turns[0]["stepped"] = True
    turns[20]["finite"] = False
    happened = counts(as_turns(turns))
    assert happened.skipped < happened.overflows
    assert happened.on_time < happened.grown


def test_scales_are_the_same_where_every_scaler_has_the_same() -> None:
    steady = [turn(8.0, 8.0, finite=True, stepped=True)] * 3
    grown = [*steady[:2], turn(16.0, 16.0, finite=True, stepped=True)]
    assert same_scales([as_turns(steady), as_turns(steady)]) == 3
    assert same_scales([as_turns(steady), as_turns(grown)]) == 2


@pytest.mark.mindspore
@pytest.mark.torch
def test_mindspores_scale_stops_at_one_and_pytorchs_does_not(figures_of: FiguresOf) -> None:
    for style in MINDSPORE_STYLES:
        assert figures_of(LIMITS, style)["down"] == [8, 4, 2, 1, 1, 1, 1, 1]
    assert figures_of(LIMITS, "torch")["down"] == [8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625]


# Before a step


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
def test_a_power_of_two_is_unscaled_without_error(figures_of: FiguresOf, party: str) -> None:
    errors = figures_of(UNSCALING, party)["error"]
    assert errors["1024.0"] == 0
    assert 0 < errors["1000.0"] < 2**-22


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("party", SCALING)
def test_all_finite_knows_infinities_and_nan(figures_of: FiguresOf, party: str) -> None:
    answers = figures_of(FINITENESS, party)
    checked = {case: answer for case, answer in answers.items() if isinstance(answer, bool)}
    assert checked
    for case, answer in checked.items():
        assert answer == is_finite(case), case


def test_cases_are_finite_by_what_is_in_them() -> None:
    for name, gradients in inputs.FINITE_CASES.items():
        values = np.concatenate(gradients)
        assert is_finite(f"{name}, float16") == np.isfinite(values).all()


# The findings


@pytest.mark.mindspore
@pytest.mark.torch
def test_findings_carry_the_measured_numbers(measured: dict[str, Measured]) -> None:
    telling = telling_text(TOPIC, Evidence(measured))
    text = " ".join(telling.findings)
    assert "the loss 1024 and the gradient [[2048, 4096, 6144]], all finite; unscaled" in text
    assert "they are 1 and [[2, 4, 6]] (both frameworks)" in text
    assert "15.6 % of the gradients underflow to 0 at a loss scale of 2^0" in text
    assert "the same scale at 24 of 24 steps" in text
    assert "from 8 to 1 within 7 steps and then stays there" in text
    assert "from 8 to 0.0625 in 7 steps and goes on falling" in text
    assert [chart.name for chart in telling.charts] == ["shares", "error", "life", "floor"]


@pytest.mark.mindspore
@pytest.mark.torch
def test_a_check_that_is_wrong_is_told(measured: dict[str, Measured]) -> None:
    world = World(measured)
    world[FINITENESS, "mindspore-tape"]["nan, float32"] = True
    text = " ".join(telling_text(TOPIC, world.evidence).findings)
    assert "check for finite gradients is wrong about nan, float32 (MindSpore, tape)" in text
    # Nothing is made of a check that is right.
    assert "(MindSpore, graph)" not in text


@pytest.mark.torch
def test_a_run_of_its_own_has_the_same_figures(
    measured: dict[str, Measured], workers: Workers
) -> None:
    again = []
    for question in TOPIC.questions.values():
        if "torch" in question.asks:
            again.extend(question.by("torch").measurements(Target()))
    for name, outcome in measure(again, workers).items():
        assert outcome.figures == measured[name].figures


def test_a_scenario_is_refused_since_the_study_has_nets_of_its_own() -> None:
    with pytest.raises(UsageError, match="takes no scenario"):
        target(TOPIC, "dense_mse", "cpu")


def test_without_evidence_there_are_no_findings_and_every_table_says_why() -> None:
    telling = telling_text(TOPIC, Evidence({}))
    assert telling.findings == ()
    assert telling.charts == ()
    assert all("not measured" in table.note for table in telling.tables)


def test_tables_are_read_from_the_sweep_by_the_scalers_lives_to_unscaling() -> None:
    titles = [table.title for table in telling_text(TOPIC, Evidence({})).tables]
    assert len(titles) == 7
    assert titles[0].startswith("What a loss scale saves")
    assert titles[3].startswith("A dynamic scaler, step by step")
    assert titles[-1] == "The error of unscaling in float32, and calls that are refused"


@pytest.mark.torch
def test_one_framework_alone_is_told_about(measured: dict[str, Measured]) -> None:
    torch_alone = {name: outcome for name, outcome in measured.items() if name.endswith(".torch")}
    telling = telling_text(TOPIC, Evidence(torch_alone))
    assert any(
        "GradScaler: of 24 steps, 5 overflow. It skips 5" in finding for finding in telling.findings
    )
    assert all("MindSpore, graph: not measured." in table.note for table in telling.tables)


@pytest.mark.parametrize(
    ("parties", "framework", "scaler"),
    [
        (SCALING, "both frameworks", "DynamicLossScaler and GradScaler"),
        (MINDSPORE_STYLES, "MindSpore", "DynamicLossScaler"),
        (("torch",), "PyTorch", "GradScaler"),
        (
            ("mindspore-tape", "torch"),
            "MindSpore, tape and PyTorch",
            "DynamicLossScaler, tape and GradScaler",
        ),
    ],
)
def test_those_who_agree_have_one_name(
    parties: tuple[str, ...], framework: str, scaler: str
) -> None:
    assert text(FRAMEWORK_NAMES.of(parties)) == framework
    assert text(SCALER_NAMES.of(parties)) == scaler


@pytest.mark.mindspore
@pytest.mark.torch
def test_what_is_told_can_be_read_whichever_measurement_fails(
    measured: dict[str, Measured],
) -> None:
    check_telling(telling_text(TOPIC, Evidence(measured)))
    check_every_failure(TOPIC, measured, Target())


def test_a_scale_that_grows_before_a_new_window_is_over_grows_early() -> None:
    waiting = [turn(8.0, 8.0, finite=True, stepped=True)] * (inputs.WINDOW - 1)
    growing = []
    for power in range(3):
        scale = 8.0 * 2**power
        growing.append(turn(scale, 2 * scale, finite=True, stepped=True))
    happened = counts(as_turns([*waiting, *growing]))
    assert (happened.grown, happened.on_time) == (3, 1)
