"""Evidence: what was measured, by question and by party, with reasons for what is missing."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from explorer.model.failures import Failure
from explorer.model.measurement import Figures, Measured
from explorer.text.messages import first_sentence
from explorer.text.numbers import number
from explorer.topics.question import Question, Target

Answer = TypeVar("Answer")
Record = TypeVar("Record")

EMPTY = "-"
"""What stands in a table's cell without a figure."""


def spaced(field: str) -> str:
    """The name of a figure whose words are apart, by the name of a record's field."""
    return field.replace("_", " ")


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt gave, as fields of a record derived from this; or what it raised, without."""

    raised: str = ""
    message: str = ""

    @property
    def error(self) -> str:
        """ "Type: message" of an attempt that raised."""
        return f"{self.raised}: {self.message}"

    @property
    def brief_error(self) -> str:
        """ "Type: first sentence" of an attempt that raised; "" of one that did not."""
        return f"{self.raised}: {first_sentence(self.message)}" if self.raised else ""


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

    def records(self, question: Question, kind: type[Record]) -> dict[str, Record]:
        """The figures of each party as a record of a ``kind``, whose fields are named as they are.

        Raises msgspec.ValidationError for a figure that is missing or of another type.
        """
        answers: dict[str, Record] = {}
        for party, figures in self[question].items():
            answers[party] = msgspec.convert(figures, kind)
        return answers

    def timings(self, question: Question) -> dict[str, dict[str, float]]:
        """The seconds of each party that answered ``question``, by the name of what was timed."""
        return {
            party: self._measured[question.measurement_name(party)].timings
            for party in self[question]
        }

    def asked(self, question: Question) -> tuple[str, ...]:
        """The parties that were asked ``question``: those of a framework that is missing may not be."""
        return tuple(
            each for each in question.asks if question.measurement_name(each) in self._measured
        )

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
