"""The claim about a function with a state: an optimizer inside what ms.jit compiles."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.training.differences import NEAR
from explorer.topics.training.questions import STATEFUL, TOPIC


@TOPIC.claim(
    83,
    "A function with a state, such as a step with its optimizer inside, can be jitted whole.",
    heading="training",
    guides=("003",),
    would="losses, weight, moments and the count of steps are the same with and without ms.jit",
    asks=(STATEFUL,),
)
def stateful(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ms.jit keeps the figures in both styles; depends on style when in one."""
    keeping, sentences = [], []
    for party, figures in evidence[STATEFUL].items():
        plain, jitted = figures["by itself"], figures["ms.jit"]
        style = PARTIES[party].style
        refusals = [said(figure) for figure in (plain, jitted) if raised(figure)]
        if refusals:
            sentences.append(f"{style} style: {refusals[0]}")
            continue
        difference = max(greatest_difference(jitted[name], plain[name]) for name in plain)
        if difference <= NEAR:
            keeping.append(style)
        sentences.append(
            f"{style} style: at most {difference:.1e} apart, with weight {digits(jitted['weight'])}"
            f" and moments {digits(jitted['moments'])} after"
            f" {digits(jitted['steps counted'])} steps"
        )

    seen = "; ".join(sentences)
    if len(keeping) == len(evidence[STATEFUL]):
        return Ruling("holds", seen, "Put the optimizer's call inside the function, and jit that.")
    if keeping:
        return Ruling(
            "depends_on_style", seen, f"Jit a step with its optimizer in {keeping[0]} style."
        )
    return Ruling("does_not_hold", seen, "Jit the gradients alone, and call the optimizer outside.")
