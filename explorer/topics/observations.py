"""Observations: how the evidence of a claim is made of figures, and its text in one line."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from explorer.model.claim import Observation
from explorer.topics.evidence import grouped
from explorer.topics.parties import party_names


def observed(
    what: str,
    figures: Mapping[str, Any],
    words: Callable[[Any], str] = str,
    expected: Mapping[str, bool] | None = None,
) -> list[Observation]:
    """What parties gave for one thing, a row for each different answer.

    ``words`` is an answer as a reader has it; ``expected`` says of whom the answer is as stated.
    """
    answers: dict[str, tuple[str, bool | None]] = {}
    for party, figure in figures.items():
        answers[party] = (words(figure), (expected or {}).get(party))
    rows = []
    for parties, (value, is_expected) in grouped(answers):
        rows.append(Observation(what, value, tuple(parties), is_expected))
    return rows


def in_one_line(observations: Iterable[Observation]) -> str:
    """Observations as one text: "weights: [1, 2] (MindSpore graph), [1, 3] (PyTorch tape); …"."""
    values_by_what: dict[str, list[str]] = {}
    for observation in observations:
        values = values_by_what.setdefault(observation.what, [])
        who = party_names(observation.who)
        value = " ".join(part for part in (observation.value, f"({who})" if who else "") if part)
        if value:
            values.append(value)
    clauses = []
    for what, values in values_by_what.items():
        clauses.append(f"{what}: {', '.join(values)}" if values else what)
    return "; ".join(clauses)
