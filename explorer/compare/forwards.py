"""What decides whom central differences of a net can judge: outputs, nan and infinity."""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from explorer.compare.results import compare_leaf, movements
from explorer.model.arrays import unpack
from explorer.model.engines import Framework, engine_named
from explorer.model.results import Result, ResultNoise

Forwards = Mapping[str, ResultNoise]
"""What the net of each engine returns, with its noise, by the engine's name."""

NO_FORWARDS: Forwards = {}


def apart_from(framework: Framework, forwards: Forwards) -> frozenset[Framework]:
    """The frameworks whose nets return other values than that of one, by more than their noise."""
    by_framework = {engine_named(name).framework: noise for name, noise in forwards.items()}
    own = by_framework.pop(framework, None)
    if own is None:
        return frozenset()
    return frozenset(name for name, noise in by_framework.items() if _outputs_differ(own, noise))


def _outputs_differ(one: ResultNoise, other: ResultNoise) -> bool:
    if len(one.outputs) != len(other.outputs):
        return False
    left, right = movements(one), movements(other)
    for output, another in zip(one.outputs, other.outputs, strict=True):
        if output.name in one.drawn or another.name in other.drawn:
            continue
        moved = left.get(output.name), right.get(another.name)
        if compare_leaf(output, another, ("left", "right"), moved).verdict == "differs":
            return True
    return False


def not_finite_alike(
    fine: Mapping[str, Result], names: Collection[str]
) -> dict[str, NDArray[np.bool_]]:
    """The elements of gradients that are the same infinity or nan in every engine, by gradient.

    Of ``names`` alone; none where fewer than two engines answered.
    """
    if len(fine) < 2:
        return {}
    alike = {}
    first, *others = fine.values()
    for leaf in first.leaves:
        values = unpack(leaf.value)
        counted = ~np.isfinite(values)
        for result in others:
            counted = counted & _same_elements(values, result, leaf.name)
        if leaf.name in names and counted.any():
            alike[leaf.name] = counted
    return alike


def _same_elements(values: NDArray[np.float64], result: Result, name: str) -> NDArray[np.bool_]:
    """Where a result's leaf of a name has the same values."""
    for leaf in result.leaves:
        other = unpack(leaf.value)
        if leaf.name == name and other.shape == values.shape:
            same: NDArray[np.bool_] = (values == other) | (np.isnan(values) & np.isnan(other))
            return same
    return np.zeros(values.shape, bool)
