"""The tables of the study of schedules: counterparts, settings, what is exported, rates used,
defaults that differ.
"""

from typing import Any

from explorer.model.study import Cell, Table
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.comparing import Inventory, Pair, finite, own, uses, written
from explorer.topics.schedules.families import FAMILIES, Family

KINDS = {
    "list": "MindSpore function",
    "cell": "MindSpore Cell",
    "hand": "MindSpore experimental scheduler",
    "callback": "MindSpore callback of Model.train",
    "torch": "PyTorch scheduler",
}
"""What each form is called."""

USED = {"MindSpore": "schedules.used.mindspore", "PyTorch": "schedules.used.torch"}
"""Which measurement says what rates the updates used."""


def families(compared: tuple[Pair, ...], evidence: Evidence) -> Table:
    """One row a family: what stands for it in each framework, and how far the rates are apart."""
    missing = [f"{name}: {failure.message}" for name, failure in sorted(evidence.failures.items())]
    return Table(
        title="Schedules and their counterparts",
        columns=(
            "family",
            "MindSpore by itself",
            "MindSpore stepped",
            "PyTorch stepped",
            "difference",
            "parts at",
            "verdict",
        ),
        rows=tuple(
            (
                each.family.name,
                ", ".join(form[0] for form in (each.family.list, each.family.cell) if form) or "-",
                each.family.hand[0] if each.family.hand else "-",
                each.family.torch[0] if each.family.torch else "-",
                finite(each.difference),
                each.parts,
                _verdict(each),
            )
            for each in compared
        ),
        note=" ".join(
            [
                "The greatest difference is a share of the greatest rate; float32 rounds at 1e-7.",
                *missing,
            ]
        ),
    )


def _verdict(each: Pair) -> str:
    if each.same:
        return "same" if own(each) else "same, by a function of your own"
    if each.difference is not None:
        return "parts"
    if each.refused:
        return f"refused: {', '.join(KINDS[form] for form in sorted(each.refused))}"
    return "PyTorch alone" if "torch" in each.rates else "not compared"


def settings(compared: tuple[Pair, ...]) -> Table:
    """The calls that should give one sequence, as they are typed."""
    rows: list[tuple[Cell, ...]] = []
    for each in compared:
        family = each.family
        stepped = (
            {"both, stepped by hand": family.hand}
            if family.hand == family.torch
            else {"PyTorch, stepped by hand": family.torch}
        )
        for where, form in {
            "MindSpore list": family.list,
            "MindSpore Cell": family.cell,
            **stepped,
        }.items():
            if form:
                rows.append((family.name, family.formula, where, written(form)))
    return Table(
        title="The settings that were compared",
        columns=("family", "rate at step t", "where", "call"),
        rows=tuple(rows),
        note="lr_lambda names a plain function of the step; a rate of 0.1 is the optimizer's own.",
    )


def inventory(there: Inventory) -> Table:
    """Every exported schedule with what stands for it in the other framework."""
    rows: list[tuple[Cell, ...]] = []
    for form, table in there.items():
        for name, each in table.items():
            counterparts = sorted(
                {other for family in FAMILIES if (other := _counterpart(family, form, name))}
            )
            rows.append(
                (
                    KINDS[form],
                    name,
                    ", ".join(counterparts) or "none",
                    "yes" if each.get("deprecated") else "no",
                )
            )
    return Table(
        title="Every schedule that the installed frameworks export",
        columns=("where", "schedule", "compared with", "documented as ending"),
        rows=tuple(rows),
        note="Found by looking into the modules, so that a new version's schedules appear by themselves.",
    )


def _counterpart(family: Family, form: str, name: str) -> str | None:
    mine = getattr(family, form, None)
    other = (family.hand or family.cell or family.list) if form == "torch" else family.torch
    return other[0] if mine and other and mine[0] == name else None


def unpaired(there: Inventory) -> list[str]:
    """Exported schedules, callbacks apart, that no family uses: a new version may have brought
    them.
    """
    return sorted(
        f"{KINDS[form]} {name}"
        for form, table in there.items()
        if form != "callback"
        for name in table
        if not any(name in uses(getattr(family, form, None)) for family in FAMILIES)
    )


def used(evidence: Evidence) -> Table:
    """The rate that each update used, by who moves the schedule on."""
    rows: list[tuple[str, str, tuple[Cell, ...]]] = []
    for framework, name in USED.items():
        for way, each in evidence.get(name, {}).items():
            rates = used_rates(each)
            rows.append((framework, way, tuple(rates) if rates else (said(each),)))
            if isinstance(each, dict) and "said" in each:
                rows.append((framework, f"{way}: get_last_lr() after it", tuple(each["said"])))
    steps = max((len(rates) for _, _, rates in rows), default=1)
    return Table(
        title="Who moves the schedule on: the rates that the updates used",
        columns=("framework", "way", *(f"update {number + 1}" for number in range(steps))),
        rows=tuple(
            (framework, way, *rates, *[None] * (steps - len(rates)))
            for framework, way, rates in rows
        ),
        note="The gradient is 1, so that the weight moves by the rate.",
    )


def used_rates(figure: Any) -> list[float] | None:
    """The rates that the updates used; None where the attempt raised."""
    if raised(figure):
        return None
    rates: list[float] = figure["used"] if isinstance(figure, dict) else figure
    return rates


def defaults(there: Inventory) -> Table:
    """Parameters of schedulers of one name that only one framework has, or that start from another
    default.
    """
    rows: list[tuple[Cell, ...]] = []
    ours, theirs = there.get("hand", {}), there.get("torch", {})
    shared = sorted(set(ours) & set(theirs))
    for name in shared:
        left, right = ours[name]["defaults"], theirs[name]["defaults"]
        differ = [
            key
            for key in sorted(set(left) | set(right))
            if _default(left, key) != _default(right, key)
        ]
        rows += [(name, key, _default(left, key), _default(right, key)) for key in differ]
    return Table(
        title="Schedulers of one name: parameters that differ",
        columns=("scheduler", "parameter", "MindSpore", "PyTorch"),
        rows=tuple(rows),
        note=f"{len(shared)} schedulers have one name in both frameworks; what is not listed has the same default in both.",
    )


def _default(table: dict[str, Any], key: str) -> str:
    return (
        f"{table[key]:g}"
        if isinstance(table.get(key), (int, float))
        else str(table.get(key, "has none"))
    )
