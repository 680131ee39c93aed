"""The steps of two trainings: their tensors by name, how far these lie apart, and the noise of that."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from explorer.compare.graphs.sameness import CLEAR, UNMEASURED, level, ratios
from explorer.model.arrays import AnyArray, Array, carrier
from explorer.model.results import Leaf
from explorer.model.trace import Start
from explorer.model.training import Training, TrainingStep
from explorer.model.training_comparison import (
    Question,
    Reason,
    SideName,
    Status,
    TrainingDifference,
)
from explorer.numeric.differences import Floats, elementwise_difference
from explorer.numeric.summaries import UNIT, spread

# Tensors

Values = dict[str, Floats]
"""The elements of tensors, flat, by the tensors' names: all of a small one, an excerpt of a large one."""


def elements(array: Array) -> Floats:
    """The elements that a record has, in the order in which it has them."""
    return np.frombuffer(array.data, carrier(array.dtype)).astype(np.float64)


def values(leaves: Iterable[Leaf | Start]) -> Values:
    """The elements of some leaves by name."""
    return {leaf.name: elements(leaf.value) for leaf in leaves}


def norm_of(array: Array) -> float:
    """The Euclidean norm of all elements, also of those that an excerpt does not have."""
    if array.excerpt is not None:
        return array.excerpt.summary.norm
    return float(np.linalg.norm(elements(array)))


def distance(one: Floats, other: Floats) -> float:
    """The Euclidean norm of a difference; infinite where only one side is finite, or shapes differ."""
    if one.shape != other.shape:
        return math.inf
    return float(np.linalg.norm(elementwise_difference(one, other)))


def greatest(one: Floats, other: Floats) -> float:
    """The greatest absolute difference of two elements; infinite as in distance()."""
    if one.shape != other.shape:
        return math.inf
    return float(elementwise_difference(one, other).max(initial=0.0))


def greatest_of(ones: Values, others: Values, names: Iterable[str]) -> float:
    """The greatest absolute difference of elements of the named tensors; infinite where there are none."""
    return max((greatest(ones[name], others[name]) for name in names), default=math.inf)


def are_same(one: Floats, other: Floats, dtype: str = "float32") -> bool:
    """Whether two tensors differ by no more than rounding does."""
    if one.shape != other.shape:
        return False
    # Other dtypes are computed with as float32.
    dtype = dtype if dtype in ("float32", "float64") else "float32"
    levels = [level(values, dtype, None) for values in (one, other)]
    return bool((ratios(one, other, *levels) <= CLEAR).all())


def joined(arrays: Mapping[str, Floats], names: Sequence[str]) -> Floats:
    """The elements of the named tensors one behind the other."""
    return np.concatenate([arrays[name] for name in names]) if names else np.zeros(0)


def module_of(name: str) -> str:
    """The module that a parameter is in."""
    return name.rpartition(".")[0]


def common(one: Mapping[str, AnyArray], other: Mapping[str, AnyArray]) -> tuple[str, ...]:
    """The names that both sides have, in the order of the first."""
    return tuple(name for name in one if name in other)


def along(one: Floats, other: Floats) -> float:
    """How many times another vector is in one, by least squares."""
    square = float(other @ other)
    return float(one @ other) / square if square else 0.0


# Steps


class Tensors(NamedTuple):
    """What a step has left, or what is there before the first one, by the fields of a step."""

    weights: Values
    buffers: Values
    averages: Values
    state: Values
    gradients: Values
    given: Values


