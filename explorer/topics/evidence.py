"""Evidence: what was measured, by question and by party, with reasons for what is missing."""

from collections.abc import Mapping
from typing import Any, TypeVar

from explorer.model.failures import Failure
from explorer.model.measurement import Figures, Measured
from explorer.text.numbers import number
from explorer.topics.question import Question, Target

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
