"""Compares two trainings step by step, one question after the other, up to the first difference.

The questions on the start, and on what a step leaves beside an update, are answered here: weights, running
statistics, averages.
"""

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training import gradients
from explorer.compare.training.gradients import EXPLAINED, Explained, Names, judged
from explorer.compare.training.inputs import data, in_layouts_of, in_names_of, starts_of, without
from explorer.compare.training.moments import (
    Answered,
    Moment,
    Noise,
    Pair,
    along,
    apart_at,
    are_same,
    common,
    distance,
    elements,
    greatest,
    greatest_of,
    joined,
    moments,
    one_sided,
)
from explorer.compare.training.rules import Updates
from explorer.model.training import Training
from explorer.model.training_comparison import (
    QUESTIONS,
    Answer,
    Losses,
    Question,
    Rule,
    SideName,
    Status,
    TrainingComparison,
    TrainingDifference,
    WeightMap,
)
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

USUAL = (0.1, 0.01, 0.001, 0.05, 0.03, 0.2, 0.3, 0.5, 0.9, 0.95, 0.97, 0.99, 0.999)
"""What a new value counts for in the running statistics that programs have; PyTorch's own default first."""

WHOLE = 0.5
"""A number that may be off by less than this is known, if it is a whole one."""


# What both sides begin with, and train


def start(left: Training, right: Training) -> Answered:
    """Whether both sides began with the same parameters and buffers."""
    ones, others = starts_of(left), starts_of(right)
    parameters = [
        {name for name, it in some.items() if it.role == "parameter"} for some in (ones, others)
    ]
    if not all(parameters):
        return "not_recorded"
    number = left.steps[0].number
    if parameters[0] != parameters[1]:
        return one_sided("start", "missing", number, *parameters)
    apart = {}
    for name, one in sorted(ones.items(), key=lambda it: it[1].role != "parameter"):
        other = others.get(name)
        if other is not None and other.role == one.role:
            values = elements(one.value), elements(other.value)
            if not are_same(*values, one.value.dtype):
                apart[name] = greatest(*values)
    if not apart:
        return "same"
    return TrainingDifference(
        question="start",
        reason="values",
        step=number,
        names=tuple(apart),
        of=len(parameters[0]),
        apart=max(apart.values()),
    )


def trained(pair: Pair) -> Answered:
    """Whether the optimizers of both sides update the same parameters."""
    updated = []
    for _side, moment, _other in pair.sides:
        # In a group, and not frozen, as far as either is known.
        grouped = {name for group in moment.step.groups for name in group.names}
        starts = moment.training.start
        marked = {one.name for one in starts if one.role == "parameter" and one.trained}
        updated.append(grouped & marked if grouped and marked else grouped or marked)
    ones, others = updated
    if not ones or not others:
        return "not_recorded"
    return "same" if ones == others else one_sided("trained", "frozen", pair.number, ones, others)


# What a step leaves


def weights(pair: Pair) -> Answered:
    """Whether the weights lie no further apart than rounding may have moved them."""
    return judged(pair, "weights", apart_at(pair, "weights"))


def buffers(pair: Pair) -> Answered:
    """Whether running statistics are the same; those that one side alone has are not compared."""
    apart = apart_at(pair, "buffers")
    names = apart.unlike
    # How they move is known where a record has what is before them.
    is_known = all(name in side.prior.buffers for _, side, _ in pair.sides for name in names)
    ways = (_by_momentum, _by_variance) if is_known else ()
    return judged(pair, "buffers", apart, ways, [(names, ())], times=None)


def _by_momentum(pair: Pair, names: Names, _one: Floats, _other: Floats) -> Iterator[Explained]:
    """What a new value counts for on each side, where one moves a multiple of what the other does."""
    one, other = (
        joined(side.buffers, names) - joined(side.prior.buffers, names) for _, side, _ in pair.sides
    )
    ratio = along(one, other)
    if 0 < ratio < math.inf:
        turned = ratio / (1 + ratio)
        likely = ((turned, 1 - turned), *((usual * ratio, usual) for usual in USUAL))
        for momenta in likely:
            if any(abs(momenta[0] / usual - 1) <= EXPLAINED for usual in USUAL):
                rules = [Rule("momentum", {"momentum": momentum}) for momentum in momenta]
                known = {"reason": "momentum", "left": rules[0], "right": rules[1]}
                yield distance(one, ratio * other), known
                break