class Moment:
    """A step of a training with what the steps before it have left.

    ``count`` is the number of updates with this one, skipped ones left out, and ``steps`` are all steps of
    the training by their numbers. With ``is_few`` all tensors have the few elements that a long record keeps
    of one. Gradients that are ``unscaled`` are divided by the scale.
    """

    def __init__(
        self,
        step: TrainingStep,
        training: Training,
        before: "Moment | None",
        steps: "Mapping[int, Moment]",
        is_few: bool = False,
    ) -> None:
        self.step = step
        self.training = training
        self.before = before
        self.steps = steps
        self.count: int = (before.count if before else 0) + (not step.skipped)
        self.is_few = is_few
        self.is_behind_few: bool = before is not None and (before.is_few or before.is_behind_few)
        self.scale = step.scale or 1.0
        recorded = Tensors(*(values(getattr(step, field)) for field in Tensors._fields))
        self.recorded = recorded._replace(gradients=recorded.gradients or recorded.given)
        left = Tensors(*map(self.like, self.recorded))
        self.weights, self.buffers, self.averages, self.state, self.gradients, given = left
        self.unscaled = {name: array / self.scale for name, array in self.gradients.items()}
        self.given = given or self.unscaled
        start = {} if before else values(training.start)
        found = before.recorded if before else Tensors(start, start, start, start, {}, {})
        self.prior = Tensors(*map(self.like, found))
        self.dtypes = {leaf.name: leaf.value.dtype for leaf in step.weights}

    def like(self, arrays: Values) -> Values:
        """Recorded tensors with as many elements as those of this step have."""
        return {name: spread(it) for name, it in arrays.items()} if self.is_few else arrays

    def beside(self, lag: int) -> "Moment | None":
        """The step that is so many steps behind this one; before it where ``lag`` is negative."""
        return self.steps.get(self.step.number + lag)

    @cached_property
    def in_few(self) -> "Moment":
        """The step with a few elements of each tensor."""
        return Moment(self.step, self.training, self.before, self.steps, is_few=True)

    @cached_property
    def norms(self) -> dict[str, float]:
        """The norms of the gradients divided by the scale, over all elements."""
        return {leaf.name: norm_of(leaf.value) / self.scale for leaf in self.step.gradients}

    @cached_property
    def norm(self) -> float:
        """The norm of all gradients together, divided by the scale."""
        return float(np.linalg.norm([*self.norms.values()]))

    @cached_property
    def is_finite(self) -> bool:
        """Whether all elements of the gradients are, also those that an excerpt does not have."""
        arrays = [leaf.value for leaf in self.step.gradients or self.step.given]
        hidden = any(array.excerpt and array.excerpt.summary.nonfinite for array in arrays)
        return not hidden and all(np.isfinite(elements(array)).all() for array in arrays)

    @property
    def losses(self) -> tuple[float, ...]:
        """The losses of the passes; none unless all are known."""
        losses = [batch.loss for batch in self.step.batches if batch.loss is not None]
        return tuple(losses) if len(losses) == len(self.step.batches) else ()

    @property
    def loss(self) -> float | None:
        """The sum of the losses of the passes, whose gradients are added up."""
        return sum(self.losses) if self.losses else None

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of rows of each pass; 1 where that is not known."""
        shapes = (
            [leaf.value.shape for leaf in batch.data if leaf.value.shape]
            for batch in self.step.batches
        )
        return tuple(max(of_pass[0][0], 1) if of_pass else 1 for of_pass in shapes)


def moments(training: Training, few: Collection[int] = ()) -> dict[int, Moment]:
    """All steps of a training by their numbers; those of the numbers ``few`` in few elements."""
    steps: dict[int, Moment] = {}
    before = None
    for step in training.steps:
        steps[step.number] = before = Moment(step, training, before, steps, step.number in few)
    return steps


# Noise

GROWTH = 2.0
"""How fast the noise of a loss grows from step to step where it was not measured."""

MOST_STATED = 1e-3
"""The greatest share of a loss that its noise may grow to without having been measured."""

Judged = Literal["weights", "gradients", "buffers"]
"""The tensors of which a jittered run says how far rounding moves them."""


class Noise:
    """How far rounding alone moves two trainings apart, from runs with a jittered start.

    It is absolute; None where it was not measured. In the first step it is then that of UNMEASURED units in
    the last place: only later ones depend on how far rounding has moved the weights. That of a loss is taken
    to grow GROWTH times from step to step, up to MOST_STATED of the loss, and is not known from there on. A
    drift never becomes smaller from step to step here: two runs that meet by luck are not less noisy. A side
    without jittered runs has the noise of the other one.
    """

    def __init__(self, left: Training, right: Training) -> None:
        self._sides = [one.jittered or it.jittered for one, it in ((left, right), (right, left))]
        self._places = {step.number: place for place, step in enumerate(left.steps)}
        self.is_measured = any(self._sides)
        self._moved: dict[str, float] = {}
        self._widths = {0: 1.0}

    def widen(self, left: Moment, name: str, rounding: float) -> None:
        """Note how far rounding moved a parameter apart in an update, as the norm of the difference.

        Where that adds up to more than a jittered start was moved by, all noise is so many times greater.
        """
        self._moved[name] = self._moved.get(name, 0.0) + rounding
        jitter = UNIT["float32"] * float(np.linalg.norm(left.weights[name]))
        if jitter:
            width = max(self._width(left.step.number), self._moved[name] / jitter)
            self._widths[left.step.number] = width

    def of_loss(self, left: Moment) -> float | None:
        """The noise of the difference of the losses at a step."""
        if left.loss is None:
            return None
        # Of a batch with a value that is not finite, the other passes have losses all the same.
        size = sum(abs(loss) for loss in left.losses if math.isfinite(loss))
        series = [[drift.losses for drift in drifts] for drifts in self._sides]
        noise = self._of_series(series, left, size, is_before=True)
        first = UNMEASURED * UNIT["float32"]
        place = self._places[left.step.number]
        if noise is not None or place > math.log(MOST_STATED / first, GROWTH):
            return noise
        return first * GROWTH**place * size

    def of(self, kind: Judged, left: Moment, name: str) -> float | None:
        """That of the norm of the difference of a tensor's values; of gradients as backward left them."""
        held: Values = getattr(left, kind)
        of_kind = [[getattr(drift, kind) for drift in drifts] for drifts in self._sides]
        series = [[norms[name] for norms in it if name in norms] for it in of_kind]
        if kind == "gradients" and not any(series):
            # A gradient may be nothing but noise: where that was not measured, its size is that of all.
            size = float(np.linalg.norm([np.linalg.norm(one) for one in held.values()]))
        else:
            # What is no number in a gradient shows in the update: whether it is left out.
            known = held[name][~np.isnan(held[name])] if kind == "weights" else held[name]
            size = float(np.linalg.norm(known))
        return self._of_series(series, left, size, is_before=kind != "weights")

    def _width(self, number: int) -> float:
        """How many times as great as that of a jittered start the noise is behind a step's update."""
        return max(width for since, width in self._widths.items() if since <= number)

    def _of_series(
        self,
        sides: Sequence[Sequence[Sequence[float]]],
        left: Moment,
        size: float,
        *,
        is_before: bool,
    ) -> float | None:
        """The noise of both sides; ``is_before`` that of what precedes the update of the step."""
        place = self._places[left.step.number]
        if not all(sides):
            is_first = place == 0 and is_before
            return UNMEASURED * UNIT["float32"] * size if is_first else None
        until = [[norm for norms in runs for norm in norms[: place + 1]] for runs in sides]
        floor = UNIT["float32"] * size
        levels = [max([floor, *filter(math.isfinite, norms)]) for norms in until]
        return self._width(left.step.number - is_before) * math.hypot(*levels)


