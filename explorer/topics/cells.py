"""What tables and notes of several topics have in them: parties, yes and no, what is missing."""

from collections.abc import Mapping

from explorer.model.engines import ENGINES
from explorer.model.message import Message, Text, message
from explorer.text.messages import brief
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


def why_missing(
    evidence: Evidence, question: Question, party: str, *, with_type: bool = False
) -> Text:
    """Why there are no figures of a party: the first statement of its failure, or "not measured".

    ``with_type`` puts the type of the failure before its message.
    """
    failure = evidence.failures.get(question.measurement_name(party))
    if failure is None:
        return NOT_MEASURED
    return brief(failure.text if with_type else failure.message)


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
            why = why_missing(evidence, question, name)
            sentence = message("cells.missing", who=who, why=why)
            # A message has no hash: this is a list and no dict.
            if sentence not in found:
                found.append(sentence)
    return sentences(*found)


def messages(topic: str, *names: str) -> tuple[Message, ...]:
    """Messages of a topic that have no values, such as the columns of a table."""
    return tuple(message(f"{topic}.{name}") for name in names)
