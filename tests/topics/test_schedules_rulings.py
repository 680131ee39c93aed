"""Claims about schedulers and rates of groups without a framework: every verdict, by other figures."""

from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.claim import Ruling
from explorer.topics.schedules.questions import (
    EXPORTED,
    GROUP_RATES,
    TOPIC,
    UNMATCHED,
    UNMATCHED_FAMILIES,
    UNMATCHED_NAMES,
)
from explorer.topics.schedules.readings import SAME
from tests.support.topics import World, judge, put, unchanged, written

UNKNOWN = {"raised": "AttributeError", "message": "no such attribute"}
RATES = [0.1, 0.1, 0.05, 0.05]
HERE = [name for name in UNMATCHED_NAMES if name != "OneCycleLR"]
"""The schedulers that both frameworks have in WORLD."""

RATES_BY_FAMILY = {UNMATCHED_FAMILIES[name].name: RATES for name in HERE}

WORLD = written(
    {
        (EXPORTED, "mindspore"): {
            "list": {},
            "cell": {},
            "callback": {"ReduceLROnPlateau": {}},
            "hand": {key: {} for key in HERE},
        },
        (EXPORTED, "torch"): {"torch": {key: {} for key in UNMATCHED_NAMES}},
        (UNMATCHED, "mindspore"): dict(RATES_BY_FAMILY),
        (UNMATCHED, "torch"): {**RATES_BY_FAMILY, "one cycle": [0.004, 0.1, 0.05, 0.0]},
        (GROUP_RATES, "mindspore"): {
            "get_lr_parameter": {
                "number": [{"kind": "Parameter", "shape": [], "rates": 0.1}],
                "list": [{"kind": "Parameter", "shape": [3], "rates": [0.1, 0.09, 0.081]}],
                "Cell": [{"kind": "Cell"}],
            },
            "get_lr": {"list": [0.09, 0.01], "Cell": [0.09, 0.01]},
            "param_groups": {"nn": UNKNOWN, "experimental": [0.1, 0.01]},
        },
        (GROUP_RATES, "torch"): {"get_last_lr": [0.09, 0.009], "param_groups": [0.09, 0.009]},
    }
)


def judged(row: int, change: Callable[[World], None] = unchanged) -> Ruling:
    """The ruling on a row in WORLD, after ``change`` has been at it."""
    return judge(TOPIC.claims[row], WORLD, change)


def exported_by_mindspore(*names: str) -> Callable[[World], None]:
    """Sets the schedulers that MindSpore has."""
    return put(EXPORTED, ["mindspore"], "hand", value={key: {} for key in names})


def step_lr_alone_parts_by(share: float) -> Callable[[World], None]:
    """StepLR is all that MindSpore has, so far from PyTorch's as a share of the greatest rate."""

    def change(world: World) -> None:
        exported_by_mindspore("StepLR")(world)
        rates = [*RATES[:-1], RATES[-1] + share * max(RATES)]
        world[UNMATCHED, "mindspore"][UNMATCHED_FAMILIES["StepLR"].name] = rates

    return change


def steps_refused(world: World) -> None:
    exported_by_mindspore("StepLR")(world)
    world[UNMATCHED, "mindspore"][UNMATCHED_FAMILIES["StepLR"].name] = UNKNOWN


def test_what_is_there_and_what_is_not_is_told_with_what_to_do() -> None:
    ruling = judged(63)
    assert ruling.verdict == "outdated"
    assert ruling.evidence == (
        "PyTorch's rates over 8 steps: StepLR, MultiStepLR, CosineAnnealingWarmRestarts, CyclicLR,"
        " ReduceLROnPlateau, LambdaLR, MultiplicativeLR; not in MindSpore: OneCycleLR"
    )
    assert "of OneCycleLR make a list of rates" in ruling.advice


