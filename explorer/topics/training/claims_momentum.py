"""The claim about momentum written by hand, and about the step that scales its loss (row 60)."""

import re
from collections.abc import Iterator
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.text.messages import first_statement
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
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
    seen = (*_momentum_seen(styles), *_steps_seen(steps))

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


def _momentum_seen(styles: dict[str, Any]) -> Iterator[Observation]:
    """What each way leaves of the weight."""
    for way in (FUSED, *PRINTED, *MEANT):
        weights = {f"mindspore-{style}": left(paths[way]) for style, paths in styles.items()}
        as_stated: dict[str, bool] = {}
        if way in PRINTED:
            agreeing = styles_that_agree(styles, (way,))
            as_stated = {f"mindspore-{style}": style in agreeing for style in styles}
        yield from observed(f"weight after three steps of {way}", weights, _left, as_stated)


def _left(outcome: Any) -> str:
    return first_statement(said(outcome)) if raised(outcome) else digits(outcome)


def _steps_seen(steps: dict[str, Any]) -> Iterator[Observation]:
    """The loss of the scaled step or what it raised."""
    losses = {f"mindspore-{style}": figure for style, figure in steps.items()}
    as_stated = {party: not raised(figure) for party, figure in losses.items()}
    what = "loss of TrainOneStepWithLossScaleCell"
    yield from observed(what, losses, _loss, as_stated)


def _loss(figure: Any) -> str:
    """A loss, or what was raised, with the hardware that it needs where a name tells."""
    if not raised(figure):
        return str(figure)
    outcome = first_statement(said(figure))
    missing = MISSING_KERNEL.search(figure["message"])
    if missing and missing["operator"].startswith("NPU"):
        outcome += ", an operator of Ascend NPUs"
    return outcome
