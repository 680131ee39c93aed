"""How the evidence of a claim is made of figures, and its verdict by MindSpore's styles."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from explorer.model.claim import ClaimVerdict, Observation, Ruling
from explorer.model.message import Message, Text
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import grouped
from explorer.topics.question import MINDSPORE_STYLES

Answer = TypeVar("Answer")


def plain(figure: Any) -> Text:
    """A figure as it is, if it is a message, or as Python prints it."""
    return figure if isinstance(figure, Message) else str(figure)


def outcome(figure: Any, words: Callable[[Any], Text] = plain) -> Text:
    """What an attempt raised, or else the figure in words."""
    return said(figure) if raised(figure) else words(figure)


def of_each(answers: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """One figure of each party, by the keys that lead to it."""
    figures = dict(answers)
    for key in keys:
        figures = {party: figure[key] for party, figure in figures.items()}
    return figures


def for_each(function: Callable[[Any], Answer], figures: Mapping[str, Any]) -> dict[str, Answer]:
    """What a function makes of the figure of each party."""
    return {party: function(figure) for party, figure in figures.items()}


def within(differences: Mapping[str, float], tolerance: float) -> dict[str, bool]:
    """Of whom a difference is no greater than the tolerance."""
    return for_each(lambda difference: difference <= tolerance, differences)


def observed(
    what: Text,
    figures: Mapping[str, Any],
    words: Callable[[Any], Text] = plain,
    expected: Mapping[str, bool] | Callable[[Any], bool] | None = None,
) -> list[Observation]:
    """What parties gave for one thing, a row for each different answer.

    ``words`` is an answer as a reader has it; ``expected`` says of whom the answer is as stated, or
    whether an answer is.
    """
    answers: dict[str, tuple[Text, bool | None]] = {}
    for party, figure in figures.items():
        if callable(expected):
            answers[party] = (words(figure), expected(figure))
        else:
            answers[party] = (words(figure), (expected or {}).get(party))
    rows = []
    for parties, (value, is_expected) in grouped(answers):
        rows.append(Observation(what, value, tuple(parties), is_expected))
    return rows


def holds_or(
    otherwise: ClaimVerdict, seen: tuple[Observation, ...], is_right: bool, advice: Text = ""
) -> Ruling:
    """The verdict "holds" where a statement is right, and another verdict where it is not."""
    return Ruling("holds" if is_right else otherwise, seen, advice)


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
