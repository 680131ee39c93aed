"""Findings and charts of schedules: rates that agree, counterparts, who advances a schedule."""

import math
from collections.abc import Iterator
from typing import Any

from explorer.model.message import Message, Text, message
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised, said, said_briefly
from explorer.topics.cells import NONE, messages, sentences, why, yes_or_no
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.question import PARTIES
from explorer.topics.schedules.comparison import (
    SAME,
    Exports,
    FamilyComparison,
    Piecewise,
    Rates,
    compare_all,
    exports,
    uncompared,
    used_rates,
    way_text,
)
from explorer.topics.schedules.counterparts import DECAYS, FAMILIES, FORMS, Family, call, form_label
from explorer.topics.schedules.questions import EXPORTED, PIECEWISE, TOPIC, USED

SHOWN = (
    "exponential",
    "natural exponential",
    "inverse",
    "cosine",
    "polynomial",
    "warm-up",
    "piecewise constant",
)
"""Families in the first chart; the others are variations of them."""


@TOPIC.finding()
def same_rates(evidence: Evidence) -> Iterator[Message]:
    """How many pairs of schedules give the same rates, and where the others part."""
    differences = []
    partings = []
    compared = 0
    for comparison in compare_all(evidence):
        if comparison.difference is None:
            continue
        compared += 1
        if comparison.same:
            differences.append(comparison.difference)
        if comparison.first_different_step is not None:
            partings.append(_parting(comparison, comparison.first_different_step))
    if compared:
        yield message(
            "schedules.same_rates",
            same=len(differences),
            compared=compared,
            greatest=max(differences, default=0.0),
        )
    yield from partings


def _parting(comparison: FamilyComparison, step: int) -> Message:
    """What both frameworks have at the first step that differs."""
    family, reference = comparison.family, comparison.rates["torch"]
    different = []
    for form, rates in comparison.rates.items():
        # A list and a Cell of MindSpore may part from each other: only those that part are named.
        if abs(rates[step] - reference[step]) > SAME * max(reference):
            different.append(f"{family.schedule_name(form)} {rates[step]:.4g}")
    return message(
        "schedules.parting",
        family=family.label,
        step=step,
        mindspore=tuple(different),
        torch=f"{call(family.schedules['torch'])} {reference[step]:.4g}",
    )


@TOPIC.finding()
def functions_of_ones_own(evidence: Evidence) -> Iterator[Message]:
    """Which decays of MindSpore PyTorch has no scheduler for."""
    families = []
    for comparison in compare_all(evidence, DECAYS):
        # Where the rates part, the function of one's own is no counterpart either.
        by_function = comparison.same and not comparison.has_own_scheduler
        if by_function:
            families.append(comparison.family.label)
    if families:
        yield message("schedules.own_function", families=tuple(families))


@TOPIC.finding()
def refused_schedules(evidence: Evidence) -> Iterator[Message]:
    """The message of each schedule that is refused."""
    for comparison in compare_all(evidence):
        for form, error in comparison.refused.items():
            yield message(
                "schedules.is_refused",
                form=form_label(form),
                call=call(comparison.family.schedules[form]),
                why=error.removesuffix("."),
            )


@TOPIC.finding(EXPORTED)
def exported_schedules(evidence: Evidence) -> Iterator[Message]:
    """How many schedules there are, which only one framework has, and which are to be removed."""
    exported = exports(evidence)
    counts = []
    for form in FORMS:
        count = len(exported[form])
        counts.append(message("schedules.count", count=count, form=form_label(form)))
    yield message("schedules.counts", counts=tuple(counts))
    for form, other, framework in (("torch", "hand", "PyTorch"), ("hand", "torch", "MindSpore")):
        alone = sorted(set(exported[form]) - set(exported[other]))
        names = tuple(alone) or (NONE,)
        yield message("schedules.only", framework=framework, names=names)
    yield from _deprecated(exported)
    new = uncompared(exported)
    if new:
        yield message("schedules.uncompared", schedules=tuple(new))


def _deprecated(exported: Exports) -> Iterator[Message]:
    counts = []
    notices = set()
    for form in ("list", "cell", "hand"):
        schedules = exported[form].values()
        # "" where the documentation has no such notice.
        own = list(filter(None, (schedule["deprecated"] for schedule in schedules)))
        notices.update(own)
        counts.append(
            message("schedules.share", count=len(own), of=len(schedules), form=form_label(form))
        )
    if notices:
        listed = " / ".join(sorted(notices))
        yield message("schedules.deprecated", counts=tuple(counts), notices=listed)


