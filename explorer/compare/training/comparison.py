"""Compares two trainings step by step, one question after the other, up to the first difference."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training import clipping, data, gradients, kept
from explorer.compare.training.bands import Bands
from explorer.compare.training.data import Answered
from explorer.compare.training.layouts import in_layouts_of
from explorer.compare.training.naming import in_names_of, without
from explorer.compare.training.rules import Side, Updates
from explorer.compare.training.values import Moment, both, common, distance, greatest, moments
from explorer.model.training import Training
from explorer.model.training_comparison import (
    QUESTIONS,
    Answer,
    Losses,
    Question,
    Status,
    TrainingComparison,
    TrainingDifference,
    WeightMap,
)


class Compared:
    """Two trainings, with what every question needs of them."""

    def __init__(self, left: Training, right: Training) -> None:
        self.trainings = left, right
        few = _in_few(left, right)
        self.moments = moments(left, few), moments(right, few)
        self.steps = list(both(*self.moments))
        self.bands = Bands(left, right)
        self.updates = Updates(
            Side(left, self.moments[0]), Side(right, self.moments[1]), self.bands
        )

    def behind(self, left: Moment) -> tuple[Moment, Moment] | tuple[()]:
        """The next step on both sides, if both have recorded it."""
        number = left.step.number + 1
        return next((pair for pair in self.steps if pair[0].step.number == number), ())

    def is_first(self, left: Moment) -> bool:
        """Whether a step is the first that both sides have."""
        return left is self.steps[0][0]


def _in_few(*sides: Training) -> frozenset[int]:
    """The steps of which a side has few elements, or of what is before them."""
    numbers = {step.number for side in sides for step in side.steps if step.kept != "all"}
    return frozenset(numbers | {number + 1 for number in numbers})


Asked = Callable[[Compared, Moment, Moment], Answered | None]


def _weights(compared: Compared, left: Moment, right: Moment) -> Answered:
    """Whether the weights lie no further apart than rounding may have moved them."""
    names = common(left.weights, right.weights)
    if not names:
        return "not_recorded"
    times = {name: _times(compared.bands, left, right, name) for name in names}
    if any(one is None for one in times.values()):
        return "no_noise"
    unlike = tuple(name for name in names if (times[name] or 0.0) > CLEAR)
    if not unlike:
        return "same"
    return TrainingDifference(
        question="weights",
        reason="values",
        step=left.step.number,
        names=unlike,
        of=len(names),
        apart=max(greatest(left.weights[name], right.weights[name]) for name in unlike),
        times=max(times[name] or 0.0 for name in unlike),
    )


def _times(bands: Bands, left: Moment, right: Moment, name: str) -> float | None:
    """How many times the noise a parameter's values lie apart."""
    one, other = left.weights[name], right.weights[name]
    size = distance(one, 0 * one)
    noise = bands.weights(left, name, size)
    apart = distance(one, other)
    if noise is None:
        return None if apart else 0.0
    return apart / noise if noise else 0.0 if not apart else float("inf")


ASKED: dict[Question, Asked] = {
    "data": lambda c, left, right: data.data(left, right, c.moments[1]),
    "start": lambda c, left, _right: data.start(*c.trainings) if c.is_first(left) else None,
    "trained": lambda c, left, right: data.trained(left, right, c.trainings),
    "loss": lambda c, left, right: gradients.loss(left, right, c.bands, c.trainings),
    "gradients": lambda c, left, right: gradients.gradients(left, right, c.bands),
    "skipped": lambda _c, left, right: clipping.skipped(left, right),
    "given": lambda _c, left, right: clipping.given(left, right),
    "update": lambda c, left, right: c.updates.compare(left, right),
    "state": lambda c, left, right: c.updates.states(left, right),
    "weights": _weights,
    "buffers": lambda c, left, right: kept.buffers(left, right, c.bands),
    "averages": lambda c, left, right: kept.averages(left, right, c.behind(left)),
}
"""How each question is answered at a step; None where it does not come up."""

GRAVER: tuple[Status, ...] = ("same", "in_part", "not_recorded", "no_noise", "no_rule", "different")
"""Which of two answers at different steps is that of all: the later one in this row."""

OF_PASSES: tuple[Question, ...] = ("loss", "gradients")
"""What a pass computes, which may come behind an update of its own step."""


