"""Claims about the base class of optimizers: its loss_scale, and what it tells of its groups."""

from collections.abc import Iterator
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.training.differences import NEAR
from explorer.topics.training.inputs import OWN_MOMENTUM, OWN_RATE, RATE
from explorer.topics.training.questions import LOSS_SCALE, PARAM_GROUPS, TOPIC
from explorer.topics.training.update_rules import PLACES


@TOPIC.claim(
    66,
    "The argument loss_scale of MindSpore's optimizers divides the gradient;"
    " PyTorch's have no such argument.",
    heading="optimizers",
    guides=("002",),
    would="a step with gradient 4 and loss_scale 4 leaves what a step with gradient 1 leaves",
    asks=(LOSS_SCALE,),
    sections={"002": "Arguments of the base class: mixed precision"},
)
def loss_scale(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when mindspore.nn divides by it, and PyTorch refuses it.

    With changes when MindSpore's experimental optimizers refuse it too; outdated when PyTorch takes
    it, or mindspore.nn does not any more.
    """
    figures = evidence[LOSS_SCALE]
    refusing = [place for place in PLACES if raised(figures[place]["scaled"])]
    seen = (*_steps_seen(figures, refusing), *_calls_seen(figures))
    if "nn" in refusing:
        return Ruling("outdated", seen, "Divide the gradients yourself before the step.")
    nn = figures["nn"]
    if abs(nn["scaled"] - nn["divided by hand"]) > NEAR:
        return Ruling(
            "does_not_hold",
            seen,
            "Divide the gradients yourself: the optimizer does something else with loss_scale.",
        )
    if "torch" not in refusing:
        return Ruling("outdated", seen, "Compare a step with loss_scale in both frameworks.")

    if abs(nn["scaled, decayed"] - nn["divided by hand, decayed"]) > NEAR:
        advice = "Set weight_decay for the scaled loss, as it is divided too"
    else:
        advice = "Leave weight_decay as it is, as the gradient alone is divided"
    if raised(nn["as printed"]["SGD"]):
        advice += "; name the arguments, as SGD takes them in another order than the base class"
    if "experimental" in refusing:
        return Ruling(
            "holds_with_changes",
            seen,
            f"{advice}; in mindspore.experimental.optim and PyTorch divide the gradients yourself.",
        )
    return Ruling("holds", seen, f"{advice}; in PyTorch divide the gradients yourself.")


STEPS = {
    "scaled": "gradient 4 and loss_scale 4",
    "whole": "gradient 4",
    "divided by hand": "gradient 4, divided by hand",
    "scaled, decayed": "gradient 4, loss_scale 4 and weight_decay",
    "divided by hand, decayed": "gradient 4, divided by hand, and weight_decay",
}
"""The steps in words, by the names of their figures."""


def _steps_seen(figures: Figures, refusing: list[str]) -> Iterator[Observation]:
    """What each step leaves of 1; where loss_scale is refused, no other step is taken."""
    for step, called in STEPS.items():
        left: dict[str, Any] = {}
        as_stated: dict[str, bool] = {}
        for place in PLACES:
            if step not in figures[place]:
                continue
            left[place] = figures[place][step]
            if step == "scaled":
                # In PyTorch it is said to be unknown, and to divide everywhere else.
                as_stated[place] = (place == "torch") == (place in refusing)
        yield from observed(f"weight of 1 after a step with {called}", left, _left, as_stated)


def _left(figure: Any) -> str:
    return said(figure) if raised(figure) else f"{figure:.4g}"


def _calls_seen(figures: Figures) -> Iterator[Observation]:
    """What becomes of the guide's call of an optimizer, class by class."""
    for place in ("nn", "torch"):
        for name, figure in figures[place]["as printed"].items():
            outcome = said(figure) if raised(figure) else "works"
            yield Observation(f"{name}(…) as printed", outcome, (place,))


@TOPIC.claim(
    67,
    "PyTorch's param_groups tells the settings of each group of parameters;"
    " MindSpore has nothing like it.",
    heading="optimizers",
    guides=("002",),
    would="param_groups has the rate and momentum of both groups in PyTorch, and is unknown to"
    " MindSpore's optimizers",
    asks=(PARAM_GROUPS,),
    sections={"002": "Methods of the base class: state of the optimizer"},
    expects={"keys": ["params", "lr", "momentum", "dampening", "weight_decay", "nesterov"]},
)
def param_groups(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch alone tells the settings that were made.

    With changes when MindSpore's experimental optimizers do too, outdated when those of
    mindspore.nn do.
    """
    groups = {place: evidence[PARAM_GROUPS][place]["groups"] for place in PLACES}
    telling = [place for place, figure in groups.items() if _tells(figure, expects["keys"])]
    # The statement is that PyTorch alone has them.
    as_stated = {place: (place == "torch") == (place in telling) for place in groups}
    seen = tuple(observed("param_groups", groups, _brief_groups, as_stated))
    if "torch" not in telling:
        return Ruling(
            "does_not_hold",
            seen,
            "Print an optimizer before you read its settings: these are not the guide's any more.",
        )
    if "nn" in telling:
        return Ruling("outdated", seen, "Read param_groups in both frameworks.")
    if "experimental" in telling:
        return Ruling(
            "holds_with_changes",
            seen,
            "Read param_groups of mindspore.experimental.optim as PyTorch's;"
            " of mindspore.nn, keep the list of groups that you gave it.",
        )
    return Ruling("holds", seen, "Keep the list of groups that you gave to MindSpore's optimizer.")


def _tells(groups: Any, keys: list[str]) -> bool:
    """Whether groups have all of the keys, and the settings that were made."""
    if raised(groups) or len(groups) != 2:
        return False
    if not all(key in group for group in groups for key in keys):
        return False
    # float32 has about seven digits of a rate.
    settings = [(group["lr"], group["momentum"]) for group in groups]
    made = [(OWN_RATE, OWN_MOMENTUM), (RATE, OWN_MOMENTUM)]
    for told, expected in zip(settings, made, strict=True):
        if any(abs(one - other) > NEAR for one, other in zip(told, expected, strict=True)):
            return False
    return True


def _brief_groups(groups: Any) -> str:
    if raised(groups):
        return said(groups)
    rates = [f"{group['lr']:.4g}" if "lr" in group else "none" for group in groups]
    keys = ", ".join(groups[0]) if groups else "none"
    return f"lr {' and '.join(rates)}, keys {keys}"
