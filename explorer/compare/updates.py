"""Updates of weights that differ by no more than the noise of their gradients explains."""

from collections.abc import Mapping

import numpy as np

from explorer.compare.noise import CLEAR, MINDSPORE_TABLE
from explorer.model.arrays import Array, first_elements
from explorer.model.graph import GradGraph
from explorer.model.state import StateChange
from explorer.model.trace import Trace
from explorer.numeric.differences import Floats

GREATEST_SHARE = 2.0
"""By so much of itself an update may differ: where a gradient is noise, its sign is."""


def alike_updates(left: Trace, right: Trace) -> frozenset[str]:
    """The weights, and what optimizers hold for them, that two steps have updated alike, by name.

    Optimizers divide gradients by their size: an element whose gradient is noise about zero moves as far as
    any other, this way or that. Each element may differ by the share of its update that the noise is
    of its gradient.
    """
    levels = {**_levels(left.graph), **_levels(right.graph)}
    gradients = {leaf.name: leaf.value for leaf in (*right.results, *left.results)}
    others = {change.name: change for change in right.state}
    alike = set()
    for change in left.state:
        parameter = (
            change.name if f"d{change.name}" in gradients else change.name.rpartition(".")[0]
        )
        gradient, level = gradients.get(f"d{parameter}"), levels.get(f"d{parameter}")
        other = others.get(change.name)
        if gradient is None or level is None or other is None:
            continue
        if _are_alike(change, other, _numbers(gradient), level):
            alike.add(change.name)
    return frozenset(alike)


def _levels(graph: GradGraph | None) -> Mapping[str, float]:
    """The noise of each result of a graph that was measured."""
    levels = {}
    for node in graph.nodes if graph else ():
        noise = node.outputs[0].noise if node.outputs else None
        if node.kind == "output" and noise is not None:
            levels[node.name] = noise
    return levels


def _are_alike(one: StateChange, other: StateChange, gradient: Floats, level: float) -> bool:
    before, after, another = map(_numbers, (one.before, one.after, other.after))
    if not before.shape == after.shape == another.shape == gradient.shape:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip(np.nan_to_num(CLEAR * level / np.abs(gradient)), 0.0, GREATEST_SHARE)
    rtol, atol = MINDSPORE_TABLE["float32"]
    room = (
        share * np.abs(after - before) + rtol * np.abs(after) + atol * np.abs(after - before).max()
    )
    return bool((np.abs(after - another) <= room).all())


def _numbers(array: Array) -> Floats:
    """The elements of an array that a trace keeps, in a row."""
    return first_elements(array).astype(np.float64).ravel()
