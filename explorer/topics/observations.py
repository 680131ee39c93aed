"""Observations: how the evidence of a claim is made of figures."""

from collections.abc import Callable, Mapping
from typing import Any

from explorer.model.claim import Observation
from explorer.model.message import Message, Text
from explorer.topics.evidence import grouped


def plain(figure: Any) -> Text:
    """A figure as it is, if it is a message, or as Python prints it."""
    return figure if isinstance(figure, Message) else str(figure)


def observed(
    what: Text,
    figures: Mapping[str, Any],
    words: Callable[[Any], Text] = plain,
    expected: Mapping[str, bool] | None = None,
) -> list[Observation]:
    """What parties gave for one thing, a row for each different answer.

    ``words`` is an answer as a reader has it; ``expected`` says of whom the answer is as stated.
    """
    answers: dict[str, tuple[Text, bool | None]] = {}
    for party, figure in figures.items():
        answers[party] = (words(figure), (expected or {}).get(party))
    rows = []
    for parties, (value, is_expected) in grouped(answers):
        rows.append(Observation(what, value, tuple(parties), is_expected))
    return rows
