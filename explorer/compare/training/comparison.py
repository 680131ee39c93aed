"""Compares two trainings step by step, one question after the other, up to the first difference."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from explorer.compare.noise import CLEAR
from explorer.compare.training import gradients, kept
from explorer.compare.training.data import data, in_layouts_of
from explorer.compare.training.moments import Answered, Noise, Pair, apart_at, moments
from explorer.compare.training.parameters import in_names_of, start, trained, without
from explorer.compare.training.rules import Updates
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

Asked = Mapping[Question, Callable[[Pair], Answered]]
"""How each question is answered at a step."""

ASKED: Asked = {
    "data": data,
    "start": lambda pair: start(pair.left.training, pair.right.training),
    "trained": trained,
    "loss": gradients.loss,
    "gradients": gradients.gradients,
    "skipped": gradients.skipped,
    "given": gradients.given,
    "weights": kept.weights,
    "buffers": kept.buffers,
    "averages": kept.averages,
}
"""What is answered by a step alone; of updates more is known with each step."""

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
    if lone:
        left, right = without(left, lone.names), without(right, lone.names)
    noise = Noise(left, right)
    pairs = _pairs(left, right, noise)
    updates = Updates()
    asked = {**ASKED, "update": updates.compare, "state": updates.states}
    answers: dict[Question, Status] = {}
    difference = _first_difference(pairs, asked, answers)
    if lone is not None:
        answers["start"] = "different"
    last = math.inf if difference is None else difference.step
    reached = [pair for pair in pairs if pair.number <= last]
    losses_alone = tuple(pair.number for pair in reached if _have_losses_alone(pair))
    few = (pair.number for pair in reached if pair.left.is_few and not _have_losses_alone(pair))
    is_of_both = difference is None and answers.get("update") == "same"
    return TrainingComparison(
        left=left.name,
        right=right.name,
        frameworks=(left.framework, right.framework),
        versions=(left.versions, right.versions),
        optimizers=(left.optimizer, right.optimizer),
        steps=len(pairs),
        answers=tuple(
            Answer(question, answers.get(question, "not_reached")) for question in QUESTIONS
        ),
        difference=lone or difference,
        beside=difference if lone else None,
        names=names,
        rule=updates.rule if is_of_both else None,
        has_noise=noise.is_measured,
        few=tuple(few),
        losses_alone=losses_alone,
        losses=_losses(pairs, noise),
        weights=_weight_map(pairs, noise),
    )


def _lone(left: Training, right: Training) -> TrainingDifference | None:
    """That a side has parameters which the other lacks, where they have others in common."""
    answer = start(left, right)
    if not isinstance(answer, TrainingDifference) or answer.reason != "missing":
        return None
    return answer if len(answer.names) < answer.of else None


def _pairs(left: Training, right: Training, noise: Noise) -> list[Pair]:
    """The steps that both have, in few elements where a side has few, or has few of what is before them."""
    short = {step.number for it in (left, right) for step in it.steps if step.kept != "all"}
    few = short | {number + 1 for number in short}
    others = {moment.step.number: moment for moment in moments(right, few)}
    return [
        Pair(moment, others[moment.step.number], noise)
        for moment in moments(left, few)
        if moment.step.number in others
    ]


def _first_difference(
    pairs: list[Pair], asked: Asked, answers: dict[Question, Status]
) -> TrainingDifference | None:
    """The first difference; notes how each question is answered.

    Losses and gradients of a pass behind an update of the same step follow from it: where nothing says why
    they differ, what is found of the updates of that step comes before them.
    """
    for pair in pairs:
        found: list[TrainingDifference] = []
        for question in QUESTIONS:
            if question == "start" and pair is not pairs[0]:
                continue
            if question != "loss" and _have_losses_alone(pair):
                continue
            answer = asked[question](pair)
            status: Status = "different" if isinstance(answer, TrainingDifference) else answer
            answers[question] = max(answers.get(question, "same"), status, key=GRAVER.index)
            if isinstance(answer, TrainingDifference):
                found.append(answer)
                is_open = question in OF_PASSES and answer.reason == "values"
                if not (is_open and gradients.follows_update(pair.left)):
                    break
        if found:
            first = next((one for one in found if one.reason != "values"), found[0])
            for later in QUESTIONS[QUESTIONS.index(first.question) + 1 :]:
                if later != "start":  # which comes up once
                    answers.pop(later, None)  # it was compared in earlier steps alone
            return first
    return None


def _have_losses_alone(pair: Pair) -> bool:
    return "losses" in (pair.left.step.kept, pair.right.step.kept)


# Pictures


def _losses(pairs: list[Pair], noise: Noise) -> Losses:
    noises = [noise.of_loss(pair.left) for pair in pairs]
    band = tuple(CLEAR * one for one in noises if one is not None)
    return Losses(
        steps=tuple(pair.number for pair in pairs),
        left=tuple(pair.left.loss for pair in pairs),
        right=tuple(pair.right.loss for pair in pairs),
        band=band if noise.is_measured and len(band) == len(noises) else (),
    )


def _weight_map(pairs: list[Pair], noise: Noise) -> WeightMap:
    if not noise.is_measured or not pairs:
        return WeightMap(clear=CLEAR)
    every = [apart_at(pair, "weights") for pair in pairs]
    names = tuple(name for name in every[0].names if all(name in one.noises for one in every))
    return WeightMap(
        steps=tuple(pair.number for pair in pairs),
        names=names,
        times=tuple(tuple(apart.times(name) for apart in every) for name in names),
        clear=CLEAR,
    )
