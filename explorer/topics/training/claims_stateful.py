"""The claim about a function with a state: an optimizer inside what ms.jit compiles."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
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
    keeping = []
    for party, figures in evidence[STATEFUL].items():
        if _is_kept(figures["by itself"], figures["ms.jit"]):
            keeping.append(PARTIES[party].style)

    seen = tuple(_compared(evidence[STATEFUL]))
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


def _compared(answers: Mapping[str, Figures]) -> Iterator[Observation]:
    """What both ways left, or what one of them raised."""
    differences: dict[str, str] = {}
    as_stated: dict[str, bool] = {}
    left: dict[str, dict[str, str]] = {name: {} for name in STATE[1:]}
    for party, figures in answers.items():
        plain, jitted = figures["by itself"], figures["ms.jit"]
        failed = [figure for figure in (plain, jitted) if raised(figure)]
        if failed:
            differences[party], as_stated[party] = said(failed[0]), False
            continue
        differences[party] = f"{_difference(plain, jitted):.1e}"
        as_stated[party] = _difference(plain, jitted) <= NEAR
        for name, texts in left.items():
            texts[party] = digits(jitted[name])
    what = "greatest difference of losses and state with and without ms.jit"
    yield from observed(what, differences, str, as_stated)
    for name, texts in left.items():
        yield from observed(f"{name} under ms.jit", texts)
    for party, figures in answers.items():
        plain, jitted = figures["by itself"], figures["ms.jit"]
        if not raised(plain) and not raised(jitted) and "dispatched" in jitted:
            yield Observation("operators dispatched", str(plain["dispatched"]), (party,))
            count = jitted["dispatched"]
            yield Observation("operators dispatched under ms.jit", str(count), (party,), not count)
