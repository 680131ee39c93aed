"""Findings about functions apart from any net: single operators, Jacobians and Hessians.

Single operators are differentiated twice; Jacobians, products and Hessians are those of a field
and an energy, which have closed forms.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import EMPTY, Evidence, why_empty
from explorer.topics.higher_order.operators import (
    OPERATORS,
    OUTCOMES,
    by_outcome,
    dtype_of,
    outcome,
    words,
)
from explorer.topics.higher_order.questions import (
    SECOND_DERIVATIVES,
    TOPIC,
    TRANSFORMATIONS,
    TRANSFORMING,
    TWICE,
)
from explorer.topics.higher_order.transformations import FORMULAS, closed_forms, held
from explorer.topics.question import PARTIES

# Single operators, differentiated twice


def second_derivatives(evidence: Evidence) -> dict[str, Figures]:
    """The figures of every operator, by party and operator, all groups together."""
    figures_of: dict[str, Figures] = {}
    for question in SECOND_DERIVATIVES.values():
        for party, figures in evidence[question].items():
            figures_of.setdefault(party, {}).update(figures)
    return figures_of


def comparison(figure: dict[str, Any]) -> str:
    """What a wrong second derivative is, and what it should be."""
    change = figure["change of first"]
    second = digits(figure["second"], 4)
    if raised(change):
        return f"{second}, although the first raises"
    return f"{second} where the first changes by {digits(change, 4)}"


@TOPIC.finding()
def outcomes_by_party(evidence: Evidence) -> Iterator[str]:
    """How many second derivatives agree, are wrong and are missing, with an example of each."""
    for party, figures in second_derivatives(evidence).items():
        names = by_outcome(figures)
        wrong, missing = names["wrong"], names["raises"]
        sentence = (
            f"Second derivatives of {len(figures)} operators, {PARTIES[party].label}: "
            f"{len(names['agrees'])} agree with the change of the first"
        )
        if wrong:
            example = wrong[0]  # the simplest: groups and operators begin with the plain ones
            sentence += (
                f"; wrong without a message: {len(wrong)} ({', '.join(map(words, wrong))}), of "
                f"{words(example)} it is {comparison(figures[example])}"
            )
        if missing:
            example = missing[-1]  # flash attention, which is missing everywhere (2.10, 2.13)
            message = said(figures[example]["second"]).rstrip(".")
            sentence += (
                f"; no second derivative: {len(missing)} ({', '.join(map(words, missing))}), of "
                f"{words(example)} with {message}"
            )
        yield f"{sentence}."


@TOPIC.table()
def outcomes_by_operator(evidence: Evidence) -> Iterator[Table]:
    """What the second derivative of every operator is."""
    figures_of = second_derivatives(evidence)
    rows: list[tuple[Cell, ...]] = []
    # Without any figures the table has no rows, and its note says why.
    groups = OPERATORS.values() if figures_of else ()
    for group in groups:
        for name in group:
            cells = [_cell(figures_of.get(party, {}).get(name)) for party in TWICE]
            rows.append((words(name), dtype_of(name), *cells))
    yield Table(
        title="Second derivatives of single operators, against the change of the first",
        columns=("operator", "float", *(PARTIES[party].label for party in TWICE)),
        rows=tuple(rows),
        note=why_empty(evidence, *SECOND_DERIVATIVES.values()),
    )


def _cell(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return EMPTY
    kind = outcome(figure)
    if kind == "raises":
        return said(figure["second"])
    return f"wrong: {comparison(figure)}" if kind == "wrong" else kind


@TOPIC.chart()
def tally(evidence: Evidence) -> Iterator[Chart]:
    """How many operators have each outcome, a bar for each who differentiated."""
    figures_of = second_derivatives(evidence)
    labels = tuple(PARTIES[party].label for party in figures_of)
    series = []
    for kind in OUTCOMES:
        counts = [float(len(by_outcome(figures)[kind])) for figures in figures_of.values()]
        series.append(Series(kind, labels, tuple(counts)))
    if figures_of:
        yield Chart(
            name="second_derivatives",
            title="Second derivatives of single operators",
            kind="bars",
            x="engine",
            y="operators",
            series=tuple(series),
            note=(
                "Wrong: a number is returned without a message, and it is not how the first "
                "derivative changes."
            ),
        )


# Jacobians, products and Hessians


def held_by_party(evidence: Evidence) -> dict[str, dict[str, str]]:
    """How each transformation stands against its closed form, by party and name.

    EMPTY where it was not computed.
    """
    figures_of: dict[str, Figures] = {}
    for question in TRANSFORMATIONS.values():
        for party, figures in evidence[question].items():
            figures_of.setdefault(party, {}).update(figures)

    standing: dict[str, dict[str, str]] = {}
    for party, figures in figures_of.items():
        standing[party] = {}
        for name, closed_form in closed_forms().items():
            standing[party][name] = EMPTY
            if name in figures:
                standing[party][name] = held(figures[name], closed_form)
    return standing


@TOPIC.finding()
def transformations_by_party(evidence: Evidence) -> Iterator[str]:
    """How many transformations agree, which are wrong, and what is raised."""
    for party, standings in held_by_party(evidence).items():
        counts = standings_counted(standings)
        yield f"Jacobians, products and Hessians, {PARTIES[party].label}: {counts}."


def standings_counted(standings: Mapping[str, str]) -> str:
    """How many transformations agree, which are wrong, and which raise, by message."""
    right = 0
    wrong: list[str] = []
    refused: dict[str, list[str]] = {}
    for name, standing in standings.items():
        if standing == "agrees":
            right += 1
        elif standing.startswith("wrong"):
            wrong.append(name)
        else:
            refused.setdefault(standing.rstrip("."), []).append(name)

    sentence = f"{right} of {len(standings)} agree with the closed form"
    if wrong:
        sentence += f"; wrong without a message: {len(wrong)} ({' · '.join(wrong)})"
    for message, names in refused.items():
        sentence += f"; {' · '.join(names)}: {message}"
    return sentence


@TOPIC.table()
def transformations_side_by_side(evidence: Evidence) -> Iterator[Table]:
    """How every transformation stands against its closed form."""
    standing = held_by_party(evidence)
    rows: list[tuple[Cell, ...]] = []
    # Without any figures the table has no rows, and its note says why.
    names = sorted(closed_forms()) if standing else []
    for name in names:
        cells = [standing.get(party, {}).get(name, EMPTY) for party in TRANSFORMING]
        rows.append((name, *cells))
    formulas = "; ".join(f"{net}: {formula}" for net, formula in FORMULAS.items())
    missing = why_empty(evidence, *TRANSFORMATIONS.values())
    yield Table(
        title="Jacobians, products and Hessians of a field v and an energy e",
        columns=("what", *(PARTIES[party].label for party in TRANSFORMING)),
        rows=tuple(rows),
        note=f"In float32 unless it says float64; {formulas}. {missing}".strip(),
    )
