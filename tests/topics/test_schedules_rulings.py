"""Verdicts on schedules: those of the recorded figures after a change."""

from typing import Any

import pytest

from explorer.topics.schedules.comparison import SAME
from explorer.topics.schedules.questions import (
    BY_HAND,
    CELLS,
    EXPORTED,
    GROUP_RATES,
    LISTS,
    PIECEWISE,
    TOPIC,
    UNMATCHED,
    UNMATCHED_FAMILIES,
    UNMATCHED_NAMES,
    USED,
)
from tests.support.topics import Change, Ruled, World, copied, judge, put, together, unchanged

UNKNOWN = {"raised": "AttributeError", "message": "no such attribute"}


OTHER = [0.1, 0.05, 0.05]
"""Rates that no decay has."""


def judged(row: int, change: Change = unchanged) -> Ruled:
    """The ruling on a row in the recorded world, after ``change`` has been at it."""
    return judge(TOPIC.claims[row], change)


def exported_by_mindspore(*names: str) -> Change:
    """Sets the schedulers that MindSpore has."""
    return put(EXPORTED, ["mindspore"], "hand", value={key: {} for key in names})


def cyclic_alone_parts_by(share: float) -> Change:
    """CyclicLR is all that MindSpore has, so far from PyTorch's as a share of the greatest rate."""

    def change(world: World) -> None:
        exported_by_mindspore("CyclicLR")(world)
        family = UNMATCHED_FAMILIES["CyclicLR"].name
        rates = [*world[UNMATCHED, "torch"][family]]
        rates[-1] += share * max(rates)
        world[UNMATCHED, "mindspore"][family] = rates

    return change


def listing(rates: Any) -> Change:
    """Sets what piecewise_constant_lr lists."""
    return put(LISTS, ["mindspore"], "piecewise constant", value=rates)


def steps_refused(world: World) -> None:
    exported_by_mindspore("CyclicLR")(world)
    world[UNMATCHED, "mindspore"][UNMATCHED_FAMILIES["CyclicLR"].name] = UNKNOWN


@pytest.mark.row(63)
@pytest.mark.parametrize(
    ("change", "verdict", "evidence"),
    [
        (exported_by_mindspore(), "holds", f"not in MindSpore: {', '.join(UNMATCHED_NAMES)}"),
        (exported_by_mindspore(*UNMATCHED_NAMES), "outdated", "not compared: OneCycleLR"),
        (exported_by_mindspore("OneCycleLR"), "holds_with_changes", "not compared: OneCycleLR"),
        (cyclic_alone_parts_by(0.9 * SAME), "outdated", "over 8 steps: CyclicLR;"),
        (
            cyclic_alone_parts_by(1.1 * SAME),
            "holds_with_changes",
            "other rates than PyTorch's: CyclicLR;",
        ),
        (steps_refused, "holds_with_changes", "not compared: CyclicLR;"),
        (
            put(EXPORTED, ["torch"], "torch", value={"CyclicLR": {}}),
            "outdated",
            "not in PyTorch either: CosineAnnealingWarmRestarts, OneCycleLR",
        ),
        (listing(UNKNOWN), "does_not_hold", "other rates than: StepLR, MultiStepLR"),
        (listing([0.1] * 6 + [0.05] * 6), "does_not_hold", "other rates than: StepLR, MultiStepLR"),
    ],
)
def test_the_verdict_on_schedulers_follows_what_both_export_and_give(
    change: Change, verdict: str, evidence: str
) -> None:
    ruling = judged(63, change)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def test_a_list_of_rates_is_advised_only_for_what_is_missing() -> None:
    assert "list of rates" not in judged(63, exported_by_mindspore(*UNMATCHED_NAMES)).advice
    assert "of OneCycleLR make a list of rates" in judged(63).advice


def told(kind: str, value: Any) -> Change:
    """Sets what get_lr_parameter tells of one kind of rate."""
    return put(GROUP_RATES, ["mindspore"], "get_lr_parameter", kind, value=value)


def gone(world: World) -> None:
    by_kind = world[GROUP_RATES, "mindspore"]["get_lr_parameter"]
    by_kind.update(dict.fromkeys(by_kind, UNKNOWN))


def by_group(place: str, value: Any) -> Change:
    """Sets the rates that param_groups of one module tells."""
    return put(GROUP_RATES, ["mindspore"], "param_groups", place, value=value)


def in_torch(**rates: Any) -> Change:
    """Sets the rates of some of PyTorch's schedulers; spaces of a family's name are underlines."""

    def change(world: World) -> None:
        for family, rates_of_family in rates.items():
            world[BY_HAND, "torch"][family.replace("_", " ")] = rates_of_family

    return change


def cosine_agrees(world: World) -> None:
    world[BY_HAND, "torch"]["cosine"] = world[LISTS, "mindspore"]["cosine"]