def _by_variance(pair: Pair, names: Names, _one: Floats, _other: Floats) -> Iterator[Explained]:
    """Of how many values one side's variances are the unbiased ones, and which side's.

    Each layer has its own number; it is that of the first one whose number rounding leaves certain.
    """
    for momentum in USUAL:
        found = [_of_rows(pair, name, momentum) for name in names]
        clear = [one for one in found if one and one[0]]
        certain = [one for one in clear if one[1] < WHOLE]
        if None not in found and certain and len({side for *_, side in clear}) == 1:
            rows, _error, side = certain[0]
            yield 0.0, {"reason": "variance", "numbers": (rows,), "side": side}
            break


def _of_rows(pair: Pair, name: str, momentum: float) -> tuple[float, float, SideName] | None:
    """Of how many values a variance is the unbiased one on a side, and how far that number may be off.

    0 where both sides have the same up to rounding; None where they differ otherwise.
    """
    before = pair.left.prior.buffers[name]
    if not are_same(before, pair.right.prior.buffers[name]):
        return None
    afters = [moment.buffers[name] for moment in (pair.left, pair.right)]
    own, other = (before + (after - before) / momentum for after in afters)
    # Rounding moves a running statistic, which is divided by its momentum here.
    rounding = UNIT["float32"] * np.maximum(np.abs(before), np.abs(afters[0])) / momentum
    side: SideName = "left" if own.sum() > other.sum() else "right"
    if (np.abs(own - other) <= CLEAR * rounding).all():
        return 0.0, 0.0, side
    larger, smaller = (own, other) if side == "left" else (other, own)
    size, excess = float(smaller.sum()), float((larger - smaller).sum())
    rows = round(1 + size / excess) if size > 0 and excess > 0 else 0
    if rows < 2:
        return None
    apart = np.abs(larger - rows / (rows - 1) * smaller)
    if not (apart <= EXPLAINED / rows * np.abs(smaller) + CLEAR * rounding).all():
        return None
    return float(rows), 2 * rows**2 * float(np.linalg.norm(rounding)) / size, side


def averages(pair: Pair) -> Answered:
    """Whether averages of the weights are the same, and else by which decay each side makes them."""
    left, right, _noise = pair
    both = common(left.averages, right.averages)
    names = tuple(name for name in both if name in left.weights and name in right.weights)
    if not names:
        return "not_recorded"
    apart = greatest_of(left.averages, right.averages, names)
    plain = pair.differ("averages", "values", names, of=len(names), apart=apart)
    decay, other_decay = (_decay(moment, names) for moment in (left, right))
    if decay is None or other_decay is None:
        moved = greatest_of(left.weights, right.weights, names)
        return "same" if apart <= gradients.room_of(left.averages, names, moved) else plain
    (one, error), (other, other_error) = decay, other_decay
    if abs(one - other) <= error + other_error:
        return "same"
    # An average of something else may look like one of the weights, but in the next step not any more.
    behind = [moment for moment in (left.beside(1), right.beside(1)) if moment]
    if len(behind) == 2 and any(_decay(moment, names) is None for moment in behind):
        return plain
    rules = [Rule("average", {"decay": value}) for value in (one, other)]
    return replace(plain, reason="decay", left=rules[0], right=rules[1])


def _decay(moment: Moment, names: Names) -> tuple[float, float] | None:
    """What the old average counts for, and how far rounding may have moved that number."""
    known = (moment.prior.averages, moment.averages, moment.weights)
    if not all(name in tensors for tensors in known for name in names):
        return None
    old, new, weights = (joined(tensors, names) for tensors in known)
    span = old - weights
    size = float(np.linalg.norm(span))
    if not size:
        return None
    decay = along(new - weights, span)
    noise = CLEAR * UNIT["float32"] * float(np.linalg.norm(new))
    return (decay, noise / size) if distance(new, weights + decay * span) <= noise else None


