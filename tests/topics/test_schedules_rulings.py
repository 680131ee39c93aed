"""Verdicts on schedules: those of the recorded figures after a change."""

from typing import Any

from explorer.topics.schedules.comparison import SAME
from explorer.topics.schedules.questions import (
    BY_HAND,
    CELLS,
    EXPORTED,
    GROUP_RATES,
    LISTS,
    PIECEWISE,
    UNMATCHED,
    UNMATCHED_FAMILIES,
    UNMATCHED_NAMES,
    USED,
)
from tests.support.rulings import USUAL, Case, following
from tests.support.topics import Change, World, borrowed, copied, edited, put, together, unchanged

UNKNOWN = {"raised": "AttributeError", "message": "no such attribute"}

OTHER = [0.1, 0.05, 0.05]
"""Rates that no decay has."""


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


steps_refused = together(
    exported_by_mindspore("CyclicLR"),
    put(UNMATCHED, ["mindspore"], UNMATCHED_FAMILIES["CyclicLR"].name, value=UNKNOWN),
)

OTHER_RATES = "other rates than PyTorch's: CyclicLR;"
ALL_EXPORTED = exported_by_mindspore(*UNMATCHED_NAMES)

RULINGS = [
    Case(
        63, exported_by_mindspore(), "holds", "", f"not in MindSpore: {', '.join(UNMATCHED_NAMES)}"
    ),
    # A list of rates is advised only for what is missing.
    Case(63, ALL_EXPORTED, "outdated", "", "not compared: OneCycleLR", unsaid="list of rates"),
    Case(63, unchanged, "outdated", "of OneCycleLR make a list of rates"),
    Case(
        63,
        exported_by_mindspore("OneCycleLR"),
        "holds_with_changes",
        "",
        "not compared: OneCycleLR",
    ),
    Case(63, cyclic_alone_parts_by(0.9 * SAME), "outdated", "", "over 8 steps: CyclicLR;"),
    Case(63, cyclic_alone_parts_by(1.1 * SAME), "holds_with_changes", "", OTHER_RATES),
    Case(63, steps_refused, "holds_with_changes", "", "not compared: CyclicLR;"),
    Case(
        63,
        put(EXPORTED, ["torch"], "torch", value={"CyclicLR": {}}),
        "outdated",
        "",
        "not in PyTorch either: CosineAnnealingWarmRestarts, OneCycleLR",
    ),
    *(
        Case(63, listing(rates), "does_not_hold", "", "other rates than: StepLR, MultiStepLR")
        for rates in (UNKNOWN, [0.1] * 6 + [0.05] * 6)
    ),
]


def told(kind: str, value: Any) -> Change:
    """Sets what get_lr_parameter tells of one kind of rate."""
    return put(GROUP_RATES, ["mindspore"], "get_lr_parameter", kind, value=value)


gone = edited(
    GROUP_RATES, ["mindspore"], lambda it: it.update(dict.fromkeys(it, UNKNOWN)), "get_lr_parameter"
)


def by_group(place: str, value: Any) -> Change:
    """Sets the rates that param_groups of one module tells."""
    return put(GROUP_RATES, ["mindspore"], "param_groups", place, value=value)


def in_torch(**rates: Any) -> Change:
    """Sets the rates of some of PyTorch's schedulers; spaces of a family's name are underlines."""
    by_family = {family.replace("_", " "): given for family, given in rates.items()}
    return edited(BY_HAND, ["torch"], lambda it: it.update(by_family))


cosine_agrees = borrowed(BY_HAND, "torch", "cosine", of=LISTS, by="mindspore")

one_is_gone = together(
    *(put(question, ["mindspore"], "exponential", value=UNKNOWN) for question in (LISTS, CELLS))
)

NONE_FOR_THE_OTHERS = {"natural_exponential": OTHER, "inverse": OTHER, "polynomial": OTHER}