def one_is_gone(world: World) -> None:
    for question in (LISTS, CELLS):
        world[question, "mindspore"]["exponential"] = UNKNOWN


NONE_FOR_THE_OTHERS = {"natural_exponential": OTHER, "inverse": OTHER, "polynomial": OTHER}


def test_a_function_of_ones_own_is_no_counterpart_and_is_advised_where_it_was_seen_to_agree() -> (
    None
):
    without_other_schedulers = in_torch(natural_exponential=OTHER, polynomial=OTHER)
    ruling = judged(56, without_other_schedulers)
    assert ruling.verdict == "holds_with_changes"
    assert (
        "inverse decay over 20 steps: the same rates, with a function of your own in PyTorch"
        in ruling.evidence
    )
    assert "LambdaLR for inverse" in ruling.advice
    assert "LambdaLR" not in judged(56, in_torch(inverse=OTHER)).advice


torch_moves_by_itself = copied(USED, ["torch"], "SGD, never stepped", of="SGD, stepped by hand")
experimental_moves_by_itself = copied(
    USED, ["mindspore"], "experimental SGD, never stepped", of="experimental SGD, stepped by hand"
)


@pytest.mark.parametrize(
    ("row", "change", "verdict", "advice"),
    [
        (54, unchanged, "holds_with_changes", ""),
        (54, put(PIECEWISE, ["mindspore"], "deprecated", value=""), "holds", ""),
        (54, put(PIECEWISE, ["mindspore"], "type", value="tuple"), "does_not_hold", ""),
        (54, put(PIECEWISE, ["mindspore"], "rates", 2, value=0.1), "does_not_hold", ""),
        (54, put(PIECEWISE, ["mindspore"], "rates", value=UNKNOWN), "outdated", ""),
        (55, torch_moves_by_itself, "does_not_hold", ""),
        (55, put(USED, ["mindspore"], "nn.SGD with a Cell", value=[0.1] * 5), "does_not_hold", ""),
        (
            55,
            put(USED, ["torch"], "SGD, stepped by hand", "said", 0, value=0.1),
            "does_not_hold",
            "",
        ),
        (55, experimental_moves_by_itself, "holds", ""),
        (56, unchanged, "outdated", "ExponentialLR(gamma=e^(-rate)) for natural exponential"),
        (
            56,
            in_torch(**NONE_FOR_THE_OTHERS),
            "holds_with_changes",
            "end the cosine before step 11",
        ),
        (
            56,
            together(in_torch(**NONE_FOR_THE_OTHERS), cosine_agrees),
            "holds",
            "Use ExponentialLR for exponential, CosineAnnealingLR for cosine; end the natural",
        ),
        (56, in_torch(exponential=OTHER), "does_not_hold", "Do not rely"),
        (56, in_torch(exponential=UNKNOWN), "does_not_hold", "Do not rely"),
        (56, one_is_gone, "does_not_hold", "Do not rely"),
        (65, unchanged, "holds_with_changes", "get_lr() the current one"),
        (65, by_group("experimental", UNKNOWN), "holds", "can be relied on"),
        (65, by_group("experimental", [0.1, 0.1]), "holds", "can be relied on"),
        (65, by_group("experimental", [0.01, 0.1]), "holds", "can be relied on"),
        (65, by_group("nn", [0.1, 0.01]), "outdated", "what is true now"),
        (65, gone, "outdated", "what is true now"),
        (65, told("Cell", [{"kind": "Parameter", "shape": []}]), "does_not_hold", "Do not rely"),
        (65, told("list", [{"kind": "Parameter", "shape": []}]), "does_not_hold", "Do not rely"),
        (65, told("number", UNKNOWN), "does_not_hold", "Do not rely"),
        (65, told("number", []), "does_not_hold", "Do not rely"),
        (
            65,
            put(GROUP_RATES, ["torch"], "get_last_lr", value=[0.09]),
            "does_not_hold",
            "Do not rely",
        ),
        (
            65,
            put(GROUP_RATES, ["mindspore"], "get_lr", "list", value=[0.1, 0.01]),
            "holds_with_changes",
            "the steps must be counted. With mindspore.experimental.optim read",
        ),
        (
            65,
            put(GROUP_RATES, ["mindspore"], "get_lr", "Cell", value=UNKNOWN),
            "holds_with_changes",
            "the steps must be counted",
        ),
    ],
)
def test_verdict_and_advice_follow_the_figures(
    row: int, change: Change, verdict: str, advice: str
) -> None:
    ruling = judged(row, change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_one_factor_for_all_steps_is_not_advised_for_rates_that_are_halved_and_then_divided() -> (
    None
):
    assert "MultiStepLR" not in judged(54).advice
