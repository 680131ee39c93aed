"""Claims about gradients between the backward pass and the update: clipping and accumulation."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.topics.evidence import Evidence
from explorer.topics.question import FRAMEWORKS
from explorer.topics.training.differences import (
    NEAR,
    accumulation_difference,
    list_difference,
)
from explorer.topics.training.findings_gradients import clipping_difference
from explorer.topics.training.questions import (
    ACCUMULATION,
    ACCUMULATION_BATCH_NORM,
    CLIPPING,
    TOPIC,
)


@TOPIC.claim(
    16,
    "ops.clip_by_global_norm clips gradients to norm 1 by default,"
    " and to any norm as clip_grad_norm_ does.",
    heading="gradients",
    guides=("004",),
    would="the default is 1.0, and both return the same gradients for every norm",
    asks=(CLIPPING,),
    expects={"default": 1.0, "gradients": [[3 / 13, 4 / 13], [12 / 13]]},
)
def clipping(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both frameworks clip alike and MindSpore's default norm is still the guide's; with
    changes when only the default is another.
    """
    figures = evidence[CLIPPING]["mindspore"]
    difference = clipping_difference(evidence)
    default, by_default = figures["default"], figures["by default"]
    brief = [[round(value, 4) for value in gradient] for gradient in by_default]
    seen = f"default clip_norm {default}: {brief}; at most {difference:.1e} from clip_grad_norm_"
    if difference > NEAR:
        return Ruling(
            "does_not_hold", seen, "Compare clipped gradients before you compare training runs."
        )
    if default != expects["default"] or list_difference(by_default, expects["gradients"]) > NEAR:
        return Ruling("holds_with_changes", seen, "Name the norm: the default is not 1 any more.")
    return Ruling(
        "holds",
        seen,
        "Pass the result on: MindSpore returns clipped gradients,"
        " while clip_grad_norm_ changes .grad and has no default norm.",
    )


@TOPIC.claim(
    17,
    "Gradients of micro-batches add up to the whole batch's:"
    " divided by their number where the loss is a mean.",
    heading="gradients",
    guides=("004",),
    would="four micro-batches' gradients sum to the whole batch's if the loss is a sum,"
    " to four times it if a mean",
    asks=(ACCUMULATION, ACCUMULATION_BATCH_NORM),
)
def accumulation(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when, with batch norm in inference, the gradients of a sum add up as they are and those
    of a mean only once divided.
    """
    undivided, divided, of_sum, with_batch_norm = [], [], [], []
    for framework in FRAMEWORKS:
        figures = evidence[ACCUMULATION][framework]
        undivided.append(accumulation_difference(figures, "mean", "added"))
        divided.append(accumulation_difference(figures, "mean", "divided"))
        of_sum.append(accumulation_difference(figures, "sum", "added"))
        in_training = evidence[ACCUMULATION_BATCH_NORM][framework]
        with_batch_norm.append(accumulation_difference(in_training, "mean", "divided"))

    seen = (
        f"mean: off by {max(divided):.1e} divided by 4 ({min(undivided):.1e} undivided);"
        f" sum: {max(of_sum):.1e}; batch norm in training: {max(with_batch_norm):.1e}"
    )
    if max(divided) > NEAR or max(of_sum) > NEAR:
        return Ruling(
            "does_not_hold", seen, "Check the reduction of the loss: the gradients do not add up."
        )
    # Dividing is the point of the claim: it must be wrong not to.
    if min(undivided) <= NEAR:
        return Ruling(
            "does_not_hold", seen, "Do not divide: the gradients of a mean add up as they are."
        )
    advice = "Divide by the number of micro-batches if the loss is a mean"
    if max(with_batch_norm) > NEAR:
        # Each micro-batch is normalised by its own mean and variance, not by the whole batch's.
        advice += (
            "; batch norm in training sees each micro-batch alone, so keep it out of the comparison"
        )
    return Ruling("holds", seen, f"{advice}.")
