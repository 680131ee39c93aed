"""Claims about loss scaling: the guide's example, finite gradients, underflow, dynamic scalers.

Rows 12 to 15.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import number
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale.findings_scalers import answered, refusals, wrongly_answered
from explorer.topics.loss_scale.inputs import TINY
from explorer.topics.loss_scale.life import counts, same_scales
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    LIFE,
    OVERFLOWED_STEP,
    TOPIC,
    UNDERFLOW,
)
from explorer.topics.loss_scale.wording import said_of_route, shown
from explorer.topics.observations import observed
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import by_style, ruling_by_style

HEADING = "loss scaling"
GUIDES = ("004",)

NEARLY = 1e-6
"""Up to this difference a figure is the guide's."""


@TOPIC.claim(
    12,
    "StaticLossScaler(1024) multiplies loss and gradient by 1024, and unscaling brings both back.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "Loss Scale"},
    would=(
        "The loss is 1024 and the gradient [[2048, 4096, 6144]]; unscaled they are 1 and [[2, "
        "4, 6]]."
    ),
    asks=(GUIDE_EXAMPLE,),
    expects={
        "scaled": {"loss": 1024, "gradient": [[2048, 4096, 6144]]},
        "unscaled": {"loss": 1, "gradient": [[2, 4, 6]]},
    },
)
def static_scaler(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when loss and gradient are the guide's, scaled and unscaled."""
    answers = evidence[GUIDE_EXAMPLE]
    right = {}
    seen: list[Observation] = []
    for party, figures in answers.items():
        scaled, unscaled = figures["scaled"], figures["unscaled"]
        right[party] = _near(scaled, expects["scaled"]) and _near(unscaled, expects["unscaled"])
    for which, expected in expects.items():
        for what in expected:
            found = {party: figures[which][what] for party, figures in answers.items()}
            near = {party: _near({what: found[party]}, {what: expected[what]}) for party in found}
            seen.extend(observed(f"{which} {what}", found, shown, near))
    return ruling_by_style(
        right,
        tuple(seen),
        {
            "holds": (
                "Scale the loss inside the function that you differentiate, and unscale the "
                "gradients before the optimizer."
            ),
            "depends_on_style": (
                "Check scaled and unscaled gradients in the style that you use: the two differ."
            ),
            "does_not_hold": (
                "Scale and unscale by hand, and compare with an unscaled run: the scaler does "
                "something else here."
            ),
        },
    )


def _near(figures: Figures, expected: Mapping[str, Any]) -> bool:
    differences = [greatest_difference(figures[name], expected[name]) for name in expected]
    return max(differences) <= NEARLY


@TOPIC.claim(
    13,
    "`all_finite` is True when nothing overflowed, and False for an infinity or NaN.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "Loss Scale"},
    would=(
        "It is False for every case with inf or nan and True for the others, in float16 and "
        "float32."
    ),
    asks=(FINITENESS,),
)
def all_finite(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the check is right about every pair of tensors that it does not refuse."""
    answers = evidence[FINITENESS]
    right = {}
    shares: dict[str, str] = {}
    for party, figures in answers.items():
        count = answered(figures)
        wrong = wrongly_answered(figures)
        right[party] = count > 0 and not wrong  # a check that refuses everything is not right
        shares[party] = f"{count - len(wrong)} of {count}"
        if wrong:
            shares[party] += f", wrong about {', '.join(wrong)}"
    seen = observed("pairs of tensors that the check is right about", shares, str, right)
    for message in refusals(answers["torch"]):
        seen.append(Observation("GradScaler on float16 gradients", message, ("torch",)))
    return ruling_by_style(
        right,
        tuple(seen),
        {
            "holds": (
                "Ask all_finite of the gradients before each step, and leave the step out "
                "when it says False."
            ),
            "depends_on_style": (
                "Ask all_finite in the style that is right about all of these, and isfinite "
                "otherwise."
            ),
            "does_not_hold": (
                "Use isfinite on every gradient instead: all_finite is not to be relied on here."
            ),
        },
    )


GRADIENTS = {
    "without": "without scaling",
    "scaled": "scaled by 65536",
    "unscaled there": "scaled, and unscaled in float16",
    "unscaled in float32": "scaled, and unscaled in float32",
}
"""What is made of a small gradient, in words, by the names of the figures."""


@TOPIC.claim(
    14,
    "Without scaling, small float16 gradients underflow to 0; with scaling they survive.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "Loss Scale"},
    would=(
        "A gradient of 1e-8 is 0 without scaling; scaled by 65536 and unscaled in float32 it "
        "is 1e-8."
    ),
    asks=(UNDERFLOW,),
    expects={"within": 0.01},  # float16 rounds the scaled gradient to 11 bits
)
def scaling_saves_small_gradients(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the gradient is lost without scaling, and kept with it to a share ``within``."""
    answers = {party: figures["float16"] for party, figures in evidence[UNDERFLOW].items()}
    lost = {party: number(figures["without"]) == 0 for party, figures in answers.items()}
    lost_in_mindspore = any(lost[style] for style in MINDSPORE_STYLES)
    kept = {party: _is_kept(figures, expects["within"]) for party, figures in answers.items()}
    right = {party: lost[party] and kept[party] for party in answers}
    seen: list[Observation] = []
    for what, called in GRADIENTS.items():
        found = {party: figures[what] for party, figures in answers.items()}
        as_stated = {"without": lost, "unscaled in float32": kept}.get(what)
        seen.extend(observed(f"gradient of 1e-8 {called}", found, shown, as_stated))
    verdict = by_style(right)
    if verdict == "holds":
        advice = _how_to_unscale([figures["unscaled there"] for figures in answers.values()])
    elif lost_in_mindspore:
        advice = "Keep such gradients in float32."
    else:
        advice = "A gradient of this size needs no scaling here."
    return Ruling(verdict, tuple(seen), advice)


def _is_kept(figures: Figures, within: float) -> bool:
    if number(figures["scaled"]) == 0:
        return False
    return abs(number(figures["unscaled in float32"]) / TINY - 1) <= within


def _how_to_unscale(unscaled_in_float16: list[Any]) -> str:
    """The advice on unscaling, by what becomes of it in float16.

    ``unscaled_in_float16`` has a number, or an attempt that raised, for each party.
    """
    outcomes: dict[str, None] = {}
    for figure in unscaled_in_float16:
        if raised(figure):
            outcomes["is refused"] = None
        elif number(figure) == 0:
            outcomes["loses them again"] = None
    if not outcomes:
        return "Scale the loss by a power of two and unscale the gradients before the step."
    return (
        "Scale the loss, and cast the gradients to float32 before you unscale: "
        f"unscaling in float16 {' or '.join(outcomes)}."
    )


@TOPIC.claim(
    15,
    (
        "After an overflow the dynamic scaler lowers the scale and the step is skipped; it "
        "grows back after a window."
    ),
    heading=HEADING,
    guides=("ours",),
    would=(
        "Every overflow halves the scale and the framework leaves the weight alone; every growth "
        "follows a whole window of finite steps."
    ),
    asks=(LIFE, OVERFLOWED_STEP),
)
def dynamic_scaler(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when every overflow shrinks, every growth is on time, and both happen.

    And when a route of MindSpore's own skips the step, as PyTorch's GradScaler must; it holds with
    changes when the caller has to.
    """
    turns = {party: figures["turns"] for party, figures in evidence[LIFE].items()}
    counted = {party: counts(steps) for party, steps in turns.items()}
    right = {party: _keeps_the_rules(count) for party, count in counted.items()}
    by_itself = counted["torch"]
    routes = evidence[OVERFLOWED_STEP]
    skipping = {style: _routes_that_skip(figures) for style, figures in routes.items()}
    seen = (
        *_rules_seen(counted),
        Observation(
            "steps at which all scales are the same",
            f"{same_scales(turns.values())} of {len(turns['torch'])}",
        ),
        Observation(
            "overflowed steps that GradScaler.step skips",
            f"{by_itself['skipped']} of {by_itself['overflows']}",
            ("torch",),
            by_itself["skipped"] == by_itself["overflows"],
        ),
        *_overflowed_steps_seen(routes),
    )
    verdict = by_style(right)
    if verdict == "depends_on_style":
        return Ruling(
            verdict,
            seen,
            "Watch the scale in the style that you use: the scaler keeps its rules in one style "
            "alone.",
        )
    if verdict == "does_not_hold" or by_itself["skipped"] != by_itself["overflows"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Watch the scale and the skipped steps of your training: the scaler does not keep the "
            "guide's rules.",
        )
    if not all(skipping.values()):
        return Ruling(
            "holds_with_changes",
            seen,
            "In MindSpore skip the step yourself when all_finite is False, then adjust; "
            "GradScaler.step skips by itself.",
        )
    in_both = [name for name in skipping[MINDSPORE_STYLES[0]] if name in skipping["mindspore-tape"]]
    return Ruling(
        "holds",
        seen,
        f"Leave the skipping to {' or '.join(in_both) or 'the route that skips in your style'}, "
        "and to GradScaler.step.",
    )


def _rules_seen(counted: Mapping[str, Mapping[str, int]]) -> Iterator[Observation]:
    """How often the scale shrinks after an overflow, and grows after a whole window."""
    for what, part, whole in (
        ("overflows that halve the scale", "shrunk", "overflows"),
        ("growths of the scale after a whole window", "on time", "grown"),
    ):
        shares = {party: f"{count[part]} of {count[whole]}" for party, count in counted.items()}
        as_stated: dict[str, bool] = {}
        for party, count in counted.items():
            as_stated[party] = count[whole] > 0 and count[part] == count[whole]
        yield from observed(what, shares, str, as_stated)


def _overflowed_steps_seen(routes: Mapping[str, Figures]) -> Iterator[Observation]:
    """What each of MindSpore's routes makes of a step after an overflow."""
    for route in next(iter(routes.values())):
        steps = {style: figures[route] for style, figures in routes.items()}
        skips = {style: not raised(step) and not step["stepped"] for style, step in steps.items()}
        yield from observed(f"a step after an overflow by {route}", steps, said_of_route, skips)


def _keeps_the_rules(count: Mapping[str, int]) -> bool:
    # A life without an overflow or without a growth shows nothing about the rules.
    if count["overflows"] == 0 or count["grown"] == 0:
        return False
    return count["shrunk"] == count["overflows"] and count["on time"] == count["grown"]


def _routes_that_skip(routes: Figures) -> list[str]:
    """Which routes leave the weight alone after an overflow."""
    return [name for name, step in routes.items() if not raised(step) and not step["stepped"]]
