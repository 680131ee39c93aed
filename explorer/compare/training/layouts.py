"""Data of a training as they lie in the other one: images have their channels first, or last."""

from collections.abc import Iterable
from itertools import permutations

import numpy as np
from msgspec.structs import replace

from explorer.compare.training.data import are_same
from explorer.compare.training.values import elements
from explorer.model.arrays import Array, Summary, pack
from explorer.model.results import Leaf
from explorer.model.training import Training, TrainingStep
from explorer.numeric.differences import Floats


def in_layouts_of(left: Training, right: Training) -> Training:
    """The right training with its data as they lie on the left, where their axes have another order."""
    lefts = {step.number: _data(step) for step in left.steps}
    steps = tuple(_laid_out(step, lefts.get(step.number, [])) for step in right.steps)
    return replace(right, steps=steps) if steps != right.steps else right


def _data(step: TrainingStep) -> list[Array]:
    """What nets are called with that has more axes than samples and features."""
    leaves = (leaf.value for batch in step.batches for leaf in batch.data)
    return [value for value in leaves if len(value.shape) > 2]


def _laid_out(step: TrainingStep, others: list[Array]) -> TrainingStep:
    if not others or not _data(step):
        return step
    batches = tuple(
        replace(batch, data=tuple(_leaf_as(leaf, others) for leaf in batch.data))
        for batch in step.batches
    )
    return replace(step, batches=batches)


def _leaf_as(leaf: Leaf, others: Iterable[Array]) -> Leaf:
    shape = leaf.value.shape
    for other in others:
        has_other_axes = shape != other.shape and sorted(shape) == sorted(other.shape)
        if has_other_axes and shape[0] == other.shape[0]:
            value = _as(leaf.value, other)
            if value is not None:
                return replace(leaf, value=value)
    return leaf


def _as(own: Array, other: Array) -> Array | None:
    """An array with all axes but the first in the order of another one: one that makes both the same, if any.

    Of arrays that are kept in part, figures of all elements say so: they depend on no layout.
    """
    if own.excerpt is not None and other.excerpt is not None:
        figures = _figures(own.excerpt.summary), _figures(other.excerpt.summary)
        return other if are_same(*figures) else None
    if own.excerpt is not None or other.excerpt is not None:
        return None
    values, wanted = elements(own).reshape(own.shape), elements(other)
    orders = permutations(range(1, values.ndim))
    likely = [it for it in (values.transpose(0, *one) for one in orders) if it.shape == other.shape]
    same = (turned for turned in likely if are_same(turned.ravel(), wanted))
    return pack(next(same, likely[0]), own.dtype)


def _figures(known: Summary) -> Floats:
    return np.array([known.minimum, known.maximum, known.mean, known.norm, *known.quantiles])