# All questions

ASKED: Mapping[Question, Callable[[Pair], Answered]] = {
    "data": data,
    "start": lambda pair: start(pair.left.training, pair.right.training),
    "trained": trained,
    "loss": gradients.loss,
    "gradients": gradients.gradients,
    "skipped": gradients.skipped,
    "given": gradients.given,
    "weights": weights,
    "buffers": buffers,
    "averages": averages,
}
"""How a question is answered by a step alone; of updates more is known with each step."""

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
    lone, answer = None, start(left, right)
    if isinstance(answer, TrainingDifference) and answer.reason == "missing":
        # Where nothing is common to both, they are compared as they are.
        lone = answer if len(answer.names) < answer.of else None
    if lone:
        left, right = without(left, lone.names), without(right, lone.names)
    noise = Noise(left, right)
    # Of steps in few elements, or behind some in few, both sides have few.
    short = {step.number for it in (left, right) for step in it.steps if step.kept != "all"}
    ones, others = (moments(it, short | {number + 1 for number in short}) for it in (left, right))
    pairs = [Pair(one, others[it], noise) for it, one in ones.items() if it in others]
    updates = Updates()
    answers: dict[Question, Status] = {}
    difference = _first_difference(pairs, updates, answers)
    if lone:
        answers["start"] = "different"
    last = math.inf if difference is None else difference.step
    reached = [pair for pair in pairs if pair.number <= last]
    alone = tuple(pair.number for pair in reached if _have_losses_alone(pair))
    few = tuple(pair.number for pair in reached if pair.left.is_few and pair.number not in alone)
    noises = [noise.of_loss(pair.left) for pair in pairs]
    band = tuple(CLEAR * one for one in noises if one is not None) if noise.is_measured else ()
    # The weights that every step has, where it is known how far rounding moves them.
    apart = [apart_at(pair, "weights") for pair in pairs] if noise.is_measured else []
    named = [it for it in apart[0].names if all(it in one.noises for one in apart)] if apart else []
    is_of_both = difference is None and answers.get("update") == "same"
    numbers = tuple(pair.number for pair in pairs)
    return TrainingComparison(
        left=left.name,
        right=right.name,
        frameworks=(left.framework, right.framework),
        versions=(left.versions, right.versions),
        optimizers=(left.optimizer, right.optimizer),
        steps=len(pairs),
        answers=tuple(Answer(it, answers.get(it, "not_reached")) for it in QUESTIONS),
        difference=lone or difference,
        beside=difference if lone else None,
        names=names,
        rule=updates.rule if is_of_both else None,
        has_noise=noise.is_measured,
        few=few,
        losses_alone=alone,
        losses=Losses(
            steps=numbers,
            left=tuple(pair.left.loss for pair in pairs),
            right=tuple(pair.right.loss for pair in pairs),
            band=band if len(band) == len(pairs) else (),
        ),
        weights=WeightMap(
            steps=numbers if noise.is_measured else (),
            names=tuple(named),
            times=tuple(tuple(one.times(name) for one in apart) for name in named),
            clear=CLEAR,
        ),
    )


def _first_difference(
    pairs: list[Pair], updates: Updates, answers: dict[Question, Status]
) -> TrainingDifference | None:
    """The first difference; notes how each question is answered.

    Losses and gradients of a pass behind an update of the same step follow from it: where nothing says why
    they differ, what is found of the updates of that step comes before them.
    """
    asked = {**ASKED, "update": updates.compare, "state": updates.states}
    for pair in pairs:
        found: list[TrainingDifference] = []
        for question in QUESTIONS:
            is_over = question == "start" and pair is not pairs[0]
            if is_over or (question != "loss" and _have_losses_alone(pair)):
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