@pytest.mark.parametrize(
    ("change", "verdict", "evidence"),
    [
        (exported_by_mindspore(), "holds", f"not in MindSpore: {', '.join(UNMATCHED_NAMES)}"),
        (exported_by_mindspore(*UNMATCHED_NAMES), "outdated", "not compared: OneCycleLR"),
        (exported_by_mindspore("OneCycleLR"), "holds_with_changes", "not compared: OneCycleLR"),
        (step_lr_alone_parts_by(0.9 * SAME), "outdated", "over 8 steps: StepLR;"),
        (step_lr_alone_parts_by(1.1 * SAME), "holds_with_changes", "other rates: StepLR;"),
        (steps_refused, "holds_with_changes", "not compared: StepLR;"),
        (
            put(EXPORTED, ["torch"], "torch", value={"StepLR": {}}),
            "outdated",
            "not in PyTorch either: MultiStepLR, CosineAnnealingWarmRestarts",
        ),
    ],
)
def test_the_verdict_on_schedulers_follows_what_both_export_and_give(
    change: Callable[[World], None], verdict: str, evidence: str
) -> None:
    ruling = judged(63, change)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def test_a_list_of_rates_is_advised_only_for_what_is_missing() -> None:
    assert "list of rates" not in judged(63, exported_by_mindspore(*UNMATCHED_NAMES)).advice
    assert "list of PyTorch's rates" in judged(63, exported_by_mindspore()).advice


def told(kind: str, value: Any) -> Callable[[World], None]:
    """Sets what get_lr_parameter tells of one kind of rate."""
    return put(GROUP_RATES, ["mindspore"], "get_lr_parameter", kind, value=value)


def gone(world: World) -> None:
    by_kind = world[GROUP_RATES, "mindspore"]["get_lr_parameter"]
    by_kind.update(dict.fromkeys(by_kind, UNKNOWN))


def by_group(place: str, value: Any) -> Callable[[World], None]:
    """Sets the rates that param_groups of one module tells."""
    return put(GROUP_RATES, ["mindspore"], "param_groups", place, value=value)


@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "holds_with_changes", "get_lr() the current one"),
        (by_group("experimental", UNKNOWN), "holds", "get_lr() the current one"),
        (by_group("experimental", [0.1, 0.1]), "holds", "get_lr() the current one"),
        (by_group("nn", [0.1, 0.01]), "outdated", "from param_groups"),
        (gone, "outdated", "Keep the rates that you set"),
        (told("Cell", [{"kind": "Parameter", "shape": []}]), "does_not_hold", "the type"),
        (told("list", [{"kind": "Parameter", "shape": []}]), "does_not_hold", "the type"),
        (told("number", UNKNOWN), "does_not_hold", "the type"),
        (told("number", []), "does_not_hold", "the type"),
        (
            put(GROUP_RATES, ["torch"], "get_last_lr", value=[0.09]),
            "does_not_hold",
            "Print PyTorch's rates",
        ),
        (
            put(GROUP_RATES, ["mindspore"], "get_lr", "list", value=[0.1, 0.01]),
            "holds_with_changes",
            "the steps must be counted. With mindspore.experimental.optim read",
        ),
        (
            put(GROUP_RATES, ["mindspore"], "get_lr", "Cell", value=UNKNOWN),
            "holds_with_changes",
            "the steps must be counted",
        ),
    ],
)
def test_the_verdict_on_rates_of_groups_follows_what_is_told(
    change: Callable[[World], None], verdict: str, advice: str
) -> None:
    ruling = judged(65, change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice
    assert ruling.advice.endswith(".")


def test_kinds_and_shapes_stand_in_the_evidence() -> None:
    evidence = judged(65).evidence
    assert "number: Parameter of shape (); list: Parameter of shape (3,); Cell: Cell;" in evidence
    assert "get_lr() of a list, a step on: [0.09, 0.01]" in evidence
    assert "param_groups of nn: AttributeError: no such attribute" in evidence
