"""Claims about loss scaling: the guide's example, finite gradients, underflow, dynamic scalers.

Rows 12 to 15.
"""

from collections.abc import Mapping
from typing import Any

from explorer.model.claim import Ruling
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
from explorer.topics.loss_scale.wording import by_name, said_of_routes, shown
from explorer.topics.question import MINDSPORE_STYLES, PARTIES
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
    right = {}
    sentences = {}
    for party, figures in evidence[GUIDE_EXAMPLE].items():
        scaled, unscaled = figures["scaled"], figures["unscaled"]
        right[party] = _near(scaled, expects["scaled"]) and _near(unscaled, expects["unscaled"])
        sentences[party] = (
            f"loss {scaled['loss']:g}, gradient {shown(scaled['gradient'])}; "
            f"unscaled {unscaled['loss']:g} and {shown(unscaled['gradient'])}"
        )
    return ruling_by_style(
        right,
        _by_name(sentences),
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


def _by_name(sentences: Mapping[str, str]) -> str:
    """What is said of each party; those of whom the same is said stand together."""
    return "; ".join(f"{who}: {sentence}" for who, sentence in by_name(sentences))


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
    sentences = []
    for party, figures in answers.items():
        count = answered(figures)
        wrong = wrongly_answered(figures)
        right[party] = count > 0 and not wrong  # a check that refuses everything is not right
        sentence = (
            f"{PARTIES[party].label}: right about {count - len(wrong)} of {count} pairs of tensors"
        )
        if wrong:
            sentence += f", wrong about {', '.join(wrong)}"
        sentences.append(sentence)
    refused = refusals(answers["torch"])
    sentences.extend(f"GradScaler on float16 gradients: {message}" for message in refused)
    return ruling_by_style(
        right,
        "; ".join(sentences),
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
    right = {}
    sentences = {}
    for party, figures in answers.items():
        right[party] = lost[party] and _is_kept(figures, expects["within"])
        values = ", ".join(f"{what} {shown(value)}" for what, value in figures.items())
        sentences[party] = f"1e-8 becomes {values}"
    verdict = by_style(right)
    if verdict == "holds":
        advice = _how_to_unscale([figures["unscaled there"] for figures in answers.values()])
    elif lost_in_mindspore:
        advice = "Keep such gradients in float32."
    else:
        advice = "A gradient of this size needs no scaling here."
    return Ruling(verdict, _by_name(sentences), advice)


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
    right = {}
    sentences = {}
    for party, steps in turns.items():
        count = counts(steps)
        right[party] = _keeps_the_rules(count)
        sentences[party] = (
            f"{count['overflows']} overflows, {count['shrunk']} halve the scale; "
            f"{count['grown']} growths, {count['on time']} after a whole window"
        )
    by_itself = counts(turns["torch"])
    routes = evidence[OVERFLOWED_STEP]
    skipping = {style: _routes_that_skip(figures) for style, figures in routes.items()}
    sentences_of_routes = {style: said_of_routes(figures) for style, figures in routes.items()}
    seen = (
        f"{_by_name(sentences)}; the same scale everywhere at {same_scales(turns.values())} "
        f"of {len(turns['torch'])} steps; GradScaler skips {by_itself['skipped']} of "
        f"{by_itself['overflows']} overflows; a step of MindSpore after one, by its routes: "
        f"{_by_name(sentences_of_routes)}"
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


def _keeps_the_rules(count: Mapping[str, int]) -> bool:
    # A life without an overflow or without a growth shows nothing about the rules.
    if count["overflows"] == 0 or count["grown"] == 0:
        return False
    return count["shrunk"] == count["overflows"] and count["on time"] == count["grown"]


def _routes_that_skip(routes: Figures) -> list[str]:
    """Which routes leave the weight alone after an overflow."""
    return [name for name, step in routes.items() if not raised(step) and not step["stepped"]]
