"""The tables of the schedules: counterparts, rates used, exports, defaults, settings."""

import math
from collections.abc import Iterator
from typing import Any

from explorer.model.message import Text, message
from explorer.model.study import Cell, Table
from explorer.topics.attempts import said
from explorer.topics.cells import NONE, messages, sentences, why, yes_or_no
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.question import PARTIES
from explorer.topics.schedules.comparison import (
    FamilyComparison,
    compare_all,
    exports,
    used_rates,
    way_text,
)
from explorer.topics.schedules.counterparts import FAMILIES, Family, call, form_label
from explorer.topics.schedules.questions import TOPIC, USED

Row = tuple[Cell | Text, ...]


@TOPIC.table()
def counterparts(evidence: Evidence) -> Iterator[Table[Text]]:
    """One row a family: what stands for it in each framework, and how far the rates are apart."""
    rows: list[Row] = []
    for comparison in compare_all(evidence):
        family = comparison.family
        by_itself = filter(None, map(family.schedule_name, ("list", "cell")))
        difference = comparison.difference
        # Sequences of different lengths are infinitely far apart, which JSON cannot hold.
        if difference is not None and not math.isfinite(difference):
            difference = None
        rows.append(
            (
                family.label,
                ", ".join(by_itself) or EMPTY,
                family.schedule_name("hand") or EMPTY,
                family.schedule_name("torch") or EMPTY,
                difference,
                comparison.first_different_step,
                _verdict(comparison),
            )
        )
    notes: list[Text] = [message("schedules.counterparts_note")]
    for name, failure in sorted(evidence.failures.items()):
        notes.append(message("cells.missing", who=name, why=why(failure)))
    yield Table[Text](
        title=message("schedules.counterparts"),
        columns=messages(
            "schedules",
            "family",
            "by_itself",
            "stepped",
            "torch_stepped",
            "difference",
            "parts_at",
            "verdict",
        ),
        rows=tuple(rows),
        note=sentences(*notes),
    )


def _verdict(comparison: FamilyComparison) -> Text:
    if comparison.same:
        own = comparison.has_own_scheduler
        return message("schedules.same" if own else "schedules.same_by_function")
    if comparison.difference is not None:
        return message("schedules.parts")
    # A refusal explains why there is nothing to compare, so it comes before the rest.
    if comparison.refused:
        forms = tuple(map(form_label, sorted(comparison.refused)))
        return message("schedules.refused", forms=forms)
    if "torch" in comparison.rates:
        return message("schedules.torch_alone")
    return message("schedules.not_compared")


@TOPIC.table()
def rates_used(evidence: Evidence) -> Iterator[Table[Text]]:
    """The rate that each update used, by optimizer and by who advances the schedule."""
    rows: list[Row] = []
    for party, ways in evidence[USED].items():
        framework = PARTIES[party].label
        for way, figure in ways.items():
            rates = used_rates(figure)
            cells: list[Cell] = [*rates] if rates else [said(figure)]
            rows.append((framework, way_text(way), *cells))
            # Only PyTorch's figures have what the scheduler itself says of its rate.
            if isinstance(figure, dict) and "said" in figure:
                after = message("schedules.after", way=way_text(way))
                rows.append((framework, after, *figure["said"]))

    # A row with a message, or with fewer updates, is filled up with empty cells.
    width = max(map(len, rows), default=3)
    filled: list[Row] = []
    for row in rows:
        missing = [None] * (width - len(row))
        filled.append((*row, *missing))
    updates = [message("schedules.update", number=number + 1) for number in range(width - 2)]
    yield Table[Text](
        title=message("schedules.rates_used"),
        columns=(*messages("schedules", "framework", "way"), *updates),
        rows=tuple(filled),
        note=message("schedules.rates_used_note"),
    )


@TOPIC.table()
def exported_schedules(evidence: Evidence) -> Iterator[Table[Text]]:
    """Every exported schedule with what stands for it in the other framework."""
    rows: list[Row] = []
    for form, schedules in exports(evidence).items():
        for name, description in schedules.items():
            others = ", ".join(_counterparts(form, name)) or NONE
            ending = yes_or_no(bool(description.get("deprecated")))
            rows.append((form_label(form), name, others, ending))
    yield Table[Text](
        title=message("schedules.exports"),
        columns=messages("schedules", "where", "schedule", "compared_with", "ending"),
        rows=tuple(rows),
        note=message("schedules.exports_note"),
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
def different_parameters(evidence: Evidence) -> Iterator[Table[Text]]:
    """Parameters that differ between two schedulers of one name.

    Either one framework alone has the parameter, or it starts from another default.
    """
    exported = exports(evidence)
    mindspore, torch = exported.get("hand", {}), exported.get("torch", {})
    shared = sorted(set(mindspore) & set(torch))
    rows: list[Row] = []
    for name in shared:
        defaults, torch_defaults = mindspore[name]["defaults"], torch[name]["defaults"]
        for parameter in sorted(set(defaults) | set(torch_defaults)):
            values = (_default(defaults, parameter), _default(torch_defaults, parameter))
            if values[0] != values[1]:
                rows.append((name, parameter, *values))
    yield Table[Text](
        title=message("schedules.parameters"),
        columns=(*messages("schedules", "scheduler", "parameter"), "MindSpore", "PyTorch"),
        rows=tuple(rows),
        note=message("schedules.parameters_note", n=len(shared)),
    )


def _default(defaults: dict[str, Any], parameter: str) -> Text:
    if parameter not in defaults:
        return message("schedules.no_default")
    value = defaults[parameter]
    # 0 and 0.0, or 1 and True, are the same default.
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


@TOPIC.table()
def compared_settings(evidence: Evidence) -> Iterator[Table[Text]]:
    """The calls that should give one sequence, as they are typed."""
    rows: list[Row] = []
    for family in FAMILIES:
        for form, schedule in family.schedules.items():
            place = form
            # Where both take the same call, it is shown once.
            if family.schedules.get("hand") == family.schedules["torch"]:
                if form == "hand":
                    continue
                place = "both" if form == "torch" else form
            where = message(f"schedules.call {place}")
            rows.append((family.label, family.rate, where, call(schedule)))
    yield Table[Text](
        title=message("schedules.settings"),
        columns=messages("schedules", "family", "rate_at_step", "where", "call"),
        rows=tuple(rows),
        note=message("schedules.settings_note"),
    )