without_other_schedulers = in_torch(natural_exponential=OTHER, polynomial=OTHER)
OWN_FUNCTION = "inverse decay over 20 steps: the same rates, with a function of your own in PyTorch"

torch_moves_by_itself = copied(USED, ["torch"], "SGD, never stepped", of="SGD, stepped by hand")
experimental_moves_by_itself = copied(
    USED, ["mindspore"], "experimental SGD, never stepped", of="experimental SGD, stepped by hand"
)


RULINGS += [
    # One factor for all steps is not advised for rates that are halved and then divided.
    Case(54, unchanged, "holds_with_changes", unsaid="MultiStepLR"),
    Case(54, put(PIECEWISE, ["mindspore"], "deprecated", value=""), "holds"),
    Case(54, put(PIECEWISE, ["mindspore"], "type", value="tuple"), "does_not_hold"),
    Case(54, put(PIECEWISE, ["mindspore"], "rates", 2, value=0.1), "does_not_hold"),
    Case(54, put(PIECEWISE, ["mindspore"], "rates", value=UNKNOWN), "outdated"),
    Case(55, torch_moves_by_itself, "does_not_hold"),
    Case(55, put(USED, ["mindspore"], "nn.SGD with a Cell", value=[0.1] * 5), "does_not_hold"),
    Case(55, put(USED, ["torch"], "SGD, stepped by hand", "said", 0, value=0.1), "does_not_hold"),
    Case(55, experimental_moves_by_itself, "holds"),
    Case(56, unchanged, "outdated", "ExponentialLR(gamma=e^(-rate)) for natural exponential"),
    Case(
        56, in_torch(**NONE_FOR_THE_OTHERS), "holds_with_changes", "end the cosine before step 11"
    ),
    Case(
        56,
        together(in_torch(**NONE_FOR_THE_OTHERS), cosine_agrees),
        "holds",
        "Use ExponentialLR for exponential, CosineAnnealingLR for cosine; end the natural",
    ),
    Case(56, in_torch(exponential=OTHER), "does_not_hold", USUAL),
    Case(56, in_torch(exponential=UNKNOWN), "does_not_hold", USUAL),
    Case(56, one_is_gone, "does_not_hold", USUAL),
    Case(65, unchanged, "holds_with_changes", "get_lr() the current one"),
    Case(65, by_group("experimental", UNKNOWN), "holds", USUAL),
    Case(65, by_group("experimental", [0.1, 0.1]), "holds", USUAL),
    Case(65, by_group("experimental", [0.01, 0.1]), "holds", USUAL),
    Case(65, by_group("nn", [0.1, 0.01]), "outdated", USUAL),
    Case(65, gone, "outdated", USUAL),
    Case(65, told("Cell", [{"kind": "Parameter", "shape": []}]), "does_not_hold", USUAL),
    Case(65, told("list", [{"kind": "Parameter", "shape": []}]), "does_not_hold", USUAL),
    Case(65, told("number", UNKNOWN), "does_not_hold", USUAL),
    Case(65, told("number", []), "does_not_hold", USUAL),
    Case(65, put(GROUP_RATES, ["torch"], "get_last_lr", value=[0.09]), "does_not_hold", USUAL),
    Case(
        65,
        put(GROUP_RATES, ["mindspore"], "get_lr", "list", value=[0.1, 0.01]),
        "holds_with_changes",
        "the steps must be counted. With mindspore.experimental.optim read",
    ),
    Case(
        65,
        put(GROUP_RATES, ["mindspore"], "get_lr", "Cell", value=UNKNOWN),
        "holds_with_changes",
        "the steps must be counted",
    ),
    # A function of one's own is no counterpart, and is advised where it was seen to agree.
    Case(56, without_other_schedulers, "holds_with_changes", "LambdaLR for inverse", OWN_FUNCTION),
    Case(56, in_torch(inverse=OTHER), "outdated", unsaid="LambdaLR"),
]

test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
