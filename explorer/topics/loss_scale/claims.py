"""Claims about loss scaling: the guide's example, finite gradients, underflow, dynamic scalers.

Rows 12 to 15, 86 and 94.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import number
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale.figures import (
    Counts,
    OverflowedStep,
    TinyGradient,
    case_name,
    counts,
    same_scales,
    say,
    shown,
    turns_of,
)
from explorer.topics.loss_scale.findings import answered, refusals, wrongly_answered
from explorer.topics.loss_scale.inputs import TINY
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    LIFE,
    OVERFLOWED_STEP,
    RANGE,
    TOPIC,
    UNDERFLOW,
)
from explorer.topics.observations import by_style, for_each, observed, of_each, ruling_by_style
from explorer.topics.question import MINDSPORE_STYLES

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
    right = {party: _near(figures, expects) for party, figures in answers.items()}
    seen: list[Observation] = []
    for which, expected in expects.items():
        for what in expected:
            found = of_each(answers, which, what)
            near = for_each(partial(_is_near, expected=expected[what]), found)
            seen.extend(observed(say(f"{which}_{what}"), found, shown, near))
    return ruling_by_style(right, tuple(seen))


def _near(figures: Figures, expects: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether loss and gradient are as expected, scaled and unscaled."""
    for which, expected in expects.items():
        if not all(_is_near(figures[which][name], expected[name]) for name in expected):
            return False
    return True


def _is_near(figure: Any, expected: Any) -> bool:
    return greatest_difference(figure, expected) <= NEARLY


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
    shares: dict[str, Message] = {}
    for party, figures in answers.items():
        count = answered(figures)
        wrong = tuple(map(case_name, wrongly_answered(figures)))
        right[party] = count > 0 and not wrong  # a check that refuses everything is not right
        if wrong:
            shares[party] = say(
                "count_wrong_about", count=count - len(wrong), whole=count, cases=wrong
            )
        else:
            shares[party] = say("count", count=count, whole=count)
    seen = observed(say("right_pairs"), shares, expected=right)
    for error in refusals(answers["torch"]):
        seen.append(Observation(say("gradscaler_float16"), error, ("torch",)))
    return ruling_by_style(right, tuple(seen))


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
    answers = of_each(evidence[UNDERFLOW], "float16")
    tiny = for_each(partial(msgspec.convert, type=TinyGradient), answers)
    lost = for_each(lambda figure: number(figure.without) == 0, tiny)
    kept = for_each(partial(_is_kept, within=expects["within"]), tiny)
    right = {party: lost[party] and kept[party] for party in answers}
    seen: list[Observation] = []
    for what in ("without", "scaled", "unscaled there", "unscaled in float32"):
        found = of_each(answers, what)
        as_stated = {"without": lost, "unscaled in float32": kept}.get(what)
        seen.extend(observed(say(f"tiny {what}"), found, shown, as_stated))
    ruling = ruling_by_style(right, tuple(seen))
    lost_again = for_each(_is_lost_again, tiny)
    if ruling.verdict == "holds" and any(lost_again.values()):
        return msgspec.structs.replace(ruling, advice="cast to float32")
    return ruling


def _is_kept(tiny: TinyGradient, within: float) -> bool:
    if number(tiny.scaled) == 0:
        return False
    return abs(number(tiny.unscaled_in_float32) / TINY - 1) <= within


def _is_lost_again(tiny: TinyGradient) -> bool:
    """Whether a gradient is refused or zero once it is unscaled in float16."""
    return raised(tiny.unscaled_there) or number(tiny.unscaled_there) == 0


