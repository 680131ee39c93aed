"""What was measured, by question and by who was asked: all that findings and claims see."""

from collections.abc import Mapping

from explorer.model.measurement import Figures, Measured
from explorer.model.results import Failure
from explorer.topics.question import Question, Target


class Evidence:
    """The outcomes of some measurements; whoever did not answer is left out of every look at a
    question.

    ``target`` is what the measurements were about.
    """

    def __init__(self, measured: Mapping[str, Measured], target: Target | None = None) -> None:
        self._measured = dict(measured)
        self.target = target or Target()

    def __getitem__(self, question: Question) -> dict[str, Figures]:
        """What each party found that was asked ``question`` and answered, in the question's order."""
        answers: dict[str, Figures] = {}
        for party in question.asks:
            measured = self._measured.get(question.measurement_name(party))
            if measured is not None and measured.error is None:
                answers[party] = measured.figures
        return answers

    def timings(self, question: Question) -> dict[str, dict[str, float]]:
        """The seconds that each party took that was asked ``question`` and answered."""
        return {
            party: self._measured[question.measurement_name(party)].timings
            for party in self[question]
        }

    def answered(self, *questions: Question) -> bool:
        """Whether everybody answered who was asked one of ``questions``."""
        return all(len(self[question]) == len(question.asks) for question in questions)

    @property
    def failures(self) -> dict[str, Failure]:
        """Why the measurements without figures have none, by their names."""
        failures: dict[str, Failure] = {}
        for name, measured in self._measured.items():
            if measured.error:
                failures[name] = measured.error
        return failures
