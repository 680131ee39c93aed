"""What tables and notes of several topics have in them: parties, yes and no, what is missing."""

from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec

from explorer.model.engines import ENGINES
from explorer.model.failures import Failure
from explorer.model.message import Message, Text, message
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES, Question

NONE = message("cells.none")
NOT_MEASURED = message("cells.not_measured")


def party(name: str) -> Text:
    """The name of a party in a cell: "PyTorch, tape"."""
    return message(f"cells.{name}") if name in ENGINES else PARTIES[name].label


def listed_party(name: str) -> Text:
    """The name of a party without a comma, since it is one of a list: "PyTorch tape"."""
    return message(f"cells.{name}.listed") if name in ENGINES else PARTIES[name].label


def messages(topic: str, *names: str) -> tuple[Message, ...]:
    """Messages of a topic without values: the columns of a table."""
    return tuple(message(f"{topic}.{name}") for name in names)


def named(topic: str, name: str, known: Container[str]) -> Text:
    """A name in the reader's language where it is one of ``known``, else as it is."""
    return message(f"{topic}.{name}") if name in known else name


def heights(values: Iterable[Any]) -> tuple[float | None, ...]:
    """The heights of a chart's points: none where a value is no number."""
    return tuple(float(value) if isinstance(value, (int, float)) else None for value in values)


def yes_or_no(is_so: bool) -> Text:
    """Whether something is so."""
    return message("cells.yes" if is_so else "cells.no")


def sentences(*texts: Text) -> Text:
    """Sentences one after the other; those that are empty are left out."""
    joined: Text = ""
    for text in texts:
        if not text:
            continue
        joined = message("cells.sentences", first=joined, then=text) if joined else text
    return joined


def clauses(texts: Iterable[Text]) -> Text:
    """Clauses of one sentence: "a; b; c"."""
    return message("cells.clauses", clauses=tuple(texts))


def why_missing(
    evidence: Evidence, question: Question, party: str, *, with_type: bool = False
) -> Text:
    """Why there are no figures of a party: the first statement of its failure, or "not measured".

    ``with_type`` puts the type of the failure before its message.
    """
    failure = evidence.failures.get(question.measurement_name(party))
    if failure is None:
        return NOT_MEASURED
    return why(failure, with_type=with_type)


def why(failure: Failure, *, with_type: bool = False) -> Text:
    """The first statement of a failure, with its type before it where that is wanted."""
    return message("cells.typed_failure" if with_type else "cells.failure", failure=failure)


def missing(
    evidence: Evidence, *questions: Question, labels: Mapping[str, Text] | None = None
) -> Text:
    """Why a table's cells are empty, a sentence a party and each once; "" when none are.

    ``labels`` gives parties other names than those of cells.
    """
    found: list[Text] = []
    for question in questions:
        answers = evidence[question]
        for name in question.asks:
            if name in answers:
                continue
            who = labels[name] if labels and name in labels else party(name)
            reason = why_missing(evidence, question, name)
            sentence = message("cells.missing", who=who, why=reason)
            # A message has no hash: this is a list and no dict.
            if sentence not in found:
                found.append(sentence)
    return sentences(*found)


def no_figures(evidence: Evidence) -> Text:
    """Which measurements of a topic have no figures, a sentence a reason; "" when all have."""
    # A framework that is missing fails all of its measurements alike: its message stands once.
    names_by_failure: dict[Failure, list[str]] = {}
    for name, failure in evidence.failures.items():
        _, _, within_topic = name.partition(".")
        placeless = msgspec.structs.replace(failure, source="")
        names_by_failure.setdefault(placeless, []).append(within_topic)
    found: list[Text] = []
    for failure, names in names_by_failure.items():
        reason = why(failure, with_type=True)
        found.append(message("cells.no_figures", names=tuple(names), error=reason))
    return sentences(*found)