@TOPIC.claim(
    15,
    (
        "After an overflow the dynamic scaler lowers the scale, which grows back after a window; "
        "GradScaler.step skips the step, in MindSpore the caller has to."
    ),
    heading=HEADING,
    guides=("ours",),
    would=(
        "Every overflow halves the scale, GradScaler.step leaves the weight alone then, and "
        "MindSpore's optimizer does not; every growth follows a whole window of finite steps."
    ),
    asks=(LIFE, OVERFLOWED_STEP),
)
def dynamic_scaler(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when every overflow shrinks, every growth is on time, and both happen.

    And when PyTorch's GradScaler skips the step; it holds with changes when a route of MindSpore's
    own skips it too.
    """
    turns = turns_of(evidence)
    counted = for_each(counts, turns)
    right = for_each(_keeps_the_rules, counted)
    by_itself = counted["torch"]
    routes = evidence.records(OVERFLOWED_STEP, dict[str, OverflowedStep])
    skipping = for_each(_routes_that_skip, routes)
    skips_all = by_itself.skipped == by_itself.overflows
    seen = (
        *_rules_seen(counted),
        Observation(
            say("all_the_same"),
            say("count", count=same_scales(turns.values()), whole=len(turns["torch"])),
        ),
        Observation(
            say("skipped_by_gradscaler"),
            say("count", count=by_itself.skipped, whole=by_itself.overflows),
            ("torch",),
            skips_all,
        ),
        *_overflowed_steps_seen(routes),
    )
    verdict = by_style(right)
    if verdict == "depends_on_style":
        return Ruling(verdict, seen)
    if verdict == "does_not_hold" or not skips_all:
        return Ruling("does_not_hold", seen)
    if not all(skipping.values()):
        return Ruling("holds", seen)
    in_graph, in_tape = (skipping[style] for style in MINDSPORE_STYLES)
    in_both = tuple(say.named(route) for route in in_graph if route in in_tape)
    advice = say("leave_to_routes", routes=in_both) if in_both else ""
    return Ruling("holds_with_changes", seen, advice)


def _rules_seen(counted: Mapping[str, Counts]) -> Iterator[Observation]:
    """How often the scale shrinks after an overflow, and grows after a whole window."""
    halved = for_each(lambda count: (count.shrunk, count.overflows), counted)
    grown = for_each(lambda count: (count.on_time, count.grown), counted)
    for what, shares in ((say("halving"), halved), (say("growths"), grown)):
        as_stated: dict[str, bool] = {}
        for party, (count, whole) in shares.items():
            as_stated[party] = whole > 0 and count == whole
        yield from observed(what, shares, _count, as_stated)


def _count(share: tuple[int, int]) -> Message:
    count, whole = share
    return say("count", count=count, whole=whole)


def _overflowed_steps_seen(
    routes: Mapping[str, Mapping[str, OverflowedStep]],
) -> Iterator[Observation]:
    """What each of MindSpore's routes makes of a step after an overflow."""
    for route in next(iter(routes.values())):
        steps = of_each(routes, route)
        # What a route raises for want of a kernel says nothing of who skips.
        as_stated = {party: step.stepped for party, step in steps.items() if not step.raised}
        yield from observed(say("step_by", route=say.named(route)), steps, _step, as_stated)


def _step(step: OverflowedStep) -> Message:
    if step.raised:
        return say("raises", error=step.error)
    if step.stepped:
        return say("steps_to", weight=shown(step.weight))
    return say("skips")


def _keeps_the_rules(count: Counts) -> bool:
    # A life without an overflow or without a growth shows nothing about the rules.
    if count.overflows == 0 or count.grown == 0:
        return False
    return count.shrunk == count.overflows and count.on_time == count.grown


def _routes_that_skip(routes: Mapping[str, OverflowedStep]) -> list[str]:
    """Which routes leave the weight alone after an overflow."""
    return [name for name, step in routes.items() if step.is_skipped]


class AtTheLimit(msgspec.Struct, frozen=True):
    """A loss in float16, and its gradient, which may be "not finite"."""

    value: float
    gradient: Any
    value_is_finite: bool

    @property
    def has_overflowed(self) -> bool:
        """Whether the gradient is not finite."""
        return not isinstance(self.gradient, float)


def _gradient_seen(limit: AtTheLimit) -> Message:
    if limit.has_overflowed:
        return say("not_finite")
    return say("gradient_of", gradient=limit.gradient)


@TOPIC.claim(
    86,
    "On Ascend a loss scale avoids overflow.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would="A float16 gradient is finite with a scale of 1024 where it is infinite without.",
    asks=(RANGE,),
)
def scaling_against_overflow(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Does not hold when scaling makes a finite float16 gradient infinite; float16 is alike anywhere."""
    answers = evidence.records(RANGE, dict[str, AtTheLimit])
    right: dict[str, bool] = {}
    for party, limits in answers.items():
        right[party] = not limits["scaled"].has_overflowed
    unscaled, scaled = of_each(answers, "unscaled"), of_each(answers, "scaled")
    seen = (
        *observed(say("without_scale"), unscaled, _gradient_seen),
        *observed(say("with_scale"), scaled, _gradient_seen, right),
    )
    verdict = by_style(right)
    is_made = any(limit.has_overflowed for limit in scaled.values())
    return Ruling(verdict, seen, "makes overflow" if is_made else "")


@TOPIC.claim(
    94,
    "Overflow shows in the loss: it is NaN or infinite, or suddenly large.",
    heading=HEADING,
    guides=GUIDES,
    sections={"004": "Loss Scale"},
    would="No loss is finite, and far from the limit of float16, where its gradient is not finite.",
    asks=(RANGE,),
)
def overflow_in_the_loss(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Does not hold when a gradient overflows behind a loss that is finite and within float16."""
    answers = of_each(evidence.records(RANGE, dict[str, AtTheLimit]), "steep")
    right: dict[str, bool] = {}
    for party, limit in answers.items():
        right[party] = not limit.has_overflowed or not limit.value_is_finite
    losses = for_each(lambda limit: limit.value, answers)
    seen = (
        *observed(say("loss_in_half"), losses, "{:.4g}".format),
        *observed(say("its_gradient"), answers, _gradient_seen, right),
    )
    verdict = by_style(right)
    return Ruling(verdict, seen, "ask gradients" if verdict == "does_not_hold" else "")
