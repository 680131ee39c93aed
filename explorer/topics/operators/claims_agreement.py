"""Claims about operators with equal weights and settings: outputs, gradients (rows 40 and 51)."""

from collections.abc import Iterator
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.operators.findings_agreement import (
    REFERENCE,
    Agreement,
    by_operator,
    compared,
    first_call_difference,
)
from explorer.topics.operators.questions import DROPOUT_MASK, INFERENCE, OPERATOR_GRADIENTS, TOPIC
from explorer.topics.operators.readings import ROUNDING, reproducible
from explorer.topics.operators.wording import LABELS
from explorer.topics.question import MINDSPORE_STYLES


@TOPIC.claim(
    40,
    "Inference is deterministic and can be compared across the frameworks before training can.",
    heading="networks",
    guides=("001",),
    sections={"001": "Constructing Network"},
    would="With the same weights every call at inference gives the same outputs, in both"
    " frameworks; in training mode not.",
    asks=(INFERENCE,),
    expects={"calls": 3},
)
def inference_is_deterministic(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when outputs repeat and agree at inference.

    It holds with changes where those of training do too.
    """
    answers = evidence[INFERENCE]
    inference = _greatest_difference(answers, "inference")
    training = _greatest_difference(answers, "training")
    repeats = {engine: reproducible(each["inference"]) for engine, each in answers.items()}
    # Dropout draws new masks at every call, so that outputs in training should differ.
    training_repeats = all(reproducible(figures["training"]) for figures in answers.values())
    training_agrees = training_repeats and training <= ROUNDING
    seen = (
        *observed(
            f"outputs of {expects['calls']} calls in inference",
            repeats,
            lambda same: "equal" if same else "not equal",
            repeats,
        ),
        Observation(
            f"greatest difference from {LABELS[REFERENCE]} in inference",
            f"{inference:.1e}",
            expected=inference <= ROUNDING,
        ),
        Observation(
            f"greatest difference from {LABELS[REFERENCE]} in training",
            f"{training:.1e}",
            expected=not training_agrees,
        ),
    )
    if not all(repeats.values()) or inference > ROUNDING:
        return Ruling(
            "does_not_hold",
            seen,
            "Find the first layer whose outputs differ before you compare anything that is"
            " trained.",
        )
    if training_agrees:
        return Ruling(
            "holds_with_changes",
            seen,
            "Compare training outputs too: they agree.",
        )
    return Ruling(
        "holds",
        seen,
        "Copy the weights, switch both nets to inference and compare outputs first;"
        " dropout draws other masks on each side.",
    )


def _greatest_difference(answers: dict[str, Figures], mode: str) -> float:
    """Of the outputs of all engines from the reference's, at the first call in a mode."""
    reference = answers[REFERENCE]
    return max(first_call_difference(figures, reference, mode) for figures in answers.values())


@TOPIC.claim(
    51,
    "Gradients through each of these operators agree when all settings are made equal.",
    heading="operators",
    guides=("000",),
    sections={"000": "Differences Between MindSpore and PyTorch Operators"},
    would="First and second derivatives of every operator agree but for rounding, wherever they are"
    " defined.",
    asks=(OPERATOR_GRADIENTS, DROPOUT_MASK),
)
def gradients_agree(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when all first derivatives are defined and agree, and so do the second ones.

    Second derivatives count where they are defined. It depends on the style when one style of
    MindSpore alone does otherwise.
    """
    first = compared(evidence[OPERATOR_GRADIENTS], "first")
    second = compared(evidence[OPERATOR_GRADIENTS], "second")
    # Masks are random, so dropout is compared with itself: for ones, output and gradient are both
    # the mask times 1 / (1 - p).
    is_mask: dict[str, bool] = {}
    for engine, figures in evidence[DROPOUT_MASK].items():
        is_mask[engine] = figures["output"] == figures["gradient"]
    other_masks = [engine for engine, is_same in is_mask.items() if not is_same]
    seen = tuple(_gradients_seen(first, second, is_mask))
    apart = first.differing + second.differing
    failing = {engine for engine, _ in (*apart, *first.undefined)} | set(other_masks)
    if len(failing) == 1 and failing <= set(MINDSPORE_STYLES):
        return Ruling(
            "depends_on_style",
            seen,
            "Take the gradient in the style that agrees, and check the other one.",
        )
    if apart or other_masks:
        return Ruling(
            "does_not_hold",
            seen,
            "Check these operators' gradients against central differences before you train.",
        )
    if first.undefined:
        return Ruling(
            "does_not_hold",
            seen,
            "Replace the operators without a gradient.",
        )
    advice = "Say every setting yourself, and gradients need no further check"
    if second.undefined:
        advice += "; for a second order, avoid the operators that have none"
    return Ruling("holds", seen, f"{advice}.")


def _gradients_seen(
    first: Agreement, second: Agreement, is_mask: dict[str, bool]
) -> Iterator[Observation]:
    """How many derivatives agree with the reference's, and of which operators they do not."""
    reference = LABELS[REFERENCE]
    for order, agreement in (("first", first), ("second", second)):
        what = f"{order} derivatives that agree with {reference}'s"
        share = f"{len(agreement.agreeing)} of {agreement.total}"
        yield Observation(what, share, expected=not agreement.differing)
        if agreement.differing:
            differing = by_operator(agreement.differing)
            yield Observation(f"{order} derivatives that differ", differing, expected=False)
        if agreement.undefined:
            # Where it is not defined a second derivative cannot differ.
            is_first = False if order == "first" else None
            undefined = by_operator(agreement.undefined)
            yield Observation(f"{order} derivatives that are not defined", undefined, (), is_first)
    what = "dropout's gradient is its mask"
    yield from observed(what, is_mask, lambda same: "yes" if same else "no", is_mask)
