"""The claim about a function with a state: an optimizer inside what ms.jit compiles."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.question import PARTIES
from explorer.topics.training.differences import NEAR
from explorer.topics.training.questions import STATEFUL, TOPIC

STATE = ("losses", "weight", "moments", "steps counted")
"""What a step under ms.jit must leave as a step by itself does."""


@TOPIC.claim(
    83,
    "A function with a state, such as a step with its optimizer inside, can be jitted whole.",
    heading="training",
    guides=("003",),
    would="losses, weight, moments and the count of steps are the same with and without ms.jit, and"
    " no operator is dispatched by itself under ms.jit",
    asks=(STATEFUL,),
)
def stateful(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ms.jit keeps the figures in both styles, and makes one graph of the step.

    Depends on style when it does in one.
    """
    keeping, sentences = [], []
    for party, figures in evidence[STATEFUL].items():
        style = PARTIES[party].style
        plain, jitted = figures["by itself"], figures["ms.jit"]
        sentences.append(f"{style} style: {_compared(plain, jitted)}")
        if _is_kept(plain, jitted):
            keeping.append(style)

    seen = "; ".join(sentences)
    if len(keeping) == len(evidence[STATEFUL]):
        return Ruling("holds", seen, "Put the optimizer's call inside the function, and jit that.")
    if keeping:
        advice = f"Jit a step with its optimizer in {keeping[0]} style."
        return Ruling("depends_on_style", seen, advice)
    return Ruling("does_not_hold", seen, "Jit the gradients alone, and call the optimizer outside.")


def _is_kept(plain: Any, jitted: Any) -> bool:
    """Whether the step leaves the same under ms.jit, where nothing is dispatched by itself."""
    if raised(plain) or raised(jitted):
        return False
    # In graph style the dispatch cannot be observed.
    return _difference(plain, jitted) <= NEAR and not jitted.get("dispatched")


def _difference(plain: Figures, jitted: Figures) -> float:
    return max(greatest_difference(jitted[name], plain[name]) for name in STATE)


def _compared(plain: Any, jitted: Any) -> str:
    """What both ways left, or what one of them raised."""
    for figure in (plain, jitted):
        if raised(figure):
            return said(figure)
    text = (
        f"at most {_difference(plain, jitted):.1e} apart, with weight {digits(jitted['weight'])},"
        f" moments {digits(jitted['moments'])} and {digits(jitted['steps counted'])} steps counted"
    )
    if "dispatched" in jitted:
        text += (
            f", {plain['dispatched']} operators dispatched and {jitted['dispatched']} under ms.jit"
        )
    return text
