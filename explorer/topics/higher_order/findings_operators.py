"""Findings about functions apart from any net: single operators, Jacobians and Hessians.

Single operators are differentiated twice; Jacobians, products and Hessians are those of a field
and an energy, held against float64.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.message import Text, message
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.cells import heights, messages, missing, party, sentences
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.higher_order import operators, transformations
from explorer.topics.higher_order.operators import (
    AGREES,
    OPERATORS,
    OUTCOMES,
    by_outcome,
    dtype_of,
    outcome,
)
from explorer.topics.higher_order.questions import (
    SECOND_DERIVATIVES,
    TOPIC,
    TRANSFORMATIONS,
    TRANSFORMING,
    TWICE,
)
from explorer.topics.higher_order.transformations import (
    NETS,
    STANDINGS,
    held,
    references,
    standing,
)
from explorer.topics.question import Question

# Single operators, differentiated twice


def figures_by_party(evidence: Evidence, questions: Iterable[Question]) -> dict[str, Figures]:
    """The figures of every party by name, those of all questions together."""
    figures_of: dict[str, Figures] = {}
    for question in questions:
        for who, figures in evidence[question].items():
            figures_of.setdefault(who, {}).update(figures)
    return figures_of


def second_derivatives(evidence: Evidence) -> dict[str, Figures]:
    """The figures of every operator, by party and operator, all groups together."""
    return figures_by_party(evidence, SECOND_DERIVATIVES.values())


def comparison(figure: dict[str, Any]) -> Text:
    """What a wrong second derivative is, and what it should be."""
    change = figure["change of first"]
    second = digits(figure["second"], 4)
    if raised(change):
        return message("higher_order.first_raises", second=second)
    return message("higher_order.first_changes", second=second, change=digits(change, 4))


@TOPIC.finding()
def outcomes_by_party(evidence: Evidence) -> Iterator[Text]:
    """Who returns wrong second derivatives of operators, of which, and who returns none."""
    for name, figures in second_derivatives(evidence).items():
        who, outcomes = party(name), outcomes_counted(figures)
        if outcomes:
            yield message("higher_order.some_seconds", who=who, of=len(figures), outcomes=outcomes)
        else:
            yield message("higher_order.all_seconds", who=who, of=len(figures))


def outcomes_counted(figures: Figures) -> tuple[Text, ...]:
    """How many second derivatives are wrong without a message, missing and right; () if all are right."""
    names = by_outcome(figures)
    wrong, refused, right = names["wrong"], names["raises"], names["agrees"]
    if len(right) == len(figures):
        return ()
    outcomes: list[Text] = []
    if wrong:
        first = wrong[0]  # the simplest: groups and operators begin with the plain ones
        wrong_seconds = message(
            "higher_order.wrong_seconds",
            count=len(wrong),
            operators=tuple(map(operators.name_of, wrong)),
            first=operators.name_of(first),
            comparison=comparison(figures[first]),
        )
        outcomes.append(wrong_seconds)
    if refused:
        listed = tuple(map(operators.name_of, refused))
        outcomes.append(
            message("higher_order.refused_seconds", count=len(refused), operators=listed)
        )
    outcomes.append(message("higher_order.count_right", count=len(right)))
    return tuple(outcomes)


@TOPIC.table()
def outcomes_by_operator(evidence: Evidence) -> Iterator[Table[Text]]:
    """What the second derivative of every operator is."""
    figures_of = second_derivatives(evidence)
    rows: list[tuple[Cell | Text, ...]] = []
    # Without any figures the table has no rows, and its note says why.
    groups = OPERATORS.values() if figures_of else ()
    for group in groups:
        for name in group:
            cells = [_cell(figures_of.get(who, {}).get(name)) for who in TWICE]
            rows.append((operators.name_of(name), dtype_of(name), *cells))
    columns = (message("higher_order.operator"), message("higher_order.float"))
    yield Table(
        title=message("higher_order.seconds_of_operators.title", share=AGREES),
        columns=(*columns, *map(party, TWICE)),
        rows=tuple(rows),
        note=missing(evidence, *SECOND_DERIVATIVES.values()),
    )


def _cell(figure: dict[str, Any] | None) -> Text:
    if figure is None:
        return EMPTY
    kind = outcome(figure)
    if kind == "raises":
        return said(figure["second"])
    if kind == "wrong":
        return message("higher_order.wrong_second", comparison=comparison(figure))
    return message("higher_order.agrees")


@TOPIC.chart()
def tally(evidence: Evidence) -> Iterator[Chart[Text]]:
    """How many operators have each outcome, a bar for each who differentiated."""
    figures_of = second_derivatives(evidence)
    labels = tuple(map(party, figures_of))
    series: list[Series[Text]] = []
    for kind, name in zip(OUTCOMES, STANDINGS, strict=True):
        counts = [len(by_outcome(figures)[kind]) for figures in figures_of.values()]
        series.append(Series(message(f"higher_order.{name}"), labels, heights(counts)))
    if figures_of:
        yield Chart(
            name="second_derivatives",
            title=message("higher_order.seconds_tally.title"),
            kind="bars",
            x=message("higher_order.engine"),
            y=message("higher_order.operators"),
            series=tuple(series),
            note=message("higher_order.seconds_tally.note"),
        )


# Jacobians, products and Hessians


def measured_transformations(evidence: Evidence) -> dict[str, Figures]:
    """The figures of every transformation by party and name, all nets together."""
    return figures_by_party(evidence, TRANSFORMATIONS.values())


def by_standing(figures: Figures) -> dict[str, list[str]]:
    """The names of some transformations by how they stand against float64, one of STANDINGS."""
    names: dict[str, list[str]] = {kind: [] for kind in STANDINGS}
    for name, figure in figures.items():
        names[standing(figure, references()[name])].append(name)
    return names


@TOPIC.finding()
def transformations_by_party(evidence: Evidence) -> Iterator[Text]:
    """Which Jacobians, products and Hessians are wrong without a message, and what is refused."""
    for name, figures in measured_transformations(evidence).items():
        who, outcomes = party(name), standings_counted(figures)
        if outcomes:
            yield message(
                "higher_order.some_transformations", who=who, of=len(figures), outcomes=outcomes
            )
        else:
            yield message("higher_order.all_transformations", who=who, of=len(figures))


def standings_counted(figures: Figures) -> tuple[Text, ...]:
    """How many transformations are wrong without a message, refused and right; () if all are right."""
    right, wrong, refused = by_standing(figures).values()
    if len(right) == len(figures):
        return ()
    outcomes: list[Text] = []
    if wrong:
        names = _beside_each_other(wrong)
        outcomes.append(message("higher_order.wrong_calls", count=len(wrong), names=names))
    for error, figure_names in _by_error(figures, refused).items():
        names = _beside_each_other(figure_names)
        count = len(figure_names)
        outcomes.append(
            message("higher_order.refused_calls", count=count, error=error, names=names)
        )
    outcomes.append(message("higher_order.count_right", count=len(right)))
    return tuple(outcomes)


def _beside_each_other(figures: list[str]) -> Text:
    """Names with commas in them, one after the other."""
    names: Text = ""
    for figure in figures:
        name = transformations.name_of(figure)
        names = message("higher_order.beside", names=names, next=name) if names else name
    return names


def _by_error(figures: Figures, names: list[str]) -> dict[str, list[str]]:
    by_error: dict[str, list[str]] = {}
    for name in names:
        by_error.setdefault(said(figures[name]).rstrip("."), []).append(name)
    return by_error


@TOPIC.table()
def transformations_side_by_side(evidence: Evidence) -> Iterator[Table[Text]]:
    """How every transformation stands against float64."""
    figures_of = measured_transformations(evidence)
    rows: list[tuple[Cell | Text, ...]] = []
    # Without any figures the table has no rows, and its note says why.
    names = sorted(references()) if figures_of else []
    for name in names:
        cells = [_held(figures_of.get(who, {}), name) for who in TRANSFORMING]
        rows.append((transformations.name_of(name), *cells))
    formulas = messages("higher_order.formula", *NETS)
    point = tuple(f"{x:g}" for x in transformations.POINT)
    note = message("higher_order.transformations.note", point=point, formulas=formulas)
    yield Table(
        title=message("higher_order.transformations.title"),
        columns=(message("higher_order.what"), *map(party, TRANSFORMING)),
        rows=tuple(rows),
        note=sentences(note, missing(evidence, *TRANSFORMATIONS.values())),
    )


def _held(figures: Figures, name: str) -> Text:
    return held(figures[name], references()[name]) if name in figures else EMPTY


@TOPIC.chart()
def tally_of_transformations(evidence: Evidence) -> Iterator[Chart[Text]]:
    """How many transformations are right, wrong in silence and refused, a bar a party."""
    figures_of = measured_transformations(evidence)
    labels = tuple(map(party, figures_of))
    series: list[Series[Text]] = []
    for kind in STANDINGS:
        counts = [len(by_standing(figures)[kind]) for figures in figures_of.values()]
        series.append(Series(message(f"higher_order.{kind}"), labels, heights(counts)))
    if figures_of:
        yield Chart(
            name="transformations",
            title=message("higher_order.transformations_tally.title"),
            kind="bars",
            x=message("higher_order.engine"),
            y=message("higher_order.calls"),
            series=tuple(series),
        )
