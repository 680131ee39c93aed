"""Values of the tensors of a training, by name, and figures of their differences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray, Array, carrier
from explorer.model.results import Leaf
from explorer.model.training import Training, TrainingStep
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

Values = dict[str, Floats]
"""The elements of tensors, flat, by the tensors' names: all of a small one, an excerpt of a large one."""


def elements(array: Array) -> Floats:
    """The elements that a record has, in the order in which it has them."""
    return np.frombuffer(array.data, carrier(array.dtype)).astype(np.float64)


def values(leaves: Iterable[Leaf]) -> Values:
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


class Moment:
    """A step of a training with what the steps before it have left.

    ``count`` is the number of updates with this one, skipped ones left out.
    """

    def __init__(
        self, step: TrainingStep, before: "Moment | None", training: Training, count: int
    ) -> None:
        self.step = step
        self.before = before
        self.count = count
        self.weights = values(step.weights)
        self.buffers = values(step.buffers)
        self.averages = values(step.averages)
        self.state = values(step.state)
        self.scale = step.scale or 1.0
        self.gradients = values(step.gradients or step.given)
        self.given = values(step.given) or self.unscaled
        self.dtypes = {leaf.name: leaf.value.dtype for leaf in step.weights}
        starts = {start.name: elements(start.value) for start in training.start}
        self.weights_before = before.weights if before else starts
        self.buffers_before = before.buffers if before else starts
        self.state_before = before.state if before else starts
        self.averages_before = before.averages if before else starts

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


def moments(training: Training) -> list[Moment]:
    """All steps of a training, each with the one before it."""
    found: list[Moment] = []
    count = 0
    for step in training.steps:
        count += not step.skipped
        found.append(Moment(step, found[-1] if found else None, training, count))
    return found


def both(left: Sequence[Moment], right: Sequence[Moment]) -> Iterator[tuple[Moment, Moment]]:
    """The steps of two trainings that have the same number."""
    numbered = {moment.step.number: moment for moment in right}
    for moment in left:
        if moment.step.number in numbered:
            yield moment, numbered[moment.step.number]
