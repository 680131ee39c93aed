"""Findings about functions apart from any net: single operators, Jacobians and Hessians.

Single operators are differentiated twice; Jacobians, products and Hessians are those of a field
and an energy, held against float64.
"""

from collections.abc import Iterator
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
from explorer.topics.higher_order.transformations import (
    FORMULAS,
    STANDINGS,
    held,
    references,
    standing,
)
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
    """Who returns wrong second derivatives of operators, of which, and who returns none."""
    for party, figures in second_derivatives(evidence).items():
        yield f"{PARTIES[party].label}: {outcomes_counted(figures)}."


def outcomes_counted(figures: Figures) -> str:
    """How many second derivatives are wrong without a message, missing and right."""
    names = by_outcome(figures)
    wrong, missing, right = names["wrong"], names["raises"], names["agrees"]
    what = f"{len(figures)} second derivatives of operators"
    if len(right) == len(figures):
        return f"all {what} right"
    clauses = []
    if wrong:
        first = wrong[0]  # the simplest: groups and operators begin with the plain ones
        clauses.append(
            f"{len(wrong)} wrong without a message ({_listed(wrong)}); that of {words(first)} is"
            f" {comparison(figures[first])}"
        )
    if missing:
        clauses.append(f"{len(missing)} refused ({_listed(missing)})")
    clauses.append(f"{len(right)} right")
    return f"of {what} {'; '.join(clauses)}"


def _listed(operators: list[str]) -> str:
    return ", ".join(map(words, operators))


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
    for kind, name in zip(OUTCOMES, STANDINGS, strict=True):
        counts = [float(len(by_outcome(figures)[kind])) for figures in figures_of.values()]
        series.append(Series(name, labels, tuple(counts)))
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


def measured_transformations(evidence: Evidence) -> dict[str, Figures]:
    """The figures of every transformation by party and name, all nets together."""
    figures_of: dict[str, Figures] = {}
    for question in TRANSFORMATIONS.values():
        for party, figures in evidence[question].items():
            figures_of.setdefault(party, {}).update(figures)
    return figures_of


def by_standing(figures: Figures) -> dict[str, list[str]]:
    """The names of some transformations by how they stand against float64, one of STANDINGS."""
    names: dict[str, list[str]] = {kind: [] for kind in STANDINGS}
    for name, figure in figures.items():
        names[standing(figure, references()[name])].append(name)
    return names


@TOPIC.finding()
def transformations_by_party(evidence: Evidence) -> Iterator[str]:
    """Which Jacobians, products and Hessians are wrong without a message, and what is refused."""
    for party, figures in measured_transformations(evidence).items():
        yield f"{PARTIES[party].label}: {standings_counted(figures)}."


def standings_counted(figures: Figures) -> str:
    """How many transformations are wrong without a message, refused and right."""
    right, wrong, refused = by_standing(figures).values()
    what = "Jacobians, products and Hessians"
    if len(right) == len(figures):
        return f"all {len(figures)} {what} right"
    clauses = []
    if wrong:
        clauses.append(f"{len(wrong)} wrong without a message ({' · '.join(wrong)})")
    for message, names in _by_message(figures, refused).items():
        clauses.append(f"{len(names)} refused with {message} ({' · '.join(names)})")
    clauses.append(f"{len(right)} right")
    return f"of {len(figures)} {what} {'; '.join(clauses)}"


def _by_message(figures: Figures, names: list[str]) -> dict[str, list[str]]:
    by_message: dict[str, list[str]] = {}
    for name in names:
        by_message.setdefault(said(figures[name]).rstrip("."), []).append(name)
    return by_message


@TOPIC.table()
def transformations_side_by_side(evidence: Evidence) -> Iterator[Table]:
    """How every transformation stands against float64."""
    figures_of = measured_transformations(evidence)
    rows: list[tuple[Cell, ...]] = []
    # Without any figures the table has no rows, and its note says why.
    names = sorted(references()) if figures_of else []
    for name in names:
        cells = [_held(figures_of.get(party, {}), name) for party in TRANSFORMING]
        rows.append((name, *cells))
    formulas = "; ".join(f"{net}: {formula}" for net, formula in FORMULAS.items())
    missing = why_empty(evidence, *TRANSFORMATIONS.values())
    yield Table(
        title="Jacobians, products and Hessians of a field v and an energy e, against float64",
        columns=("what", *(PARTIES[party].label for party in TRANSFORMING)),
        rows=tuple(rows),
        note=f"In float32 unless it says float64; {formulas}. {missing}".strip(),
    )


def _held(figures: Figures, name: str) -> str:
    return held(figures[name], references()[name]) if name in figures else EMPTY


@TOPIC.chart()
def tally_of_transformations(evidence: Evidence) -> Iterator[Chart]:
    """How many transformations are right, wrong in silence and refused, a bar a party."""
    figures_of = measured_transformations(evidence)
    labels = tuple(PARTIES[party].label for party in figures_of)
    series = []
    for kind in STANDINGS:
        counts = [float(len(by_standing(figures)[kind])) for figures in figures_of.values()]
        series.append(Series(kind, labels, tuple(counts)))
    if figures_of:
        yield Chart(
            name="transformations",
            title="Jacobians, products and Hessians against float64",
            kind="bars",
            x="engine",
            y="calls",
            series=tuple(series),
        )