@np.errstate(all="ignore")  # a record may hold any number
def compare(left: Training, right: Training) -> TrainingComparison:
    """Where two trainings first differ, and how every question was answered until there.

    A parameter that one side alone has is the first difference; all else is compared without it.
    """
    right, names = in_names_of(left, in_layouts_of(left, right))
    lone = _lone(left, right)
    if lone is not None:
        left, right = without(left, lone.names), without(right, lone.names)
    compared = Compared(left, right)
    answers: dict[Question, Status] = {}
    difference = _first_difference(compared, answers)
    if lone is not None:
        answers["start"] = "different"
    rule = compared.updates.rule
    last = math.inf if difference is None else difference.step
    reached = [pair for pair in compared.steps if pair[0].step.number <= last]
    losses = tuple(one.step.number for one, other in reached if _have_losses_alone(one, other))
    few = {one.step.number for one, _other in reached if one.is_few}.difference(losses)
    return TrainingComparison(
        left=left.name,
        right=right.name,
        frameworks=(left.framework, right.framework),
        versions=(left.versions, right.versions),
        optimizers=(left.optimizer, right.optimizer),
        steps=len(compared.steps),
        answers=tuple(
            Answer(question, answers.get(question, "not_reached")) for question in QUESTIONS
        ),
        difference=lone or difference,
        beside=difference if lone else None,
        names=names,
        rule=rule.rule if rule and answers.get("update") == "same" and difference is None else None,
        has_noise=compared.bands.has_noise,
        few=tuple(sorted(few)),
        losses_alone=losses,
        losses=_losses(compared),
        weights=_weight_map(compared),
    )


def _lone(left: Training, right: Training) -> TrainingDifference | None:
    """That a side has parameters which the other lacks, where they have others in common."""
    answer = data.start(left, right)
    if not isinstance(answer, TrainingDifference) or answer.reason != "missing":
        return None
    return answer if len(answer.names) < answer.of else None


def _first_difference(
    compared: Compared, answers: dict[Question, Status]
) -> TrainingDifference | None:
    """The first difference; notes how each question is answered.

    Losses and gradients of a pass behind an update of the same step follow from it: where nothing says why
    they differ, what is found of the updates of that step comes before them.
    """
    for left, right in compared.steps:
        found: list[TrainingDifference] = []
        for question, answer in _answered(compared, left, right):
            status: Status = "different" if isinstance(answer, TrainingDifference) else answer
            answers[question] = max(answers.get(question, "same"), status, key=GRAVER.index)
            if isinstance(answer, TrainingDifference):
                found.append(answer)
                is_open = question in OF_PASSES and answer.reason == "values"
                if not (is_open and gradients.follows_update(left)):
                    break
        if found:
            first = next((one for one in found if one.reason != "values"), found[0])
            for later in QUESTIONS[QUESTIONS.index(first.question) + 1 :]:
                if later != "start":  # which comes up once
                    answers.pop(later, None)  # it was compared in earlier steps alone
            return first
    return None


def _answered(
    compared: Compared, left: Moment, right: Moment
) -> Iterator[tuple[Question, Answered]]:
    for question, ask in ASKED.items():
        if question != "loss" and _have_losses_alone(left, right):
            continue
        answer = ask(compared, left, right)
        if answer is not None:
            yield question, answer


def _have_losses_alone(left: Moment, right: Moment) -> bool:
    return "losses" in (left.step.kept, right.step.kept)


# Pictures


def _losses(compared: Compared) -> Losses:
    noises = [compared.bands.loss(left) for left, _right in compared.steps]
    band = tuple(CLEAR * noise for noise in noises if noise is not None)
    return Losses(
        steps=tuple(left.step.number for left, _right in compared.steps),
        left=tuple(left.loss for left, _right in compared.steps),
        right=tuple(right.loss for _left, right in compared.steps),
        band=band if compared.bands.has_noise and len(band) == len(noises) else (),
    )


def _weight_map(compared: Compared) -> WeightMap:
    if not compared.bands.has_noise or not compared.steps:
        return WeightMap(clear=CLEAR)
    first = compared.steps[0]
    names = tuple(
        name
        for name in common(first[0].weights, first[1].weights)
        if all(name in moment.weights for pair in compared.steps for moment in pair)
    )
    rows = tuple(
        tuple(_times(compared.bands, *pair, name) or 0.0 for pair in compared.steps)
        for name in names
    )
    steps = tuple(left.step.number for left, _right in compared.steps)
    return WeightMap(steps, names, rows, CLEAR)
