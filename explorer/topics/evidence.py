"""Evidence: what was measured, by question and by party, with reasons for what is missing."""

from collections.abc import Mapping
from typing import Any, TypeVar

from explorer.model.measurement import Figures, Measured
from explorer.model.results import Failure
from explorer.text.messages import brief
from explorer.text.numbers import number
from explorer.topics.question import PARTIES, Question, Target

Answer = TypeVar("Answer")

EMPTY = "-"
"""What stands in a table's cell without a figure."""


class Evidence:
    """The outcomes of some measurements, by question and party.

    A party that did not answer a question is left out of its answers. ``target`` is the scenario
    and the device that the measurements were made on.
    """

    def __init__(self, measured: Mapping[str, Measured], target: Target | None = None) -> None:
        self._measured = dict(measured)
        self.target = target or Target()

    def __getitem__(self, question: Question) -> dict[str, Figures]:
        """The figures of each party that answered ``question``, in the order it is asked in."""
        answers: dict[str, Figures] = {}
        for party in question.asks:
            measured = self._measured.get(question.measurement_name(party))
            if measured is not None and measured.error is None:
                answers[party] = measured.figures
        return answers

    def timings(self, question: Question) -> dict[str, dict[str, float]]:
        """The seconds of each party that answered ``question``, by the name of what was timed."""
        return {
            party: self._measured[question.measurement_name(party)].timings
            for party in self[question]
        }

    def answered(self, *questions: Question) -> bool:
        """Whether every party answered that is asked one of ``questions``."""
        return all(len(self[question]) == len(question.asks) for question in questions)

    @property
    def failures(self) -> dict[str, Failure]:
        """Why the measurements without figures have none, by their names."""
        failures: dict[str, Failure] = {}
        for name, measured in self._measured.items():
            if measured.error:
                failures[name] = measured.error
        return failures


def grouped(answers: Mapping[str, Answer]) -> list[tuple[list[str], Answer]]:
    """Each different answer with all parties that gave it, in the order of the first of them."""
    # By comparison and not in a dict: answers may be lists, which have no hash.
    groups: list[tuple[list[str], Answer]] = []
    for party, answer in answers.items():
        for parties, known_answer in groups:
            if known_answer == answer:
                parties.append(party)
                break
        else:
            groups.append(([party], answer))
    return groups


def flat_numbers(figure: Any) -> list[float]:
    """The numbers of nested lists of figures, from left to right.

    Raises ValueError for what is no number.
    """
    if not isinstance(figure, (list, tuple)):
        return [number(figure)]
    numbers = []
    for item in figure:
        numbers.extend(flat_numbers(item))
    return numbers


def why_empty(
    evidence: Evidence, *questions: Question, labels: Mapping[str, str] | None = None
) -> str:
    """Why a table's cells are empty, a sentence a party and each once; "" when none are.

    A sentence is "MindSpore, graph: not measured.", or has the message of what went wrong.
    ``labels`` gives parties other names than those of PARTIES.
    """
    sentences: dict[str, None] = {}  # an ordered set
    for question in questions:
        answers = evidence[question]
        for party in question.asks:
            if party in answers:
                continue
            label = (labels or {}).get(party, PARTIES[party].label)
            sentences[f"{label}: {reason(evidence, question, party)}."] = None
    return " ".join(sentences)


def reason(evidence: Evidence, question: Question, party: str, *, with_type: bool = False) -> str:
    """Why there are no figures of a party: the first statement of its failure, or "not measured".

    ``with_type`` puts the type of the failure before its message.
    """
    failure = evidence.failures.get(question.measurement_name(party))
    if failure is None:
        return "not measured"
    return brief(failure.text if with_type else failure.message)


def no_figures(evidence: Evidence) -> str:
    """Which measurements of a topic have no figures, a sentence a reason; "" when all have."""
    # A framework that is missing fails all of its measurements alike: its message stands once.
    names_by_message: dict[str, list[str]] = {}
    for name, failure in evidence.failures.items():
        _, _, within_topic = name.partition(".")
        names_by_message.setdefault(failure.text, []).append(within_topic)
    sentences = []
    for message, names in names_by_message.items():
        sentences.append(f"No figures of {', '.join(names)}: {brief(message)}.")
    return " ".join(sentences)
