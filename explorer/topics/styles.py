"""Verdicts about MindSpore by its two styles, for claims that are true of graph, of tape, or of
both.
"""

from collections.abc import Mapping

from explorer.model.claim import ClaimVerdict, Ruling
from explorer.topics.question import MINDSPORE_STYLES

SHORT_LABELS = {"mindspore-graph": "graph", "mindspore-tape": "tape", "torch-tape": "PyTorch"}
"""What the evidence of such a claim calls who was asked."""


def by_style(right: Mapping[str, bool]) -> ClaimVerdict:
    """ "holds" when MindSpore is ``right`` in both styles, "depends_on_style" when it is in one of
    them, else "does_not_hold"; other parties in ``right`` have no say.
    """
    verdicts = [right[style] for style in MINDSPORE_STYLES]
    if all(verdicts):
        return "holds"
    return "depends_on_style" if any(verdicts) else "does_not_hold"


def ruling_by_style(
    right: Mapping[str, bool], seen: str, advice: Mapping[ClaimVerdict, str]
) -> Ruling:
    """The verdict of ``by_style`` with the evidence ``seen``, and the advice that goes with it."""
    verdict = by_style(right)
    return Ruling(verdict, seen, advice[verdict])