# Both sides

Answered = Status | TrainingDifference
"""How a question is answered at a step."""


class Pair(NamedTuple):
    """A step of both sides, and the noise of all steps."""

    left: Moment
    right: Moment
    noise: Noise

    @property
    def number(self) -> int:
        """The number of the step."""
        return self.left.step.number

    @property
    def sides(self) -> tuple[tuple[SideName, Moment, Moment], tuple[SideName, Moment, Moment]]:
        """Each side by its name, with itself and the other one."""
        return ("left", self.left, self.right), ("right", self.right, self.left)

    @property
    def has_graphs(self) -> bool:
        """Whether both sides have recorded the graph of the step."""
        return self.left.step.graph is not None and self.right.step.graph is not None

    def differ(
        self, question: Question, reason: Reason, names: Sequence[str] = (), **known: Any
    ) -> TrainingDifference:
        """That the two sides differ at this step."""
        return TrainingDifference(
            question=question, reason=reason, step=self.number, names=tuple(names), **known
        )


def one_sided(
    question: Question, reason: Reason, step: int, ones: Iterable[str], others: Iterable[str]
) -> TrainingDifference:
    """That one side alone has some names; it is the other one that is named."""
    lefts, rights = set(ones), set(others)
    alone = lefts ^ rights
    return TrainingDifference(
        question=question,
        reason=reason,
        step=step,
        names=tuple(sorted(alone)),
        of=len(lefts | rights),
        side="left" if alone - lefts else "right",
    )


class Apart:
    """How far the tensors of both sides lie apart, beside the noise of each by its name.

    Those ``unlike`` lie further apart than rounding moves them, or at all where that was not measured.
    """

    def __init__(self, ones: Values, others: Values, noises: Mapping[str, float | None]) -> None:
        self.ones = ones
        self.others = others
        self.noises = noises
        self.names = tuple(noises)
        self.norms = {name: distance(ones[name], others[name]) for name in noises}
        self.unlike = tuple(
            name for name, norm in self.norms.items() if norm > CLEAR * (noises[name] or 0.0)
        )

    def times(self, name: str) -> float:
        """How many times the noise a tensor's values lie apart; 0 where that was not measured."""
        noise, norm = self.noises[name], self.norms[name]
        if noise is None or not norm:
            return 0.0
        return norm / noise if noise else math.inf


def apart_at(pair: Pair, kind: Judged) -> Apart:
    """How far the tensors of a kind lie apart at a step."""
    ones, others = getattr(pair.left, kind), getattr(pair.right, kind)
    noises = {name: pair.noise.of(kind, pair.left, name) for name in common(ones, others)}
    return Apart(ones, others, noises)
