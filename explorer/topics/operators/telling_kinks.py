"""What the study tells of kinks: a table of four engines a group, one of the differences, a finding
for each, and a chart.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.study import Chart, Series, Table
from explorer.text.numbers import number
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.operators.asked import ENGINES, KINKS, SLOPES
from explorer.topics.operators.kinks import GROUPS, Group, Kink
from explorer.topics.operators.kinks import KINKS as ALL
from explorer.topics.operators.shown import (
    NONE,
    TITLES,
    alike,
    joined,
    message,
    missing,
    short,
    tell,
)
from explorer.topics.studying import Telling

At = Mapping[str, Any]
"""What each engine found at one kink."""
Points = list[tuple[Kink, At]]

GREATEST = 10.0
"""The chart leaves out gradients beyond this: they would flatten the rest."""

RELUS = ("relu", "relu_by_maximum", "relu_by_clamp", "relu_by_where")
"""One function written in four ways."""


def told(evidence: Evidence) -> Telling:
    """Findings, tables and a chart of the kinks."""
    points = [(kink, at) for kink in ALL if (at := _at(evidence, kink))]
    differing = [(kink, at) for kink, at in points if len(alike(at, _answer)) > 1]
    return tell(
        findings=[
            *_counted(points, differing),
            *_ways(points),
            *(_difference(kink, at) for kink, at in differing),
        ],
        tables=[
            _differences(evidence, differing),
            *(_group(evidence, group, points) for group in GROUPS),
        ],
        charts=_chart(evidence, differing),
    )


def _at(evidence: Evidence, kink: Kink) -> At:
    figures = {who: evidence.get(KINKS[who, kink.group].name, {}).get(kink.name) for who in ENGINES}
    return {who: each["found"] for who, each in figures.items() if each}


def _answer(value: Any) -> str:
    """A value and its gradient, in short: what counts as the same."""
    return short(value) if raised(value) else f"{short(value['value'])} {short(value['gradient'])}"


def _value(value: Any) -> str:
    return "" if raised(value) else f"value {listed([value['value']])}"


def gradient(value: Any) -> str:
    """The gradient by the one input, or by each."""
    if raised(value):
        return short(value)
    return listed(value["gradient"])


def listed(each: list[Any]) -> str:
    """Numbers by each input, side by side; the one element of an input stands without brackets."""
    return ", ".join(
        short(one[0] if isinstance(one, list) and len(one) == 1 else one) for one in each
    )


def _counted(points: Points, differing: Points) -> Iterator[str]:
    if not points:
        return
    same = len(points) - len(differing)
    yield f"{len(points)} kinks: on {same} all engines give the same value and gradient, on {len(differing)} not."
    for framework in ("mindspore", "torch"):
        styles = [f"{framework}-{style}" for style in ("graph", "tape")]
        both = [(kink, at) for kink, at in points if all(who in at for who in styles)]
        apart = [
            kink.where for kink, at in both if _answer(at[styles[0]]) != _answer(at[styles[1]])
        ]
        if both:
            where = f"differ on {len(apart)} of them ({'; '.join(apart)})"
            what = where if apart else "agree on all of them, whatever the operator does"
            yield f"{TITLES[framework]}'s graph and tape {what}."


def _ways(points: Points) -> Iterator[str]:
    """One function written in several ways has several gradients at its kink."""
    common = {
        kink.where: set(map(gradient, at.values())) for kink, at in points if kink.name in RELUS
    }
    if common and all(len(each) == 1 for each in common.values()):
        listed = ", ".join(
            f"{next(iter(each))} as {where.removesuffix(', at 0')}"
            for where, each in common.items()
        )
        yield f"The same relu has the gradient {listed}; in every engine."
    by_name = {kink.name: at for kink, at in points}
    if "where_log" in by_name and "where_twice" in by_name:
        bad, good = (
            joined(alike(by_name[name], gradient)) for name in ("where_log", "where_twice")
        )
        yield f"where(x > 0, log(x), 0) at [0, 1] has the gradient: {bad}; with a second where inside the log: {good}."


def _difference(kink: Kink, at: At) -> str:
    values = alike(at, _value)
    parts = []
    for who, text in alike(
        at, lambda each: message(each) if raised(each) else gradient(each)
    ).items():
        parts.append(f"{who} {'raises ' if raised(_first(at, text)) else ''}{text}")
    told = f"{kink.where}: gradient " + "; ".join(parts) + "."
    return told if len(values) == 1 or "" in values.values() else f"{told[:-1]} ({joined(values)})."


def _first(at: At, text: str) -> Any:
    return next((each for each in at.values() if raised(each) and message(each) == text), None)


def _slopes(evidence: Evidence, kink: Kink) -> Any:
    """The slopes to the left and to the right by each input, or None."""
    return evidence.get(SLOPES[kink.group].name, {}).get(kink.name)


def _sides(evidence: Evidence, kink: Kink) -> tuple[str, str]:
    slopes = _slopes(evidence, kink)
    if slopes is None:
        return NONE, NONE
    left, right = map(listed, slopes)
    return left, right


def _outside(evidence: Evidence, kink: Kink, at: At) -> str:
    """Whose gradient does not lie between the slopes on both sides, for some element where both
    exist.
    """
    slopes = _slopes(evidence, kink)
    if slopes is None:
        return NONE
    bad = [
        who
        for who, each in at.items()
        if not raised(each) and not _between(each["gradient"], *slopes)
    ]
    if all(map(math.isnan, (*_flat(slopes[0]), *_flat(slopes[1])))):
        return NONE
    return ", ".join(alike(dict.fromkeys(bad, 0))) if bad else "nobody"


def _between(gradients: Any, left: Any, right: Any) -> bool:
    for value, low, high in zip(_flat(gradients), _flat(left), _flat(right), strict=True):
        bounds = sorted((low, high))
        if not any(map(math.isnan, bounds)) and not bounds[0] - 1e-3 <= value <= bounds[1] + 1e-3:
            return False
    return True


def _flat(values: Any) -> Iterator[float]:
    if isinstance(values, list):
        for each in values:
            yield from _flat(each)
    else:
        yield number(values)


def _differences(evidence: Evidence, differing: Points) -> Table:
    rows = []
    for kink, at in differing:
        figures = (
            evidence.get(KINKS[who, kink.group].name, {}).get(kink.name, {}) for who in ENGINES
        )
        several = len(set(map(_value, at.values())) - {""}) > 1
        cells = tuple(
            (f"{_value(at[who])}; " if several else "") + gradient(at[who]) if who in at else NONE
            for who in ENGINES
        )
        wording = next((each["written"] for each in figures if each), NONE)
        rows.append(
            (kink.where, wording, *cells, *_sides(evidence, kink), _outside(evidence, kink, at))
        )
    columns = (
        "kink",
        "in MindSpore",
        *(TITLES[who] for who in ENGINES),
        "slope left",
        "slope right",
        "outside the slopes",
    )
    note = "Gradients. Slopes are difference quotients in float64; any number between the two is a subgradient."
    return Table(
        title="Kinks where the engines differ", columns=columns, rows=tuple(rows), note=note
    )


def _group(evidence: Evidence, group: Group, points: Points) -> Table:
    rows = []
    for kink, at in points:
        if kink.group == group:
            cells = tuple(gradient(at[who]) if who in at else NONE for who in ENGINES)
            same = "yes" if len(alike(at, _answer)) == 1 else "NO"
            rows.append((kink.where, *_sides(evidence, kink), *cells, same))
    columns = ("kink", "slope left", "slope right", *(TITLES[who] for who in ENGINES), "alike")
    note = missing(evidence, {who: KINKS[who, group] for who in ENGINES} | {"torch": SLOPES[group]})
    return Table(title=GROUPS[group], columns=columns, rows=tuple(rows), note=note)


def _chart(evidence: Evidence, differing: Points) -> list[Chart]:
    """Where between the two slopes each framework's tape puts the gradient, for elements where they
    differ.
    """
    rows: dict[str, list[tuple[str, float]]] = {
        "slope left": [],
        "slope right": [],
        "MindSpore": [],
        "PyTorch": [],
    }
    for kink, at in differing:
        slopes, ours = (
            _slopes(evidence, kink),
            [at.get(f"{name}-tape") for name in ("mindspore", "torch")],
        )
        if slopes is None or any(each is None or raised(each) for each in ours):
            continue
        columns = [
            list(_flat(values))
            for values in (*slopes, *(each["gradient"] for each in ours if each))
        ]
        inputs = list(_flat(list(kink.inputs)))
        for index, values in enumerate(zip(*columns, strict=True)):
            if values[2] != values[3] and all(abs(value) <= GREATEST for value in values):
                label = f"{kink.name.replace('_', ' ')} at {inputs[index]:g}"
                label += f" ({index + 1})" if inputs.count(inputs[index]) > 1 else ""
                for name, value in zip(rows, values, strict=True):
                    rows[name].append((label, value))
    if not rows["MindSpore"]:
        return []
    series = tuple(
        Series(name, tuple(label for label, _ in row), tuple(value for _, value in row))
        for name, row in rows.items()
    )
    note = "Both are subgradients when they lie between the slopes. NaN and infinite gradients are in the table only."
    title = "Where the two frameworks put the gradient at a kink"
    return [
        Chart(
            name="kinks",
            title=title,
            kind="points",
            x="kink",
            y="gradient",
            series=series,
            note=note,
        )
    ]
