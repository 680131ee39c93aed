"""Claims about schedulers and rates of groups without a framework: every verdict, by other figures."""

from collections.abc import Callable
from typing import Any

import pytest

from explorer.topics.schedules.comparison import SAME
from explorer.topics.schedules.questions import (
    BY_HAND,
    CELLS,
    EXPORTED,
    GROUP_RATES,
    LISTED_NAMES,
    LISTS,
    PIECEWISE,
    TOPIC,
    UNMATCHED,
    UNMATCHED_FAMILIES,
    UNMATCHED_NAMES,
)
from tests.support.topics import Ruled, World, judge, put, unchanged, written

UNKNOWN = {"raised": "AttributeError", "message": "no such attribute"}
RATES = [0.1] * 5 + [0.05] * 3
HERE = [name for name in UNMATCHED_NAMES if name != "OneCycleLR"]
"""The schedulers that both frameworks have in WORLD."""

RATES_BY_FAMILY = {UNMATCHED_FAMILIES[name].name: RATES for name in (*LISTED_NAMES, *HERE)}

HALVED = [0.1, 0.05, 0.025]
OTHER = [0.1, 0.05, 0.05]
"""Rates of a decay, and rates that part from them at step 2."""

DECAYS = ("exponential", "natural exponential", "inverse", "cosine", "polynomial")

