"""Observations: how the evidence of a claim is made of figures, and its text in one line."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from explorer.model.claim import Observation
from explorer.text.language import _
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
    """Observations as one text: "weights: [1, 2] (MindSpore graph), [1, 3] (PyTorch tape); …".

    What was measured comes once with all its values, and each value with all who gave it.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for observation in observations:
        parties_by_value = found.setdefault(observation.what, {})
        parties_by_value.setdefault(observation.value, []).extend(observation.who)
    clauses = []
    for what, parties_by_value in found.items():
        values = [_value(value, parties) for value, parties in parties_by_value.items()]
        text = _(", ").join(filter(None, values))
        clauses.append(_("{what}: {values}").format(what=what, values=text) if text else what)
    return _("; ").join(clauses)


def _value(value: str, parties: list[str]) -> str:
    """A value with those who gave it in brackets."""
    if not parties:
        return value
    text = _("{value} ({who})") if value else _("({who})")
    return text.format(value=value, who=party_names(parties))
