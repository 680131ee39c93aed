"""The tables of the schedules: counterparts, rates used, what is exported, defaults that differ,
settings.
"""

import math
from collections.abc import Iterator
from typing import Any

from explorer.model.study import Cell, Table
from explorer.topics.attempts import said
from explorer.topics.cells import EMPTY
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.schedules.counterparts import FAMILIES, FORM_LABELS, Family, call
from explorer.topics.schedules.exports import exports
from explorer.topics.schedules.questions import TOPIC, USED
from explorer.topics.schedules.rates import FamilyComparison, compare_all, used_rates


@TOPIC.table()
def counterparts(evidence: Evidence) -> Iterator[Table]:
    """One row a family: what stands for it in each framework, and how far the rates are apart."""
    rows: list[tuple[Cell, ...]] = []
    for comparison in compare_all(evidence):
        schedule_name = comparison.family.schedule_name
        by_itself = [name for name in (schedule_name("list"), schedule_name("cell")) if name]
        difference = comparison.difference
        rows.append(
            (
                comparison.family.name,
                ", ".join(by_itself) or EMPTY,
                schedule_name("hand") or EMPTY,
                schedule_name("torch") or EMPTY,
                # Sequences of different lengths are infinitely far apart, which JSON cannot hold.
                difference if difference is None or math.isfinite(difference) else None,
                comparison.first_different_step,
                _verdict(comparison),
            )
        )
    notes = ["The greatest difference is a share of the greatest rate; float32 rounds at 1e-7."]
    for name, failure in sorted(evidence.failures.items()):
        notes.append(f"{name}: {failure.message}")
    yield Table(
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
        rows=tuple(rows),
        note=" ".join(notes),
    )


def _verdict(comparison: FamilyComparison) -> str:
    if comparison.same:
        return "same" if comparison.has_own_scheduler else "same, by a function of your own"
    if comparison.difference is not None:
        return "parts"
    if comparison.refused:
        labels = [FORM_LABELS[form] for form in sorted(comparison.refused)]
        return f"refused: {', '.join(labels)}"
    return "PyTorch alone" if "torch" in comparison.rates else "not compared"


@TOPIC.table()
def rates_used(evidence: Evidence) -> Iterator[Table]:
    """The rate that each update used, by optimizer and by who advances the schedule."""
    rows: list[tuple[str, str, list[Cell]]] = []
    for party, ways in evidence[USED].items():
        framework = PARTIES[party].label
        for way, figure in ways.items():
            rates = used_rates(figure)
            rows.append((framework, way, [*rates] if rates else [said(figure)]))
            if isinstance(figure, dict) and "said" in figure:
                rows.append((framework, f"{way}: get_last_lr() after it", [*figure["said"]]))
    # A row with a message, or with fewer updates, is filled up with empty cells.
    steps = max((len(cells) for _, _, cells in rows), default=1)
    padded: list[tuple[Cell, ...]] = []
    for framework, way, cells in rows:
        missing = [None] * (steps - len(cells))
        padded.append((framework, way, *cells, *missing))
    yield Table(
        title="Who moves the schedule on: the rates that the updates used",
        columns=("framework", "way", *(f"update {number + 1}" for number in range(steps))),
        rows=tuple(padded),
        note="The gradient is 1, so that the weight moves by the rate.",
    )


@TOPIC.table()
def exported_schedules(evidence: Evidence) -> Iterator[Table]:
    """Every exported schedule with what stands for it in the other framework."""
    rows: list[tuple[Cell, ...]] = []
    for form, schedules in exports(evidence).items():
        for name, description in schedules.items():
            others = ", ".join(_counterparts(form, name)) or "none"
            ending = "yes" if description.get("deprecated") else "no"
            rows.append((FORM_LABELS[form], name, others, ending))
    yield Table(
        title="Every schedule that the installed frameworks export",
        columns=("where", "schedule", "compared with", "documented as ending"),
        rows=tuple(rows),
        note="Found by looking into the modules, so that a new version's schedules appear by themselves.",
    )


def _counterparts(form: str, name: str) -> list[str]:
    """What the other framework has for one schedule, over all families; sorted."""
    names = set()
    for family in FAMILIES:
        if family.schedule_name(form) == name:
            names.add(_counterpart(family, form))
    return sorted(other for other in names if other)


def _counterpart(family: Family, form: str) -> str | None:
    if form != "torch":
        return family.schedule_name("torch")
    # The form that is most like PyTorch's comes first.
    for mindspore_form in ("hand", "cell", "list"):
        if mindspore_form in family.schedules:
            return family.schedule_name(mindspore_form)
    return None


@TOPIC.table()
def different_parameters(evidence: Evidence) -> Iterator[Table]:
    """Parameters of schedulers of one name that only one framework has, or that start from another
    default.
    """
    exported = exports(evidence)
    mindspore, torch = exported.get("hand", {}), exported.get("torch", {})
    shared = sorted(set(mindspore) & set(torch))
    rows: list[tuple[Cell, ...]] = []
    for name in shared:
        defaults, torch_defaults = mindspore[name]["defaults"], torch[name]["defaults"]
        for parameter in sorted(set(defaults) | set(torch_defaults)):
            values = (_default(defaults, parameter), _default(torch_defaults, parameter))
            if values[0] != values[1]:
                rows.append((name, parameter, *values))
    yield Table(
        title="Schedulers of one name: parameters that differ",
        columns=("scheduler", "parameter", "MindSpore", "PyTorch"),
        rows=tuple(rows),
        note=f"{len(shared)} schedulers have one name in both frameworks;"
        " what is not listed has the same default in both.",
    )


def _default(defaults: dict[str, Any], parameter: str) -> str:
    value = defaults.get(parameter, "has none")
    # 0 and 0.0, or 1 and True, are the same default.
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


@TOPIC.table()
def compared_settings(evidence: Evidence) -> Iterator[Table]:
    """The calls that should give one sequence, as they are typed."""
    rows: list[tuple[Cell, ...]] = []
    for family in FAMILIES:
        schedules = dict(family.schedules)
        labels = {
            "list": "MindSpore list",
            "cell": "MindSpore Cell",
            "hand": "MindSpore, stepped by hand",
            "torch": "PyTorch, stepped by hand",
        }
        # Where both take the same call, it is shown once.
        if schedules.get("hand") == schedules["torch"]:
            del schedules["hand"]
            labels["torch"] = "both, stepped by hand"
        for form, schedule in schedules.items():
            rows.append((family.name, family.formula, labels[form], call(schedule)))
    yield Table(
        title="The settings that were compared",
        columns=("family", "rate at step t", "where", "call"),
        rows=tuple(rows),
        note="lr_lambda names a plain function of the step; a rate of 0.1 is the optimizer's own.",
    )