@TOPIC.finding()
def who_advances_a_schedule(evidence: Evidence) -> Iterator[Message]:
    """Whether the optimizer advances the schedule or it waits for ``scheduler.step()``."""
    for party, ways in evidence[USED].items():
        for way, figure in ways.items():
            who = _party_and_way(party, way)
            rates = used_rates(figure)
            if rates is None:
                yield message("schedules.way_refused", who=who, why=said_briefly(figure))
                continue
            # As differences of float32 weights, equal rates are equal to about 1e-8.
            distinct = {round(rate, 6) for rate in rates}
            name = "moves" if len(distinct) > 1 else "stays"
            shown = tuple(f"{rate:.4g}" for rate in rates)
            yield message(f"schedules.{name}", who=who, rates=shown)


def _party_and_way(party: str, way: str) -> Message:
    return message("schedules.party_and_way", party=PARTIES[party].label, way=way_text(way))


@TOPIC.finding(PIECEWISE)
def piecewise_constant(evidence: Evidence) -> Iterator[Message]:
    """The sequence of the guide's example."""
    rates = evidence.records(PIECEWISE, Piecewise)["mindspore"].rates
    outcome = said_briefly(rates) if raised(rates) else str(rates)
    yield message("schedules.piecewise", outcome=outcome)


@TOPIC.chart()
def mindspore_sequences(evidence: Evidence) -> Iterator[Chart[Text]]:
    """What MindSpore's functions do to a rate, a line a family."""
    lines = []
    for comparison in compare_all(evidence):
        family = comparison.family
        if family.name in SHOWN and "list" in comparison.rates:
            lines.append(_line(family.label, comparison.rates["list"]))
    if lines:
        yield Chart[Text](
            name="schedules-mindspore",
            title=message("schedules.sequences"),
            kind="line",
            x=message("schedules.step"),
            y=message("schedules.rate"),
            series=tuple(lines),
            note=message("schedules.sequences_note"),
        )


@TOPIC.chart()
def parting_sequences(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The sequences of each family in which the frameworks part, each sequence once."""
    series = []
    partings = []
    for comparison in compare_all(evidence):
        step = comparison.first_different_step
        if step is None:
            continue
        for forms in _forms_by_sequence(comparison):
            rates = comparison.rates[forms[0]]
            series.append(_line(_label(comparison, forms), rates))
        label = comparison.family.label
        partings.append(message("schedules.parts_at_step", family=label, step=step))
    if series:
        yield Chart[Text](
            name="schedules-parting",
            title=message("schedules.other_rates"),
            kind="line",
            x=message("schedules.step"),
            y=message("schedules.rate"),
            series=tuple(series),
            note=message("schedules.partings", partings=tuple(partings)),
        )


def _forms_by_sequence(comparison: FamilyComparison) -> list[list[str]]:
    """The forms of a family, those together that give the same rates."""
    # One line for several schedules: lines that coincide hide each other.
    groups: list[list[str]] = []
    for form, rates in comparison.rates.items():
        for group in groups:
            if _greatest_gap(rates, comparison.rates[group[0]]) <= SAME:
                group.append(form)
                break
        else:
            groups.append([form])
    return groups


def _greatest_gap(rates: Rates, others: Rates) -> float:
    return max(abs(rate - other) for rate, other in zip(rates, others, strict=True))


def _label(comparison: FamilyComparison, forms: list[str]) -> Message:
    """The names of the schedules that give one sequence, and the frameworks that they are of."""
    names: dict[str, None] = {}  # an ordered set
    for form in forms:
        names[comparison.family.schedules[form][0]] = None
    frameworks = ["PyTorch"] if "torch" in forms else []
    if forms != ["torch"]:
        frameworks.append("MindSpore")
    return message("schedules.sequence", names=tuple(names), frameworks=tuple(frameworks))


def _line(name: Text, rates: Rates) -> Series[Text]:
    return Series[Text](name, tuple(map(float, range(len(rates)))), tuple(rates))


@TOPIC.chart()
def rates_used(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The rates of the first and of the last update, by optimizer and who advances the schedule."""
    ways: list[Text] = []
    rates_of_ways: list[Rates] = []
    for party, figures in evidence[USED].items():
        for way, figure in figures.items():
            rates = used_rates(figure)
            if rates:
                ways.append(_party_and_way(party, way))
                rates_of_ways.append(rates)
    if not ways:
        return
    # The first and the last update tell a rate that has moved from one that stays.
    last = max(map(len, rates_of_ways)) - 1
    series = []
    for step in dict.fromkeys((0, last)):  # once, if there is one update only
        heights = tuple(rates[step] for rates in rates_of_ways)
        update = message("schedules.update", number=step + 1)
        series.append(Series[Text](update, tuple(ways), heights))
    yield Chart[Text](
        name="schedules-used",
        title=message("schedules.who_moves"),
        kind="bars",
        x="",
        y=message("schedules.rate_used"),
        series=tuple(series),
        note=message("schedules.who_moves_note"),
    )


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
def rates_used_table(evidence: Evidence) -> Iterator[Table[Text]]:
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
def exported_schedules_table(evidence: Evidence) -> Iterator[Table[Text]]:
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
