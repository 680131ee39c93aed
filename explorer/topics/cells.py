"""What a table says where there is nothing to show, and why there is nothing."""

from collections.abc import Mapping

from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES, Question

EMPTY = "-"
"""What stands in a cell without a figure."""


def why_empty(
    evidence: Evidence, *questions: Question, labels: Mapping[str, str] | None = None
) -> str:
    """Why cells of some parties are empty, in sentences, each of them once; "" when none are.

    A sentence is "MindSpore, graph: not measured.", or has the message of what went wrong.
    ``labels`` gives parties other names than those of PARTIES.
    """
    sentences: dict[str, None] = {}
    for question in questions:
        answers = evidence[question]
        for party in question.asks:
            if party in answers:
                continue
            label = (labels or {}).get(party, PARTIES[party].label)
            sentences[f"{label}: {reason(evidence, question, party)}."] = None
    return " ".join(sentences)


def reason(evidence: Evidence, question: Question, party: str, *, with_type: bool = False) -> str:
    """Why there are no figures of a party: the message of its failure, or "not measured".

    ``with_type`` puts the type of the failure before its message.
    """
    failure = evidence.failures.get(question.measurement_name(party))
    if failure is None:
        return "not measured"
    return failure.text if with_type else failure.message


def no_figures(evidence: Evidence) -> str:
    """Which measurements of a topic have no figures, a sentence for each reason; "" when all have."""
    names_by_reason: dict[str, list[str]] = {}
    for name, failure in evidence.failures.items():
        _, _, within_topic = name.partition(".")
        names_by_reason.setdefault(failure.text, []).append(within_topic)
    sentences = [
        f"No figures of {', '.join(names)}: {reason}." for reason, names in names_by_reason.items()
    ]
    return " ".join(sentences)
