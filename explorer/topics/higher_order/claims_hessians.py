"""The claim that MindSpore's second derivatives are wrong without a message (row 84)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order.operators import words
from explorer.topics.higher_order.questions import SMALL_HESSIANS, TOPIC
from explorer.topics.higher_order.small_hessians import (
    HESSIAN,
    NESTED,
    closed_form,
    wrong_in_silence,
)
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import SHORT_LABELS

NOTHING_WRONG = Observation("calls that return wrong numbers", "none", expected=False)

VECTOR, COLUMN = "product_with_vector", "product_with_column"

Wrong = Mapping[str, Mapping[str, Sequence[str]]]
"""The functions with wrong numbers, by style and call."""


@TOPIC.claim(
    84,
    "Nested gradients lose terms in silence on MindSpore's tape, and jacfwd of grad through a matrix"
    " product is wrong in both styles.",
    heading="gradients",
    guides=("ours",),
    would=(
        "grad of grad returns wrong numbers in tape style and right ones in graph style, and both"
        " styles return a wrong Hessian of |A·sin x|²"
    ),
    asks=(SMALL_HESSIANS,),
)
def silently_wrong(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when calls return numbers that are not the closed form's, just where it is said.

    It holds with changes when they do elsewhere, and is outdated when they do nowhere. PyTorch must
    be right, or the closed forms prove nothing.
    """
    answers = evidence[SMALL_HESSIANS]
    wrong = {party: wrong_in_silence(figures) for party, figures in answers.items()}
    seen = tuple(_shown(answers, wrong)) or (NOTHING_WRONG,)
    if any(wrong["torch-func"].values()):
        return Ruling(
            "does_not_hold",
            seen,
            "Hold second derivatives against central differences in both frameworks.",
        )
    by_mindspore = {style: wrong[style] for style in MINDSPORE_STYLES}
    if not any(any(by_call.values()) for by_call in by_mindspore.values()):
        return Ruling("outdated", seen, "Nest grad, and take Jacobians of it, in either style.")
    loses = {style: bool(by_call[NESTED]) for style, by_call in by_mindspore.items()}
    misses = [VECTOR in by_mindspore[style][HESSIAN] for style in MINDSPORE_STYLES]
    as_said = loses["mindspore-tape"] and not loses["mindspore-graph"] and all(misses)
    advice = " ".join(_advice(by_mindspore, answers))
    return Ruling("holds" if as_said else "holds_with_changes", seen, advice)


def _shown(answers: Mapping[str, Any], wrong: Wrong) -> Iterator[Observation]:
    """What is wrong, each with what it should be; and what MindSpore refuses."""
    for party, by_call in wrong.items():
        for call, functions in by_call.items():
            for function in functions:
                figure = digits(answers[party][function][call])
                truth = digits(closed_form(function, call))
                value = f"{figure} instead of {truth}"
                yield Observation(f"{call} of {words(function)}", value, (party,), expected=True)
        for function, figures in answers[party].items():
            for call, figure in figures.items():
                if raised(figure):
                    value = f"raises {said(figure)}"
                    yield Observation(f"{call} of {words(function)}", value, (party,))


def _advice(wrong: Wrong, answers: Mapping[str, Any]) -> Iterator[str]:
    """Where second derivatives can be had, by what was right."""
    right = [SHORT_LABELS[style] for style in wrong if not wrong[style][NESTED]]
    if right:
        yield f"Nest grad in {' or '.join(right)} style."
    else:
        yield "Do not nest grad here."
    misses = [style for style in wrong if VECTOR in wrong[style][HESSIAN]]
    if not misses:
        return
    if all(_is_right(wrong, answers, style) for style in misses):
        yield "For a Hessian multiply by a matrix of one column, not by a vector: that one is right."
    else:
        yield "Hold every Hessian against central differences."


def _is_right(wrong: Wrong, answers: Mapping[str, Any], style: str) -> bool:
    """Whether the Hessian of the product with a column is right in a style."""
    figure = answers[style][COLUMN][HESSIAN]
    return not raised(figure) and COLUMN not in wrong[style][HESSIAN]
