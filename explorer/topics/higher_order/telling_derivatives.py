"""What the study finds of second derivatives of operators, and of Jacobians, products and Hessians;
no framework here.
"""

from typing import Any

import numpy as np

from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import given
from explorer.topics.higher_order.given import TRANSFORMING, TWICE
from explorer.topics.higher_order.reading import NAMES, NEAR, NONE, apart, figures_of, why_missing
from explorer.topics.studying import Telling

AGREES = 0.02
"""A second derivative of an operator agrees when it is within this share of its greatest element of
the first one's change: where it is lost it is wrong by far more, and in float32 a central
difference is not sharper.
"""

KINDS = ("agrees", "wrong", "raises")


# Operators


def outcome(figure: dict[str, Any]) -> str:
    """What a second derivative is: it "agrees" with the change of the first, is "wrong", or
    "raises".
    """
    if raised(figure["second"]):
        return "raises"
    first = figure["change of first"]
    return "agrees" if not raised(first) and apart(figure["second"], first) <= AGREES else "wrong"


def second_derivatives(evidence: Evidence) -> dict[str, dict[str, dict[str, Any]]]:
    """The figures of every operator, by engine and operator, all groups together."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for group in given.OPERATORS:
        for engine, figures in figures_of(evidence, f"operators, {group}", TWICE).items():
            found.setdefault(engine, {}).update(figures)
    return found


def operators(evidence: Evidence) -> Telling:
    """Every operator's second derivative: a table, a bar for each engine, a sentence for each
    engine.
    """
    found = second_derivatives(evidence)
    names = [name for group in given.OPERATORS.values() for name in group]
    rows: list[tuple[Cell, ...]] = [
        (
            _worded(name),
            given.dtype_of(name),
            *(_cell(found.get(engine, {}).get(name)) for engine in TWICE),
        )
        for name in names
    ]
    missing = " ".join(
        dict.fromkeys(
            why_missing(evidence, f"operators, {group}", TWICE) for group in given.OPERATORS
        )
    ).strip()
    table = Table(
        title="Second derivatives of single operators, against the change of the first",
        columns=("operator", "float", *(NAMES[engine] for engine in TWICE)),
        rows=tuple(rows) if found else (),
        note=missing,
    )
    tally = {
        engine: [outcome(figure) for figure in figures.values()]
        for engine, figures in found.items()
    }
    series = tuple(
        Series(
            kind,
            tuple(NAMES[engine] for engine in tally),
            tuple(float(outcomes.count(kind)) for outcomes in tally.values()),
        )
        for kind in KINDS
    )
    chart = Chart(
        name="second_derivatives",
        title="Second derivatives of single operators",
        kind="bars",
        x="engine",
        y="operators",
        series=series,
        note="Wrong: a number is returned without a message, and it is not how the first derivative changes.",
    )
    findings = tuple(_tallied(engine, figures) for engine, figures in found.items())
    return Telling(findings=findings, tables=(table,), charts=(chart,) if found else ())


def _worded(name: str) -> str:
    return name.replace("_", " ")


def _cell(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return NONE
    kind = outcome(figure)
    if kind == "raises":
        return said(figure["second"])
    return kind if kind == "agrees" else f"wrong: {_pair(figure)}"


def _pair(figure: dict[str, Any]) -> str:
    """What a wrong second derivative is, and what it should be."""
    if raised(figure["change of first"]):
        return f"{digits(figure['second'], 4)}, although the first raises"
    return f"{digits(figure['second'], 4)} where the first changes by {digits(figure['change of first'], 4)}"


def _tallied(engine: str, figures: dict[str, dict[str, Any]]) -> str:
    kinds = {
        kind: [name for name, figure in figures.items() if outcome(figure) == kind]
        for kind in KINDS
    }
    told = f"Second derivatives of {len(figures)} operators, {NAMES[engine]}: "
    told += f"{len(kinds['agrees'])} agree with the change of the first"
    if kinds["wrong"]:
        first = kinds["wrong"][0]
        told += f"; wrong without a message: {len(kinds['wrong'])} ({', '.join(map(_worded, kinds['wrong']))}), of "
        told += f"{_worded(first)} it is {_pair(figures[first])}"
    if kinds["raises"]:
        last = kinds["raises"][-1]
        told += f"; no second derivative: {len(kinds['raises'])} ({', '.join(map(_worded, kinds['raises']))}), of "
        told += f"{_worded(last)} with {said(figures[last]['second']).rstrip('.')}"
    return told + "."


# Transformations


def transformations(evidence: Evidence) -> Telling:
    """Every Jacobian, product and Hessian against its closed form: a table, and a sentence for each
    engine.
    """
    found: dict[str, dict[str, Any]] = {}
    for net in given.CLOSED:
        for engine, figures in figures_of(
            evidence, f"transformations, {net}", TRANSFORMING
        ).items():
            found.setdefault(engine, {}).update(figures)
    wanted = given.closed_forms()
    cells = {
        engine: {what: held(figures.get(what), value) for what, value in wanted.items()}
        for engine, figures in found.items()
    }
    rows: list[tuple[Cell, ...]] = [
        (what, *(cells.get(engine, {}).get(what, NONE) for engine in TRANSFORMING))
        for what in sorted(wanted)
    ]
    missing = " ".join(
        dict.fromkeys(
            why_missing(evidence, f"transformations, {net}", TRANSFORMING) for net in given.CLOSED
        )
    )
    formulas = "; ".join(f"{net}: {formula}" for net, formula in given.FORMULAS.items())
    table = Table(
        title="Jacobians, products and Hessians of a field v and an energy e",
        columns=("what", *(NAMES[engine] for engine in TRANSFORMING)),
        rows=tuple(rows) if found else (),
        note=f"In float32 unless it says float64; {formulas}. {missing}".strip(),
    )
    return Telling(
        findings=tuple(_transformed(engine, each) for engine, each in cells.items()),
        tables=(table,),
    )


def _transformed(engine: str, cells: dict[str, str]) -> str:
    right = [what for what, cell in cells.items() if cell == "agrees"]
    wrong = [what for what, cell in cells.items() if cell.startswith("wrong")]
    messages: dict[str, list[str]] = {}
    for what, cell in cells.items():
        if what not in right and what not in wrong:
            messages.setdefault(cell.rstrip("."), []).append(what)
    told = f"Jacobians, products and Hessians, {NAMES[engine]}: {len(right)} of {len(cells)} agree with the closed form"
    if wrong:
        told += f"; wrong without a message: {len(wrong)} ({' · '.join(wrong)})"
    return (
        told
        + "".join(f"; {' · '.join(which)}: {message}" for message, which in messages.items())
        + "."
    )


def held(figure: Any, closed: list[Any]) -> str:
    """How a transformation stands against its closed form: "agrees", "wrong: off by …", or what was
    raised.
    """
    if figure is None or raised(figure):
        return NONE if figure is None else said(figure)
    gap = apart(np.array(figure, dtype=object).ravel().tolist(), np.array(closed).ravel().tolist())
    return "agrees" if gap <= NEAR else f"wrong: off by {gap:.2g}"
