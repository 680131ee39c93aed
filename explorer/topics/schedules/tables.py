"""The tables of the schedules: counterparts, rates used, exports, defaults, settings."""

import math
from collections.abc import Iterator
from typing import Any

from explorer.model.study import Cell, Table
from explorer.text.messages import brief
from explorer.topics.attempts import said
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.question import PARTIES
from explorer.topics.schedules.counterparts import FAMILIES
from explorer.topics.schedules.family import FORM_LABELS, Family, call
from explorer.topics.schedules.questions import TOPIC, USED
from explorer.topics.schedules.readings import FamilyComparison, compare_all, exports, used_rates


@TOPIC.table()
def counterparts(evidence: Evidence) -> Iterator[Table]:
    """One row a family: what stands for it in each framework, and how far the rates are apart."""
    rows: list[tuple[Cell, ...]] = []
    for comparison in compare_all(evidence):
        family = comparison.family
        by_itself = [name for name in map(family.schedule_name, ("list", "cell")) if name]
        difference = comparison.difference
        # Sequences of different lengths are infinitely far apart, which JSON cannot hold.
        if difference is not None and not math.isfinite(difference):
            difference = None
        rows.append(
            (
                family.name,
                ", ".join(by_itself) or EMPTY,
                family.schedule_name("hand") or EMPTY,
                family.schedule_name("torch") or EMPTY,
                difference,
                comparison.first_different_step,
                _verdict(comparison),
            )
        )
    notes = ["The greatest difference is a share of the greatest rate; float32 rounds at 1e-7."]
    for name, failure in sorted(evidence.failures.items()):
        notes.append(f"{name}: {brief(failure.message)}.")
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
    # A refusal explains why there is nothing to compare, so it comes before the rest.
    if comparison.refused:
        labels = [FORM_LABELS[form] for form in sorted(comparison.refused)]
        return f"refused: {', '.join(labels)}"
    return "PyTorch alone" if "torch" in comparison.rates else "not compared"


@TOPIC.table()
def rates_used(evidence: Evidence) -> Iterator[Table]:
    """The rate that each update used, by optimizer and by who advances the schedule."""
    cells_by_way: dict[tuple[str, str], list[Cell]] = {}
    for party, ways in evidence[USED].items():
        framework = PARTIES[party].label
        for way, figure in ways.items():
            rates = used_rates(figure)
            cells_by_way[framework, way] = [*rates] if rates else [said(figure)]
            # Only PyTorch's figures have what the scheduler itself says of its rate.
            if isinstance(figure, dict) and "said" in figure:
                after = f"{way}: get_last_lr() after it"
                cells_by_way[framework, after] = [*figure["said"]]

    # A row with a message, or with fewer updates, is filled up with empty cells.
    steps = max(map(len, cells_by_way.values()), default=1)
    rows: list[tuple[Cell, ...]] = []
    for names, cells in cells_by_way.items():
        missing = [None] * (steps - len(cells))
        rows.append((*names, *cells, *missing))
    yield Table(
        title="Who moves the schedule on: the rates that the updates used",
        columns=("framework", "way", *(f"update {number + 1}" for number in range(steps))),
        rows=tuple(rows),
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
        note="Found by looking into the modules, so that a new version's schedules appear by"
        " themselves.",
    )


def _counterparts(form: str, name: str) -> list[str]:
    """The names of one schedule's counterparts in the other framework, over all families; sorted."""
    names = set()
    for family in FAMILIES:
        if family.schedule_name(form) != name:
            continue
        counterpart = _counterpart(family, form)
        if counterpart is not None:
            names.add(counterpart)
    return sorted(names)


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
    """Parameters that differ between two schedulers of one name.

    Either one framework alone has the parameter, or it starts from another default.
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
        # Not FORM_LABELS: here the label must tell how the schedule is called, too.
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
