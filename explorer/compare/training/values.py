"""Values of the tensors of a training, by name, and figures of their differences."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray, Array, carrier
from explorer.model.results import Leaf
from explorer.model.trace import Start
from explorer.model.training import Training, TrainingStep
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT, spread

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


def total_norm(leaves: Iterable[Leaf]) -> float:
    """The Euclidean norm of all elements of some leaves."""
    return float(np.linalg.norm([norm_of(leaf.value) for leaf in leaves]))


def unit_of(leaves: Iterable[Leaf]) -> float:
    """Half a unit in the last place of 1 in the coarsest dtype of some leaves."""
    return max((UNIT.get(leaf.value.dtype, 0.0) for leaf in leaves), default=UNIT["float32"])


def distance(one: Floats, other: Floats) -> float:
    """The Euclidean norm of a difference; infinite where only one side is finite, or shapes differ."""
    if one.shape != other.shape:
        return float("inf")
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore", over="ignore"):
        length = float(np.linalg.norm(np.where(same, 0.0, one - other)))
    return float("inf") if np.isnan(length) else length


def greatest(one: Floats, other: Floats) -> float:
    """The greatest absolute difference of two elements; infinite as in distance()."""
    if one.shape != other.shape:
        return float("inf")
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore", over="ignore"):
        most = float(np.abs(np.where(same, 0.0, one - other)).max(initial=0.0))
    return float("inf") if np.isnan(most) else most


def joined(arrays: Mapping[str, Floats], names: Sequence[str]) -> Floats:
    """The elements of the named tensors one behind the other."""
    return np.concatenate([arrays[name] for name in names]) if names else np.zeros(0)


def common(one: Mapping[str, AnyArray], other: Mapping[str, AnyArray]) -> tuple[str, ...]:
    """The names that both sides have, in the order of the first."""
    return tuple(name for name in one if name in other)


class _Recorded(NamedTuple):
    """What a record has of a step, or of what is before the first one."""

    weights: Values
    buffers: Values
    averages: Values
    state: Values
    gradients: Values
    given: Values


class Moment:
    """A step of a training with what the steps before it have left.

    ``count`` is the number of updates with this one, skipped ones left out. With ``is_few`` all tensors
    have the few elements that a long record keeps of one.
    """

    def __init__(
        self,
        step: TrainingStep,
        before: "Moment | None",
        training: Training,
        count: int,
        is_few: bool = False,
    ) -> None:
        self.step = step
        self.before = before
        self.count = count
        self.is_few = is_few
        self.is_behind_few: bool = before is not None and (before.is_few or before.is_behind_few)
        recorded = _Recorded(
            values(step.weights),
            values(step.buffers),
            values(step.averages),
            values(step.state),
            values(step.gradients or step.given),
            values(step.given),
        )
        self._recorded = recorded
        self.weights = self.like(recorded.weights)
        self.buffers = self.like(recorded.buffers)
        self.averages = self.like(recorded.averages)
        self.state = self.like(recorded.state)
        self.scale = step.scale or 1.0
        self.gradients = self.like(recorded.gradients)
        self.given = self.like(recorded.given) or self.unscaled
        self.dtypes = {leaf.name: leaf.value.dtype for leaf in step.weights}
        self._training = training
        starts = {} if before else values(training.start)
        first = _Recorded(starts, starts, starts, starts, {}, {})
        left = before._recorded if before else first
        self.weights_before = self.like(left.weights)
        self.buffers_before = self.like(left.buffers)
        self.averages_before = self.like(left.averages)
        self.state_before = self.like(left.state)
        self.gradients_before = self.like(left.gradients)
        self.given_before = self.like(left.given)

    def like(self, arrays: Values) -> Values:
        """Recorded tensors with as many elements as those of this step have."""
        return {name: spread(it) for name, it in arrays.items()} if self.is_few else arrays

    @cached_property
    def in_few(self) -> "Moment":
        """The step with a few elements of each tensor."""
        return Moment(self.step, self.before, self._training, self.count, is_few=True)

    @cached_property
    def held_before(self) -> dict[str, Values]:
        """What the optimizer held of each parameter before the step, by its own names."""
        held: dict[str, Values] = {}
        for path, array in self.state_before.items():
            name, _dot, key = path.rpartition(".")
            held.setdefault(name, {})[key] = array
        return held

    @cached_property
    def norms(self) -> dict[str, float]:
        """The norms of the gradients divided by the scale, over all elements."""
        return {leaf.name: norm_of(leaf.value) / self.scale for leaf in self.step.gradients}

    @cached_property
    def is_finite(self) -> bool:
        """Whether all elements of the gradients are, also those that an excerpt does not have."""
        return all(_is_finite(leaf.value) for leaf in self.step.gradients or self.step.given)

    @property
    def unscaled(self) -> Values:
        """The gradients divided by the scale."""
        return {name: array / self.scale for name, array in self.gradients.items()}

    @property
    def of_passes(self) -> Values:
        """What all passes of the step have added to the gradients, behind an update of theirs too."""
        sums: Values = {}
        for batch in self.step.batches:
            for name, added in values(batch.gradients).items():
                sums[name] = sums.get(name, 0.0) + added
        return sums

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
        return tuple(_rows(batch.data) for batch in self.step.batches)

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings of each parameter by its name."""
        return {name: dict(group.settings) for group in self.step.groups for name in group.names}


def _rows(data: Sequence[Leaf]) -> int:
    shapes = [leaf.value.shape for leaf in data if leaf.value.shape]
    return max(shapes[0][0], 1) if shapes else 1


def _is_finite(array: Array) -> bool:
    if array.excerpt is not None and array.excerpt.summary.nonfinite:
        return False
    return bool(np.isfinite(elements(array)).all())


def moments(training: Training, few: Collection[int] = ()) -> list[Moment]:
    """All steps of a training, each with the one before it; those of the numbers ``few`` in few elements."""
    found: list[Moment] = []
    count = 0
    for step in training.steps:
        count += not step.skipped
        before = found[-1] if found else None
        found.append(Moment(step, before, training, count, step.number in few))
    return found


def both(left: Sequence[Moment], right: Sequence[Moment]) -> Iterator[tuple[Moment, Moment]]:
    """The steps of two trainings that have the same number."""
    numbered = {moment.step.number: moment for moment in right}
    for moment in left:
        if moment.step.number in numbered:
            yield moment, numbered[moment.step.number]
