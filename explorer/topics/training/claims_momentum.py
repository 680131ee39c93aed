"""The claim about momentum written by hand, and about the step that scales its loss (row 60)."""

import re
from typing import Any

from explorer.model.claim import Ruling
from explorer.text.messages import first_statement
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.training.momentum import FUSED, MEANT, PRINTED, left, styles_that_agree
from explorer.topics.training.questions import MOMENTUM, SCALED_STEP, TOPIC

MISSING_KERNEL = re.compile(r"Unsupported op \[(?P<operator>\w+)\] on (?P<device>\w+)")
"""How MindSpore says that a device has no kernel of an operator (2.10.0)."""


@TOPIC.claim(
    60,
    "A momentum optimizer can be written from small operators, or around the fused ApplyMomentum;"
    " TrainOneStepWithLossScaleCell scales within the step.",
    heading="optimizers",
    guides=("002", "000"),
    sections={"002": "Custom optimizers", "000": "MindSpore Automatic Differentiation"},
    would="both printed optimizers leave the weight where nn.Momentum does, and the scaled step runs",
    asks=(MOMENTUM, SCALED_STEP),
)
def momentum(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both printed optimizers take nn.Momentum's steps and the scaled step runs.

    It depends on the style when either is so in one style alone. Not checkable where only a kernel
    is missing.
    """
    styles = evidence[MOMENTUM]["mindspore"]
    steps = evidence[SCALED_STEP]["mindspore"]
    refused = {style: figure for style, figure in steps.items() if raised(figure)}
    seen = f"{_momentum_seen(styles)}; TrainOneStepWithLossScaleCell: {_steps_seen(steps)}"

    printed = styles_that_agree(styles, PRINTED)
    if not printed:
        if len(styles_that_agree(styles, MEANT)) == len(styles):
            advice = (
                "Use nn.Momentum; by hand, let each moment become momentum times itself plus the"
                " gradient, take the rate times it from the weight, and set self.momentum."
            )
        else:
            advice = "Use nn.Momentum: neither the printed classes nor their repair take its steps."
        return Ruling("does_not_hold", seen, advice)
    if len(printed) < len(styles):
        return Ruling(
            "depends_on_style", seen, f"Use the printed optimizers in {printed[0]} style alone."
        )

    if not refused:
        return Ruling("holds", seen, "Take either optimizer, and the cell to scale the loss.")
    in_step = "Scale with ms.amp in a step of your own"
    if len(refused) < len(steps):
        return Ruling("depends_on_style", seen, f"{in_step} in {' and '.join(refused)} style.")
    if all(MISSING_KERNEL.search(figure["message"]) for figure in refused.values()):
        return Ruling("not_checkable_here", seen, f"{in_step}: the cell needs another device.")
    return Ruling("does_not_hold", seen, f"{in_step}: the cell fails.")


def _momentum_seen(styles: dict[str, Any]) -> str:
    """What each way leaves of the weight; styles that agree stand together."""
    sentences = []
    for way in (FUSED, *PRINTED, *MEANT):
        outcomes = []
        for names, outcome in grouped({style: left(paths[way]) for style, paths in styles.items()}):
            shown = first_statement(said(outcome)) if raised(outcome) else digits(outcome)
            outcomes.append(f"{shown} ({' and '.join(names)})")
        sentences.append(f"{way}: {', '.join(outcomes)}")
    return "; ".join(sentences)


def _steps_seen(steps: dict[str, Any]) -> str:
    """The loss of the scaled step or what it raised; what hardware it needs where a name says so."""
    outcomes = []
    for names, figure in grouped(steps):
        if not raised(figure):
            outcomes.append(f"loss {figure} ({' and '.join(names)})")
            continue
        outcome = first_statement(said(figure))
        missing = MISSING_KERNEL.search(figure["message"])
        if missing and missing["operator"].startswith("NPU"):
            outcome += ", an operator of Ascend NPUs"
        outcomes.append(f"{outcome} ({' and '.join(names)})")
    return ", ".join(outcomes)
