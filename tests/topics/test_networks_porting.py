"""Every verdict on lists of Parameters, precision and inference first, by figures written down."""

from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.networks.inputs import MEAN, SAMPLES, VARIANCE, WEIGHT
from explorer.topics.networks.questions import AMP_LEVEL, BATCHES, LISTINGS, PARAMETERS, TOPIC
from explorer.topics.question import MINDSPORE_STYLES, Question
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims, put, unchanged, written

CLAIMS = TOPIC.claims
ROWS = (74, 76, 78)
Change = Callable[[World], None]


def holding(names: list[str]) -> Figures:
    """A container with what it registers of two Parameters: of 2 · 3 + 1, and its gradients."""
    return {"registered": names, "value": 7.0, "gradients": [[3.0], [1.0]][: len(names)]}


IN_CONTAINERS: dict[tuple[Question, str], Figures] = {
    (PARAMETERS, "mindspore"): {
        "list": holding([]),
        "tuple": holding([]),
        "ParameterTuple": holding(["factor", "addend"]),
    },
    (PARAMETERS, "torch"): {
        "list": holding([]),
        "tuple": holding([]),
        "ParameterList": holding(["weights.0", "weights.1"]),
    },
}


@pytest.mark.row(74)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "holds", "gives outputs, and is not trained"),
        (
            put(PARAMETERS, ["mindspore"], "list", value=holding(["factor", "addend"])),
            "outdated",
            "what is true now",
        ),
        (
            put(PARAMETERS, ["mindspore"], "ParameterTuple", value=holding(["factor"])),
            "does_not_hold",
            "Do not rely",
        ),
        # PyTorch is evidence alone.
        (put(PARAMETERS, ["torch"], "list", value=holding(["0", "1"])), "holds", "ParameterTuple"),
    ],
)
def test_a_list_is_judged_by_what_it_registers(change: Change, verdict: str, advice: str) -> None:
    ruling = judge(CLAIMS[74], written(IN_CONTAINERS), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


REFUSED = {"raised": "TypeError", "message": "one argument is missing"}
PRINTED = "nn.Conv2d(1, 3)"

LINES: dict[tuple[Question, str], Figures] = {
    (LISTINGS, "mindspore"): {
        "as printed": {PRINTED: REFUSED},
        "as meant": {"nn.Conv2d(1, 3, 3)": "Conv2d"},
    },
    (LISTINGS, "torch"): {"as printed": False, "as meant": True},
}


@pytest.mark.row(92)
@pytest.mark.parametrize(
    ("made", "is_chosen", "verdict"),
    [
        (REFUSED, False, "does_not_hold"),
        ("Conv2d", False, "does_not_hold"),
        (REFUSED, True, "does_not_hold"),
        ("Conv2d", True, "holds"),
    ],
)
def test_printed_lines_hold_where_they_run_and_the_variable_is_read(
    made: Any, is_chosen: bool, verdict: str
) -> None:
    def change(world: World) -> None:
        world[LISTINGS, "mindspore"]["as printed"][PRINTED] = made
        world[LISTINGS, "torch"]["as printed"] = is_chosen

    ruling = judge(CLAIMS[92], written(LINES), change)
    assert ruling.verdict == verdict
    assert "nn.Conv2d(1, 3, 3), as meant, makes: Conv2d (MindSpore)" in ruling.evidence


OWN = ["Float16", "Float32", "Float16"]
ALL_HALF = ["Float16", "Float16", "Float16"]
UNSUPPORTED = {"raised": "TypeError", "message": "no kernel"}

LEVELS: dict[tuple[Question, str], Figures] = {
    (AMP_LEVEL, style): {"O0": OWN, "O2": ALL_HALF, "O3": ALL_HALF} for style in MINDSPORE_STYLES
}


def level(name: str, dtypes: Any, *styles: str) -> Change:
    return put(AMP_LEVEL, styles or MINDSPORE_STYLES, name, value=dtypes)


def kept(world: World) -> None:
    level("O2", OWN)(world)
    level("O3", OWN)(world)


def kept_on_the_tape(world: World) -> None:
    level("O2", OWN, "mindspore-tape")(world)
    level("O3", OWN, "mindspore-tape")(world)


def refused(world: World) -> None:
    level("O2", UNSUPPORTED)(world)
    level("O3", UNSUPPORTED)(world)


@pytest.mark.row(76)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "holds", "O2 and O3 change it without a word."),
        (level("O2", OWN), "holds", "to_float: O3 change it"),
        (refused, "holds", "the level raises."),
        (kept_on_the_tape, "depends_on_style", "O2 and O3 change it without a word in one style."),
        (kept, "does_not_hold", "Do not rely"),
    ],
)
def test_a_level_conflicts_where_it_changes_the_dtypes(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[76], written(LEVELS), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def outputs() -> list[list[float]]:
    """The net's outputs by the formulas of batch norm and of a dense layer."""
    normalised = (SAMPLES - MEAN) / (VARIANCE + 1e-5) ** 0.5
    values: list[list[float]] = (normalised @ WEIGHT.T).tolist()
    return values


def batched() -> Figures:
    """One party's outputs by the way to batch."""
    return {
        "one by one": outputs(),
        "by default": outputs(),
        "keeping the rest": outputs(),
        "dropping the rest": outputs()[:4],
        "again": outputs(),
    }


INFERRED: dict[tuple[Question, str], Figures] = {
    (BATCHES, party): batched() for party in (*MINDSPORE_STYLES, "torch")
}


def off_by(difference: float, way: str, *styles: str) -> Change:
    """One output of a way to batch is off."""

    def change(world: World) -> None:
        for style in styles:
            world[BATCHES, style][way][0][0] += difference

    return change


def nothing_dropped(*styles: str) -> Change:
    """Some styles keep the rest of the samples though they are to drop it."""

    def change(world: World) -> None:
        for style in styles:
            world[BATCHES, style]["dropping the rest"] = outputs()

    return change


def dropped_by_default(world: World) -> None:
    for style in MINDSPORE_STYLES:
        for way in ("by default", "again"):
            world[BATCHES, style][way] = outputs()[:4]


@pytest.mark.row(78)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "holds", "keep the default, which drops nothing"),
        (dropped_by_default, "holds", "write drop_remainder=False"),
        (nothing_dropped(*MINDSPORE_STYLES), "holds_with_changes", "names and defaults"),
        (nothing_dropped("mindspore-graph"), "holds_with_changes", "names and defaults"),
        (off_by(0.9e-5, "one by one", "mindspore-graph"), "holds", "Compare inference first"),
        (off_by(1.2e-5, "one by one", "mindspore-graph"), "depends_on_style", "Check which style"),
        (
            off_by(0.1, "keeping the rest", "mindspore-tape"),
            "depends_on_style",
            "Check which style",
        ),
        (off_by(0.1, "again", *MINDSPORE_STYLES), "does_not_hold", "Do not rely"),
    ],
)
def test_inference_is_compared_for_all_samples(change: Change, verdict: str, advice: str) -> None:
    ruling = judge(CLAIMS[78], written(INFERRED), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


@pytest.mark.mindspore
@pytest.mark.torch
def test_the_installed_versions_are_the_worlds_that_are_written_down(workers: Workers) -> None:
    measured = measured_for_claims(workers, [CLAIMS[row] for row in ROWS])
    for (question, party), figures in {**IN_CONTAINERS, **LEVELS}.items():
        assert measured[question.measurement_name(party)].figures == figures
    for question, party in INFERRED:
        found = measured[question.measurement_name(party)].figures
        for way, expected in batched().items():
            assert found[way] == [pytest.approx(value, abs=1e-5) for value in expected]
    for row in ROWS:
        assert judge(CLAIMS[row], measured).verdict == "holds"
