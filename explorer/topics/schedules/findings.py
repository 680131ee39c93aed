"""Findings and charts of schedules: rates that agree, counterparts, who advances a schedule."""

from collections.abc import Iterator

from explorer.model.message import Message, Text, message
from explorer.model.study import Chart, Series
from explorer.topics.attempts import raised, said_briefly
from explorer.topics.cells import NONE
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.schedules.comparison import (
    SAME,
    Exports,
    FamilyComparison,
    Rates,
    compare_all,
    exports,
    uncompared,
    used_rates,
    way_text,
)
from explorer.topics.schedules.counterparts import DECAYS, FORMS, call, form_label
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
    rates = evidence[PIECEWISE]["mindspore"]["rates"]
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