WORLD = written(
    {
        (PIECEWISE, "mindspore"): {
            "rates": [0.1, 0.1, 0.05, 0.05, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01],
            "type": "list",
            "deprecated": "This interface is deprecated.",
        },
        (LISTS, "mindspore"): {
            **dict.fromkeys(DECAYS, HALVED),
            "piecewise constant": [*RATES, 0.05, 0.05, 0.025],
        },
        (CELLS, "mindspore"): dict.fromkeys(DECAYS, HALVED),
        (BY_HAND, "torch"): {**dict.fromkeys(DECAYS, HALVED), "cosine": OTHER},
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


def judged(row: int, change: Callable[[World], None] = unchanged) -> Ruled:
    """The ruling on a row in WORLD, after ``change`` has been at it."""
    return judge(TOPIC.claims[row], WORLD, change)


def exported_by_mindspore(*names: str) -> Callable[[World], None]:
    """Sets the schedulers that MindSpore has."""
    return put(EXPORTED, ["mindspore"], "hand", value={key: {} for key in names})


def cyclic_alone_parts_by(share: float) -> Callable[[World], None]:
    """CyclicLR is all that MindSpore has, so far from PyTorch's as a share of the greatest rate."""

    def change(world: World) -> None:
        exported_by_mindspore("CyclicLR")(world)
        rates = [*RATES[:-1], RATES[-1] + share * max(RATES)]
        world[UNMATCHED, "mindspore"][UNMATCHED_FAMILIES["CyclicLR"].name] = rates

    return change


def listing(rates: Any) -> Callable[[World], None]:
    """Sets what piecewise_constant_lr lists."""
    return put(LISTS, ["mindspore"], "piecewise constant", value=rates)


def steps_refused(world: World) -> None:
    exported_by_mindspore("CyclicLR")(world)
    world[UNMATCHED, "mindspore"][UNMATCHED_FAMILIES["CyclicLR"].name] = UNKNOWN


def test_what_is_there_and_what_is_not_is_told_with_what_to_do() -> None:
    ruling = judged(63)
    assert ruling.verdict == "outdated"
    assert ruling.evidence == (
        "piecewise_constant_lr gives the rates of: StepLR, MultiStepLR;"
        " in MindSpore, with PyTorch's rates over 8 steps: CosineAnnealingWarmRestarts, CyclicLR,"
        " ReduceLROnPlateau, LambdaLR, MultiplicativeLR; not in MindSpore: OneCycleLR"
    )


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
    change: Callable[[World], None], verdict: str, evidence: str
) -> None:
    ruling = judged(63, change)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def test_a_list_of_rates_is_advised_only_for_what_is_missing() -> None:
    assert "list of rates" not in judged(63, exported_by_mindspore(*UNMATCHED_NAMES)).advice
    assert "of OneCycleLR make a list of rates" in judged(63).advice


def told(kind: str, value: Any) -> Callable[[World], None]:
    """Sets what get_lr_parameter tells of one kind of rate."""
    return put(GROUP_RATES, ["mindspore"], "get_lr_parameter", kind, value=value)


def gone(world: World) -> None:
    by_kind = world[GROUP_RATES, "mindspore"]["get_lr_parameter"]
    by_kind.update(dict.fromkeys(by_kind, UNKNOWN))


def by_group(place: str, value: Any) -> Callable[[World], None]:
    """Sets the rates that param_groups of one module tells."""
    return put(GROUP_RATES, ["mindspore"], "param_groups", place, value=value)


@pytest.mark.row(65)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "holds_with_changes", "get_lr() the current one"),
        (by_group("experimental", UNKNOWN), "holds", "The statement can be relied on."),
        (by_group("experimental", [0.1, 0.1]), "holds", "The statement can be relied on."),
        (by_group("experimental", [0.01, 0.1]), "holds", "The statement can be relied on."),
        (by_group("nn", [0.1, 0.01]), "outdated", "the evidence has what is true now"),
        (gone, "outdated", "the evidence has what is true now"),
        (
            told("Cell", [{"kind": "Parameter", "shape": []}]),
            "does_not_hold",
            "the evidence has what was measured",
        ),
        (
            told("list", [{"kind": "Parameter", "shape": []}]),
            "does_not_hold",
            "the evidence has what was measured",
        ),
        (told("number", UNKNOWN), "does_not_hold", "the evidence has what was measured"),
        (told("number", []), "does_not_hold", "the evidence has what was measured"),
        (
            put(GROUP_RATES, ["torch"], "get_last_lr", value=[0.09]),
            "does_not_hold",
            "the evidence has what was measured",
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
    assert "where the rate is a number: Parameter of shape () (MindSpore);" in evidence
    assert "where the rate is a list: Parameter of shape (3,) (MindSpore);" in evidence
    assert "where the rate is a Cell: Cell (MindSpore);" in evidence
    assert "get_lr() after a step where the rate is a list: [0.09, 0.01] (MindSpore)" in evidence
    assert "AttributeError: no such attribute (mindspore.nn)" in evidence


def in_torch(**rates: Any) -> Callable[[World], None]:
    """Sets the rates of some of PyTorch's schedulers; spaces of a family's name are underlines."""

    def change(world: World) -> None:
        for family, rates_of_family in rates.items():
            world[BY_HAND, "torch"][family.replace("_", " ")] = rates_of_family

    return change


NONE_FOR_THE_OTHERS = {"natural_exponential": OTHER, "inverse": OTHER, "polynomial": OTHER}


@pytest.mark.row(56)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "outdated", "ExponentialLR(gamma=e^(-rate)) for natural exponential"),
        (in_torch(**NONE_FOR_THE_OTHERS), "holds_with_changes", "end the cosine before step 2"),
        (
            in_torch(**NONE_FOR_THE_OTHERS, cosine=HALVED),
            "holds",
            "Use ExponentialLR for exponential, CosineAnnealingLR for cosine; end the natural",
        ),
        (in_torch(exponential=OTHER), "does_not_hold", "the evidence has what was measured"),
        (in_torch(exponential=UNKNOWN), "does_not_hold", "the evidence has what was measured"),
    ],
)
def test_the_verdict_on_decays_follows_which_rates_agree(
    change: Callable[[World], None], verdict: str, advice: str
) -> None:
    ruling = judged(56, change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice
    assert ruling.advice.endswith(".")


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


@pytest.mark.row(54)
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (unchanged, "holds_with_changes"),
        (put(PIECEWISE, ["mindspore"], "deprecated", value=""), "holds"),
        (put(PIECEWISE, ["mindspore"], "type", value="tuple"), "does_not_hold"),
        (put(PIECEWISE, ["mindspore"], "rates", 2, value=0.1), "does_not_hold"),
        (put(PIECEWISE, ["mindspore"], "rates", value=UNKNOWN), "outdated"),
    ],
)
def test_the_verdict_on_the_piecewise_rates_follows_what_the_function_returns(
    change: Callable[[World], None], verdict: str
) -> None:
    ruling = judged(54, change)
    assert ruling.verdict == verdict
    # One factor for all steps cannot give these rates: they are halved, and then divided by five.
    assert "MultiStepLR" not in ruling.advice
