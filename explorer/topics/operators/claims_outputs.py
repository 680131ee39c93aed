"""Claims about what operators compute with equal weights and settings: inference, and gradients
through each of them.
"""

from typing import Any

from explorer.model.claim import Ruling
from explorer.topics.evidence import Evidence
from explorer.topics.operators.asked import DROPOUT_MASK, GRADIENTS, INFERENCE
from explorer.topics.operators.facts import ROUNDING, furthest, reproducible
from explorer.topics.operators.shown import TITLES, found
from explorer.topics.operators.telling_agreement import by_operator, compared
from explorer.topics.topic import Claim

REFERENCE = "torch-tape"


def _inference(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    runs = found(evidence, INFERENCE)
    reference = runs[REFERENCE]
    far = {
        mode: max(furthest(each[mode][0], reference[mode][0]) for each in runs.values())
        for mode in ("inference", "training")
    }
    loose = [TITLES[who] for who, each in runs.items() if not reproducible(each["inference"])]
    again = [TITLES[who] for who, each in runs.items() if reproducible(each["training"])]
    seen = (
        f"{expects['calls']} calls of one net with given weights: "
        f"{f'not equal in {loose}' if loose else 'equal in every engine'}; "
        f"greatest difference from {TITLES[REFERENCE]} {far['inference']:.1e} in inference, {far['training']:.1e} in training"
    )
    if loose or far["inference"] > ROUNDING:
        return Ruling(
            "does_not_hold",
            seen,
            "Find the first layer whose outputs differ before you compare anything that is trained.",
        )
    if len(again) == len(runs) and far["training"] <= ROUNDING:
        return Ruling(
            "holds_with_changes",
            f"{seen}; training outputs agree as well",
            "Compare training outputs too: they agree.",
        )
    note = "Copy the weights, switch both nets to inference and compare outputs first; dropout draws other masks on each side."
    return Ruling("holds", seen, note)


def _gradients(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    gradients = found(evidence, GRADIENTS)
    first, second = (compared(gradients, order) for order in ("first", "second"))
    masks = [
        TITLES[who]
        for who, each in found(evidence, DROPOUT_MASK).items()
        if each["output"] != each["gradient"]
    ]
    lacking = by_operator(second[2])
    seen = (
        f"first order: {len(first[0])} of {sum(map(len, first))} agree with PyTorch's tape; second order: {len(second[0])} agree"
        f"{f', not defined: {lacking}' if lacking else ''}; "
        f"dropout's gradient is its mask {'everywhere' if not masks else 'but not in ' + ', '.join(masks)}"
    )
    apart = first[1] + second[1]
    if apart or masks:
        seen += f"; apart: {by_operator(apart)}" if apart else ""
        styles = {who for who, _ in apart} & {"mindspore-graph", "mindspore-tape"}
        if len(styles) == 1 and not masks and not any(who.startswith("torch") for who, _ in apart):
            return Ruling(
                "depends_on_style",
                seen,
                "Take the gradient in the style that agrees, and check the other one.",
            )
        return Ruling(
            "does_not_hold",
            seen,
            "Check these operators' gradients against central differences before you train.",
        )
    if first[2]:
        return Ruling(
            "does_not_hold",
            f"{seen}; no gradient: {by_operator(first[2])}",
            "Replace the operators without a gradient.",
        )
    if not first[0] or not second[0]:
        return Ruling(
            "does_not_hold", seen, "Nothing could be compared: check the operators one by one."
        )
    note = "Say every setting yourself, and gradients need no further check"
    return Ruling(
        "holds",
        seen,
        f"{note}; for a second order, avoid the operators that have none."
        if lacking
        else f"{note}.",
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=40,
        topic="networks",
        statement="Inference is deterministic and can be compared across the frameworks before training can.",
        guides=("000",),
        would="With the same weights every call at inference gives the same outputs, in both frameworks; in training mode not.",
        measurements=tuple(INFERENCE.values()),
        judge=_inference,
        expects={"calls": 3},
    ),
    Claim(
        id=51,
        topic="operators",
        statement="Gradients through each of these operators agree when all settings are made equal.",
        guides=("000",),
        would="First and second derivatives of every operator agree but for rounding, wherever they are defined.",
        measurements=(*GRADIENTS.values(), *DROPOUT_MASK.values()),
        judge=_gradients,
    ),
)
