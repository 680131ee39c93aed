"""Claims 40 to 51: the verdicts that the installed versions deserve, and other verdicts for other
figures.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.claim import ClaimVerdict, Ruling
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.operators import STUDY, asked
from explorer.topics.operators.claims import CLAIMS
from explorer.topics.question import Target
from explorer.topics.topic import Claim
from explorer.workers.workers import Workers
from tests.measured_once import once

Figures = dict[str, dict[str, Any]]
Doctor = Callable[[Figures], None]
BY_ID = {claim.id: claim for claim in CLAIMS}
RAISED = {"raised": "TypeError", "message": "unexpected"}


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    """What the study measures, which the claims share."""
    return once(workers, STUDY.measurements(Target("", "cpu")))


def judge(
    claim: Claim, measured: dict[str, Measured], doctor: Doctor = lambda figures: None
) -> Ruling:
    figures = {each.name: copy.deepcopy(measured[each.name].figures) for each in claim.measurements}
    doctor(figures)
    return claim.judge(
        Evidence({name: Measured(outcome="ok", figures=each) for name, each in figures.items()}),
        claim.expects,
    )


def test_rows_40_to_51_are_claimed_and_measure_what_the_study_measures(
    measured: dict[str, Measured],
) -> None:
    assert [claim.id for claim in CLAIMS] == list(range(40, 52))
    assert all(each.name in measured for claim in CLAIMS for each in claim.measurements)


@pytest.mark.parametrize(
    ("number", "verdict", "evidence"),
    [
        (40, "holds", "equal in every engine"),
        (41, "holds_with_changes", "Dropout(0.3) 0.304"),
        (42, "holds", "PyTorch 4 states, MindSpore 3 settings"),
        (43, "holds", "MindSpore 0.9, PyTorch 0.9, TensorFlow (Keras) 0.99"),
        (44, "holds_with_changes", "MindSpore swaps two axes too: x.transpose(0, 3)"),
        (45, "holds", "MindSpore and TensorFlow (Keras) [[4, 5], [7, 8]]"),
        (46, "holds", "MindSpore and PyTorch and TensorFlow (Keras) [[0, 2], [6, 8]]"),
        (
            47,
            "does_not_hold",
            '"same" in PyTorch puts the odd zero right/bottom 11 times, left/top 0 times',
        ),
        (48, "holds", "the formula misses: MindSpore and PyTorch and TensorFlow (Keras) 0"),
        (49, "outdated", "weights: MindSpore in [-0.1178, 0.1178], p 0.9 uniform, 0 normal"),
        (50, "outdated", "biases: MindSpore in [-0.1249, 0.1248]"),
        (51, "holds", "first order: 48 of 48 agree"),
    ],
)
def test_verdict_on_the_installed_versions(
    measured: dict[str, Measured], number: int, verdict: ClaimVerdict, evidence: str
) -> None:
    ruling = judge(BY_ID[number], measured)
    assert ruling.verdict == verdict, ruling.evidence
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def _change(who: asked.Asked, name: str, *path: Any, value: Any) -> Doctor:
    """A doctor who sets one figure of one measurement."""

    def doctor(figures: Figures) -> None:
        place: Any = figures[who[name].name]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return doctor


def _both(*doctors: Doctor) -> Doctor:
    def doctor(figures: Figures) -> None:
        for each in doctors:
            each(figures)

    return doctor


def _training_agrees(figures: Figures) -> None:
    for each in asked.INFERENCE.values():
        figures[each.name]["training"] = figures[each.name]["inference"][:2]


def _states_shifted(*styles: str) -> Doctor:
    training, inference = (
        f"use_batch_statistics=None, {mode}" for mode in ("training", "inference")
    )

    def doctor(figures: Figures) -> None:
        for style in styles:
            states = figures[asked.BATCH_NORM[f"mindspore-{style}"].name]
            states[training] = states[inference]

    return doctor


def _momentum_means_the_same(figures: Figures) -> None:
    ours = figures[asked.MOMENTUM["mindspore"].name]
    ours.update(figures[asked.MOMENTUM["torch"].name]["same"])


def _no_swaps(figures: Figures) -> None:
    ours = figures[asked.AXES["mindspore"].name]
    ours["x.transpose(0, 3)"] = ours["mint.transpose(x, 0, 3)"] = RAISED


def _torch_before(figures: Figures) -> None:
    sides = figures[asked.SIDES["torch"].name]
    figures[asked.SIDES["torch"].name] = {
        case: made[::-1] if isinstance(made, list) else made for case, made in sides.items()
    }


def _mindspore_before(figures: Figures) -> None:
    sides = figures[asked.SIDES["mindspore"].name]
    figures[asked.SIDES["mindspore"].name] = {case: made[::-1] for case, made in sides.items()}


def _no_same_in_torch(figures: Figures) -> None:
    sides = figures[asked.SIDES["torch"].name]
    figures[asked.SIDES["torch"].name] = dict.fromkeys(sides, RAISED)
    numbers = figures[asked.SIDES_OF_A_NUMBER["mindspore"].name]
    figures[asked.SIDES_OF_A_NUMBER["mindspore"].name] = {
        case: made[::-1] for case, made in numbers.items()
    }


def _normal(kind: str, zeros: bool) -> Doctor:
    """MindSpore's weights from N(0, 1), and its biases from zeros or as they are."""

    def doctor(figures: Figures) -> None:
        ours = figures[asked.INITIAL["mindspore"].name]
        tests = ours[f"{kind} weight"]["ks"]
        tests["N(0, 1)"]["p"], tests["U(-sqrt k, sqrt k)"]["p"] = 0.5, 0.0
        ours[f"{kind} bias"]["zeros"] = 1.0 if zeros else 0.0

    return doctor


