"""Every figure that a claim's evidence depends on is found by an independent program too.

A figure is changed in the recorded measurements, and the claim judged again: where its evidence is
another, the page shows that figure, and an agreement must lead to it, or LEFT_OUT say why none does.
"""

import copy
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Measured
from explorer.report.recorded.results import measurements
from explorer.topics import claims
from explorer.topics.evidence import Evidence
from explorer.topics.topic import Claim
from tests.independent.agreements import AGREEMENTS, EVERY, KINDS_LEFT_OUT, LEFT_OUT, NAMES
from tests.independent.agreements import Path as Way
from tests.support.samples import sampled

Shown = tuple[str, Way]
"""A figure: its measurement, and the way to it."""


def steps(figure: Any) -> list[Any]:
    """The keys of a dict, the places of a list; none for a number or a text."""
    if isinstance(figure, dict):
        return list(figure)
    return list(range(len(figure))) if isinstance(figure, list) else []


def is_array(figure: Any) -> bool:
    """Whether a figure is a list of numbers, however nested: one figure."""
    if isinstance(figure, list):
        return bool(figure) and all(is_array(element) for element in figure)
    return isinstance(figure, float | int) and not isinstance(figure, bool)


def led_to(figures: Any, way: Way) -> Iterator[Way]:
    """The places in figures that a way leads to, with EVERY and negative places written out."""
    if not way:
        yield ()
        return
    step, rest = way[0], way[1:]
    known = steps(figures)
    if step == EVERY:
        chosen = known
    elif step == NAMES:
        chosen = []
    elif isinstance(figures, list) and isinstance(step, int) and step < 0:
        chosen = [len(known) + step]
    else:
        chosen = [step] if step in known else []
    for each in chosen:
        for following in led_to(figures[each], rest):
            yield (each, *following)


@cache
def covered(row: int) -> dict[str, set[Way]]:
    """The places that agreements on claims lead to, by measurement of this one."""
    figures = {name: outcome.figures for name, outcome in measured(row).items()}
    places: dict[str, set[Way]] = defaultdict(set)
    for agreement in AGREEMENTS:
        # A study of that name may look at another net.
        if isinstance(agreement.subject, int) and agreement.measurement in figures:
            places[agreement.measurement].update(
                led_to(figures[agreement.measurement], agreement.path)
            )
    return places


def measured(row: int) -> dict[str, Measured]:
    """What was recorded for a claim, to be changed."""
    outcomes = {}
    for measurement in claims()[row].measurements:
        recorded = measurements()[measurement.name, Path(measurement.scenario).stem]
        figures = copy.deepcopy(recorded.figures)
        outcomes[measurement.name] = msgspec.structs.replace(recorded, figures=figures)
    return outcomes


def changed(figure: Any) -> Any:
    """Another figure of the same kind."""
    if isinstance(figure, dict):
        return {key: changed(value) for key, value in figure.items()}
    if isinstance(figure, list):
        return [changed(value) for value in figure]
    if isinstance(figure, bool):
        return not figure
    if isinstance(figure, int):
        return figure + 17
    if isinstance(figure, float):
        return figure * 3.7 + 1.3
    return 3.7 if figure is None else f"{figure}X"


def evidence_of(claim: Claim, evidence: Evidence) -> bytes:
    """The evidence of a claim; the error's name where it cannot be judged on such figures."""
    try:
        return msgspec.json.encode(claim.judge(evidence, claim.expects).evidence)
    except Exception as error:  # figures of another kind: the judge reads them
        return type(error).__name__.encode()


def shown_without_agreement(row: int) -> list[Shown]:
    """The figures of a claim's evidence that no agreement leads to."""
    claim, outcomes = claims()[row], measured(row)
    evidence = Evidence(outcomes)
    as_recorded = evidence_of(claim, evidence)
    uncovered: list[Shown] = []

    def visit(parent: Any, way: Way, name: str) -> None:
        """Adds the figure at ``way`` if it is shown, or those in it."""
        places = covered(row)[name]
        if way in places:
            return
        figure = parent[way[-1]]
        parent[way[-1]] = changed(figure)
        is_shown = evidence_of(claim, evidence) != as_recorded
        parent[way[-1]] = figure
        if not is_shown:
            return
        is_known_within = any(place[: len(way)] == way for place in places)
        if not steps(figure) or (is_array(figure) and not is_known_within):
            uncovered.append((name, way))
            return
        for step in steps(figure):
            visit(figure, (*way, step), name)

    for name, outcome in outcomes.items():
        if () in covered(row)[name]:
            continue
        for step in steps(outcome.figures):
            visit(outcome.figures, (step,), name)
    return uncovered


def reason(row: int, shown: Shown) -> str:
    """Why no program finds a figure; "" where nothing says so."""
    name, way = shown
    for kind, why in KINDS_LEFT_OUT.items():
        if kind in way:
            return why
    for left_out in LEFT_OUT:
        if left_out.subject == row and name.startswith(left_out.measurement):
            figures = measured(row)[name].figures
            if any(way[: len(place)] == place for place in led_to(figures, left_out.path)):
                return left_out.why
    return ""


ROWS = [row for row in claims() if row != 85]
"""All but the count of other rows' and scenarios' results, each of which is checked where it is shown."""


@pytest.mark.slow
@pytest.mark.parametrize("row", sampled(ROWS, 30))
def test_every_figure_of_the_evidence_is_found_by_a_program(row: int) -> None:
    unknown = [shown for shown in shown_without_agreement(row) if not reason(row, shown)]
    assert unknown == []


def test_a_figure_that_no_program_finds_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.independent.test_every_figure.AGREEMENTS", [])
    covered.cache_clear()
    try:
        assert ("training.clipping.torch", ("by norm", "1.0", "gradients")) in (
            shown_without_agreement(16)
        )
    finally:
        covered.cache_clear()


@pytest.mark.slow
def test_what_is_left_out_is_there_and_has_a_reason() -> None:
    for left_out in LEFT_OUT:
        assert left_out.why
        names = [
            name for name in measured(left_out.subject) if name.startswith(left_out.measurement)
        ]
        assert names, left_out
        found = [
            place
            for name in names
            for place in led_to(measured(left_out.subject)[name].figures, left_out.path)
        ]
        assert found, left_out


if __name__ == "__main__":
    # python -m tests.independent.test_every_figure [ROW…]: what is left to find.
    import sys

    for number in [int(argument) for argument in sys.argv[1:]] or ROWS:
        for one in shown_without_agreement(number):
            if not reason(number, one):
                print(number, *one, flush=True)
