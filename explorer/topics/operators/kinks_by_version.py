"""The gradient of each engine at each kink, on several versions of its framework."""

from collections.abc import Iterator, Sequence

from explorer.model.claim import VersionsFact
from explorer.model.engines import engine_named
from explorer.model.message import Text
from explorer.topics.evidence import Evidence
from explorer.topics.operators.findings_kinks import gradient, measured_kinks
from explorer.topics.operators.questions import FOUR_ENGINES, GRADIENTS_AT_KINKS
from explorer.topics.operators.wording import LABELS
from explorer.topics.question import Question


def questions(framework: str) -> list[Question]:
    """What is asked of the engines of one framework."""
    engines = _engines(framework)
    return [question.by(*engines) for question in GRADIENTS_AT_KINKS.values()]


def _engines(framework: str) -> list[str]:
    return [engine for engine in FOUR_ENGINES if engine_named(engine).framework == framework]


def facts(evidences: Sequence[Evidence]) -> Iterator[VersionsFact]:
    """The gradients at all kinks; there is evidence of each version."""
    measured = [{each.kink.name: each for each in measured_kinks(one)} for one in evidences]
    kinks = {name: each for of_version in measured for name, each in of_version.items()}
    for name, kink in kinks.items():
        for engine in FOUR_ENGINES:
            values: list[Text | None] = []
            for of_version in measured:
                answers = of_version[name].answers if name in of_version else {}
                values.append(gradient(answers[engine]) if engine in answers else None)
            yield VersionsFact(kind="kink", at=kink.where, of=LABELS[engine], values=tuple(values))
