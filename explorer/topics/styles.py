"""Verdicts about MindSpore by style, for claims that are true of graph, of tape, or of both."""

from collections.abc import Mapping

from explorer.model.claim import ClaimVerdict, Observation, Ruling
from explorer.model.message import Text
from explorer.topics.question import MINDSPORE_STYLES

SHORT_LABELS = {"mindspore-graph": "graph", "mindspore-tape": "tape", "torch-tape": "PyTorch"}
"""The names of the parties in the evidence of such a claim."""


def by_style(right: Mapping[str, bool]) -> ClaimVerdict:
    """The verdict on a statement for which MindSpore is ``right`` or not, by style.

    "holds" when it is right in both styles, "depends_on_style" when in one of them, else
    "does_not_hold". Other parties in ``right`` have no say.
    """
    right_styles = [style for style in MINDSPORE_STYLES if right[style]]
    if len(right_styles) == len(MINDSPORE_STYLES):
        return "holds"
    if right_styles:
        return "depends_on_style"
    return "does_not_hold"


def ruling_by_style(
    right: Mapping[str, bool],
    seen: tuple[Observation, ...],
    advice: Mapping[ClaimVerdict, Text] | None = None,
) -> Ruling:
    """The verdict of ``by_style`` with the evidence ``seen``, and the advice for that verdict."""
    verdict = by_style(right)
    return Ruling(verdict, seen, advice[verdict] if advice else "")
