"""Schedules compared: the rates of each form of a family, the rates that updates used, exports."""

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import msgspec

from explorer.model.measurement import Figures
from explorer.model.message import Message, Text, message
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.counterparts import FAMILIES, Family, form_label, names_in
from explorer.topics.schedules.questions import BY_HAND, CELLS, EXPORTED, LISTS

SAME = 1e-6
"""Rates this near to each other, as a share of the greatest, are the same.

MindSpore computes them in float32 (2.10.0).
"""

Rates = list[float]

MEASURED_BY = {
    "list": (LISTS, "mindspore"),
    "cell": (CELLS, "mindspore"),
    "hand": (BY_HAND, "mindspore"),
    "torch": (BY_HAND, "torch"),
}
"""The question and the party that give the rates of each form."""

WAYS = (
    "nn.SGD with a list",
    "nn.SGD with a Cell",
    "nn.SGD with a list that is too short",
    "experimental SGD, never stepped",
    "experimental SGD, stepped by hand",
    "SGD, never stepped",
    "SGD, stepped by hand",
)
"""The ways to move a schedule on, by their names in the figures.

Evidence has "torch.optim." before those of PyTorch, which calls its optimizer SGD as MindSpore does.
"""

Exports = dict[str, dict[str, dict[str, Any]]]
"""Exported schedules: by form, then by name, with the defaults and needs of its parameters."""


class Piecewise(msgspec.Struct, frozen=True):
    """What piecewise_constant_lr gives, or raised; and what its documentation says of its end."""

    rates: Any
    deprecated: str
    type: str


class GroupRates(msgspec.Struct, frozen=True):
    """What MindSpore tells of the rates of groups; each is what an attempt gave, or raised.

    By the kind of rate: get_lr_parameter, and get_lr; by place: param_groups.
    """

    get_lr_parameter: dict[str, Any]
    get_lr: dict[str, Any]
    param_groups: dict[str, Any]


class LastRates(msgspec.Struct, frozen=True):
    """What PyTorch's get_last_lr tells of the rates of groups, or raised."""

    get_last_lr: Any


class FamilyComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One family measured: the rates of each form, and how far they are from PyTorch's.

    ``refused`` holds the messages of forms that raised. ``difference`` is the greatest one, as a
    share of the greatest rate, and None where there is nothing to compare; ``first_different_step``
    is None where no step differs.
    """

    family: Family
    rates: dict[str, Rates]
    refused: dict[str, str]
    difference: float | None = None
    first_different_step: int | None = None

    @property
    def same(self) -> bool:
        """Whether MindSpore and PyTorch both have it and give the same rates at every step."""
        return self.difference is not None and self.difference <= SAME

    @property
    def has_own_scheduler(self) -> bool:
        """Whether PyTorch has a schedule of this shape, rather than a function for LambdaLR."""
        schedule = self.family.schedules.get("torch")
        return schedule is not None and "LambdaLR" not in names_in(schedule)


def compare_all(
    evidence: Evidence, families: Sequence[Family] = FAMILIES
) -> tuple[FamilyComparison, ...]:
    """Every family compared, whether it was measured or not."""
    figures = {}
    for form, (question, party) in MEASURED_BY.items():
        # A framework that did not answer has no rates, and what the other has is still told.
        figures[form] = evidence[question].get(party, {})
    return tuple(compare(family, figures) for family in families)


def compare(family: Family, figures: Mapping[str, Figures]) -> FamilyComparison:
    """One family by the figures of each form, which hold rates, or what was raised, by family."""
    rates, refused = {}, {}
    for form, form_figures in figures.items():
        figure = form_figures.get(family.name)
        if raised(figure):
            refused[form] = said(figure)
        elif figure is not None:
            rates[form] = figure

    reference = rates.get("torch")
    others = [other for form, other in rates.items() if form != "torch"]
    if reference is None or not others:
        return FamilyComparison(family=family, rates=rates, refused=refused)
    scale = max(map(abs, reference)) or 1.0  # rates that are 0 throughout have no scale
    difference = max(map(greatest_difference, others, repeat(reference))) / scale
    return FamilyComparison(
        family=family,
        rates=rates,
        refused=refused,
        difference=difference,
        first_different_step=_first_different_step(others, reference, scale),
    )


def _first_different_step(others: list[Rates], reference: Rates, scale: float) -> int | None:
    for step, expected in enumerate(reference):
        if any(abs(other[step] - expected) / scale > SAME for other in others):
            return step
    return None


def used_rates(figure: Any) -> Rates | None:
    """The rates that the updates used; None where the attempt raised."""
    if raised(figure):
        return None
    # PyTorch's figure also has what get_last_lr() said; MindSpore's is the list alone.
    rates: Rates = figure["used"] if isinstance(figure, dict) else figure
    return rates


def exports(evidence: Evidence) -> Exports:
    """What the frameworks' modules export, without the forms of one that was not measured."""
    schedules: Exports = {}
    for figures in evidence[EXPORTED].values():
        schedules.update(figures)  # no form is in both frameworks
    return schedules


def uncompared(exported: Exports) -> list[Message]:
    """Exported schedules that no family uses: a new version may have brought them.

    Callbacks are not counted.
    """
    found: list[Message] = []
    for form, schedules in exported.items():
        # Callbacks belong to Model.train, which PyTorch has no counterpart of.
        if form == "callback":
            continue
        compared = set[str]()
        for family in FAMILIES:
            if form in family.schedules:
                compared |= names_in(family.schedules[form])
        for name in sorted(set(schedules) - compared):
            label = form_label(form)
            found.append(message("schedules.exported", form=label, schedule=name))
    return found


def way_text(way: str) -> Text:
    """Who moves a schedule on, for readers: an optimizer, and how it has the schedule."""
    is_known = way.removeprefix("torch.optim.") in WAYS
    return message(f"schedules.way {way}") if is_known else way
