"""What the second derivatives of single operators tell: which agree with the change of the first,
which are wrong without a message, which there are none of.
"""

from collections.abc import Iterator
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.cells import EMPTY, why_empty
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order.operators import (
    OPERATORS,
    OUTCOMES,
    by_outcome,
    dtype_of,
    outcome,
    words,
)
from explorer.topics.higher_order.questions import SECOND_DERIVATIVES, TOPIC, TWICE
from explorer.topics.question import PARTIES


def second_derivatives(evidence: Evidence) -> dict[str, Figures]:
    """The figures of every operator, by who differentiated and operator, all groups together."""
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
    for group in OPERATORS.values() if figures_of else ():
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
