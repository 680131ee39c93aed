"""What the schedules' sequences come to when they are laid side by side: pure functions of figures."""

import math
from typing import Any

import msgspec

from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.families import FAMILIES, Family, Form

SAME = 1e-6
"""Rates this near to each other, as a share of the greatest, are the same: MindSpore computes them
in float32 (2.10.0).
"""

FORMS = {
    "list": "schedules.lists.mindspore",
    "cell": "schedules.cells.mindspore",
    "hand": "schedules.by_hand.mindspore",
}
"""Where the sequences of each of MindSpore's forms come from."""

OF_TORCH = "schedules.by_hand.torch"
Rates = list[float]
Inventory = dict[str, dict[str, dict[str, Any]]]
"""Exported schedules: by form, then by name, with what is known of each."""

NAMES = ("schedules.names.mindspore", "schedules.names.torch")


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One family measured: the rates of each form, their greatest difference from PyTorch's, and
    the first step that differs.

    ``difference`` is a share of the greatest rate; None where there is nothing to compare.
    ``refused`` holds the messages.
    """

    family: Family
    rates: dict[str, Rates]
    refused: dict[str, str]
    difference: float | None
    parts: int | None

    @property
    def same(self) -> bool:
        """Whether MindSpore and PyTorch both have it and give the same rates at every step."""
        return self.difference is not None and self.difference <= SAME


def pair(family: Family, evidence: Evidence) -> Pair:
    """What was measured of one family."""
    found: dict[str, Any] = {}
    for form, name in {**FORMS, "torch": OF_TORCH}.items():
        if family.name in evidence.get(name, {}):
            found[form] = evidence[name][family.name]
    rates = {form: each for form, each in found.items() if not raised(each)}
    refused = {form: said(each) for form, each in found.items() if raised(each)}
    there = rates.get("torch")
    others = [each for form, each in rates.items() if form != "torch"]
    if there is None or not others:
        return Pair(family=family, rates=rates, refused=refused, difference=None, parts=None)
    apart = [max(abs(other[step] - there[step]) for other in others) for step in range(len(there))]
    top = max(map(abs, there)) or 1.0
    parts = next((step for step, each in enumerate(apart) if each / top > SAME), None)
    worst = max(greatest_difference(other, there) for other in others) / top
    return Pair(family=family, rates=rates, refused=refused, difference=worst, parts=parts)


def pairs(evidence: Evidence, families: tuple[Family, ...] = FAMILIES) -> tuple[Pair, ...]:
    """Every family, measured or not."""
    return tuple(pair(family, evidence) for family in families)


def inventory(evidence: Evidence) -> Inventory:
    """What the frameworks' modules export."""
    return {form: table for name in NAMES for form, table in evidence.get(name, {}).items()}


def uses(form: Form | None) -> set[str]:
    """The schedules that a form uses: its own, and those inside it."""
    if form is None:
        return set()
    name, settings = form
    return {name}.union(*(uses(tuple(inner)) for inner in settings.get("schedulers", ())))


def written(form: Form | None) -> str:
    """A form as it is typed: "ExponentialLR(gamma=0.9)"."""
    if form is None:
        return "-"
    name, settings = form
    return f"{name}({', '.join(f'{key}={_value(value)}' for key, value in settings.items())})"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return f"[{', '.join(written(each) for each in value)}]"
    return str(value)


def own(pair: Pair) -> bool:
    """Whether PyTorch has a schedule of this shape of its own, rather than a function that is
    written for LambdaLR.
    """
    return pair.family.torch is not None and "LambdaLR" not in uses(pair.family.torch)


def finite(value: float | None) -> float | None:
    """A difference that a table can hold."""
    return value if value is not None and math.isfinite(value) else None
