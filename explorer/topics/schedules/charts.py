"""The charts of the schedules: MindSpore's sequences, those that part, and the rates used."""

from collections.abc import Iterator

from explorer.model.study import Chart, Series
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.schedules.questions import TOPIC, USED
from explorer.topics.schedules.readings import (
    SAME,
    FamilyComparison,
    Rates,
    compare_all,
    used_rates,
)

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


@TOPIC.chart()
def mindspore_sequences(evidence: Evidence) -> Iterator[Chart]:
    """What MindSpore's functions do to a rate, a line a family."""
    lists = {}
    for comparison in compare_all(evidence):
        if comparison.family.name in SHOWN and "list" in comparison.rates:
            lists[comparison.family.name] = comparison.rates["list"]
    if lists:
        yield Chart(
            name="schedules-mindspore",
            title="What MindSpore's schedules do to a rate of 0.1",
            kind="line",
            x="step",
            y="learning rate",
            series=tuple(_line(name, rates) for name, rates in lists.items()),
            note="From the functions that return a list.",
        )


@TOPIC.chart()
def parting_sequences(evidence: Evidence) -> Iterator[Chart]:
    """The sequences of each family in which the frameworks part, each sequence once."""
    series = []
    notes = []
    for comparison in compare_all(evidence):
        if comparison.first_different_step is None:
            continue
        for forms in _forms_by_sequence(comparison):
            rates = comparison.rates[forms[0]]
            series.append(_line(_label(comparison, forms), rates))
        notes.append(f"{comparison.family.name} parts at step {comparison.first_different_step}")
    if series:
        yield Chart(
            name="schedules-parting",
            title="Where the same settings give other rates",
            kind="line",
            x="step",
            y="learning rate",
            series=tuple(series),
            note=f"{'; '.join(notes)}.",
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


def _label(comparison: FamilyComparison, forms: list[str]) -> str:
    """The names of the schedules that give one sequence, and the frameworks that they are of."""
    names = [comparison.family.schedules[form][0] for form in forms]
    if "torch" not in forms:
        frameworks = "MindSpore"
    else:
        frameworks = "PyTorch" if len(forms) == 1 else "PyTorch and MindSpore"
    return f"{', '.join(dict.fromkeys(names))} ({frameworks})"


def _line(name: str, rates: Rates) -> Series:
    return Series(name, tuple(float(step) for step in range(len(rates))), tuple(rates))


@TOPIC.chart()
def rates_used(evidence: Evidence) -> Iterator[Chart]:
    """The rates of the first and of the last update, by optimizer and who advances the schedule."""
    ways = {}
    for party, figures in evidence[USED].items():
        for way, figure in figures.items():
            rates = used_rates(figure)
            if rates:
                ways[f"{PARTIES[party].label}, {way}"] = rates
    if not ways:
        return
    # The first and the last update tell a rate that has moved from one that stays.
    last = max(map(len, ways.values())) - 1
    series = []
    for step in dict.fromkeys((0, last)):  # once, if there is one update only
        heights = tuple(rates[step] for rates in ways.values())
        series.append(Series(f"update {step + 1}", tuple(ways), heights))
    yield Chart(
        name="schedules-used",
        title="Who moves the schedule on",
        kind="bars",
        x="",
        y="rate used",
        series=tuple(series),
        note="The gradient is 1, so that the weight moves by the rate;"
        " a rate that has moved has a shorter second bar.",
    )