def _other_weights(kind: str) -> Doctor:
    return _change(
        asked.INITIAL, "mindspore", f"{kind} weight", "ks", "U(-sqrt k, sqrt k)", "p", value=0.0
    )


def _gradients_apart(*engines: str) -> Doctor:
    return _both(
        *(_change(asked.GRADIENTS, who, "dense", "first", 0, 0, 0, value=9.0) for who in engines)
    )


DOCTORED: tuple[tuple[int, ClaimVerdict, Doctor], ...] = (
    (
        40,
        "does_not_hold",
        _change(asked.INFERENCE, "mindspore-tape", "inference", 1, 0, 0, value=7.0),
    ),
    (
        40,
        "does_not_hold",
        _change(asked.INFERENCE, "torch-graph", "inference", value=[[[0.0] * 3] * 2] * 3),
    ),
    (40, "holds_with_changes", _training_agrees),
    (41, "outdated", _change(asked.DROPOUT_SETTINGS, "mindspore", "keep_prob=0.7", value=RAISED)),
    (41, "holds", _change(asked.DROPOUT_SETTINGS, "mindspore", "p=0.3", value=RAISED)),
    (
        41,
        "does_not_hold",
        _change(asked.DROPOUT_SETTINGS, "mindspore", "keep_prob=0.7", "kept", value=0.3),
    ),
    (41, "does_not_hold", _change(asked.DROPOUT_SETTINGS, "mindspore", "p=0.3", "kept", value=0.3)),
    (42, "depends_on_style", _states_shifted("tape")),
    (42, "depends_on_style", _states_shifted("graph")),
    (42, "does_not_hold", _states_shifted("graph", "tape")),
    (43, "outdated", _momentum_means_the_same),
    (43, "does_not_hold", _change(asked.MOMENTUM, "mindspore", "0.9", 0, 0, value=3.0)),
    (44, "holds", _no_swaps),
    (
        44,
        "does_not_hold",
        _change(
            asked.AXES, "mindspore", "ops.transpose(x, (3, 2, 1, 0))", "shape", value=[4, 2, 3, 1]
        ),
    ),
    (44, "does_not_hold", _change(asked.AXES, "torch", "torch.transpose(x, 0, 3)", value=RAISED)),
    (
        45,
        "depends_on_style",
        _change(asked.POOL, "mindspore-graph", "same", value=[[0, 2], [6, 8]]),
    ),
    (45, "holds_with_changes", _change(asked.POOL, "keras", "same", value=[[0, 2], [6, 8]])),
    (
        45,
        "does_not_hold",
        _both(
            *(
                _change(asked.POOL, f"mindspore-{style}", "same", value=RAISED)
                for style in ("graph", "tape")
            )
        ),
    ),
    (
        46,
        "does_not_hold",
        _change(asked.POOL, "keras", "zeros top and left, then valid", value=[[4]]),
    ),
    (
        46,
        "depends_on_style",
        _change(asked.POOL, "mindspore-graph", "zeros top and left, then valid", value=[[4]]),
    ),
    (47, "holds", _torch_before),
    (47, "holds", _no_same_in_torch),
    (47, "does_not_hold", _mindspore_before),
    (48, "does_not_hold", _change(asked.VALID, "torch", "size 5, kernel 2, stride 2", 1, value=3)),
    (49, "holds", _normal("convolution", zeros=True)),
    (49, "holds_with_changes", _normal("convolution", zeros=False)),
    (49, "does_not_hold", _other_weights("convolution")),
    (50, "holds", _normal("dense", zeros=True)),
    (50, "holds_with_changes", _normal("dense", zeros=False)),
    (50, "does_not_hold", _other_weights("dense")),
    (51, "does_not_hold", _gradients_apart("mindspore-graph", "mindspore-tape")),
    (51, "depends_on_style", _gradients_apart("mindspore-graph")),
    (51, "does_not_hold", _change(asked.DROPOUT_MASK, "mindspore-tape", "gradient", 0, value=9.0)),
    (
        51,
        "does_not_hold",
        _change(asked.GRADIENTS, "mindspore-tape", "dense", "first", value=RAISED),
    ),
)


@pytest.mark.parametrize(
    ("number", "verdict", "doctor"),
    DOCTORED,
    ids=[f"{each[0]}-{place}-{each[1]}" for place, each in enumerate(DOCTORED)],
)
def test_verdict_follows_the_figures(
    measured: dict[str, Measured], number: int, verdict: ClaimVerdict, doctor: Doctor
) -> None:
    ruling = judge(BY_ID[number], measured, doctor)
    assert ruling.verdict == verdict, ruling.evidence
    assert (
        ruling.verdict != judge(BY_ID[number], measured).verdict
        or ruling.evidence != judge(BY_ID[number], measured).evidence
    )


def test_every_claim_has_a_doctoring_that_changes_its_verdict(
    measured: dict[str, Measured],
) -> None:
    changed = {
        number
        for number, verdict, _ in DOCTORED
        if verdict != judge(BY_ID[number], measured).verdict
    }
    assert changed == set(BY_ID)


def test_advice_of_dropout_says_what_a_bare_number_means(measured: dict[str, Measured]) -> None:
    assert "a bare number means keep_prob" in judge(BY_ID[41], measured).advice
    renamed = _change(asked.DROPOUT_SETTINGS, "mindspore", "0.3 alone", "kept", value=0.7)
    assert "a bare number means p" in judge(BY_ID[41], measured, renamed).advice
