"""The rates that schedules gave: a family's forms against PyTorch's, and those that updates used."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.counterparts import FAMILIES, Family, names_in
from explorer.topics.schedules.questions import BY_HAND, CELLS, LISTS

SAME = 1e-6
"""Rates this near to each other, as a share of the greatest, are the same: MindSpore computes them
in float32 (2.10.0).
"""

Rates = list[float]

MEASURED_BY = {
    "list": (LISTS, "mindspore"),
    "cell": (CELLS, "mindspore"),
    "hand": (BY_HAND, "mindspore"),
    "torch": (BY_HAND, "torch"),
}
"""The question and the party that give the rates of each form."""


class FamilyComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One family measured: the rates of each form, their greatest difference from PyTorch's, and
    the first step that differs.

    ``difference`` is a share of the greatest rate; None where there is nothing to compare.
    ``refused`` holds the messages.
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
    """Every family, measured or not."""
    figures = {}
    for form, (question, party) in MEASURED_BY.items():
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
    difference = max(greatest_difference(other, reference) for other in others) / scale
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
    rates: Rates = figure["used"] if isinstance(figure, dict) else figure
    return rates
