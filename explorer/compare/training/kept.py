"""Whether running statistics and averages of the weights are the same, and else what counts otherwise."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training.bands import Bands
from explorer.compare.training.data import Answered, are_same
from explorer.compare.training.values import Moment, Values, common, distance, greatest, joined
from explorer.model.training_comparison import Rule, SideName, TrainingDifference
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

USUAL = (0.1, 0.01, 0.001, 0.05, 0.03, 0.2, 0.3, 0.5, 0.9, 0.95, 0.97, 0.99, 0.999)
"""What a new value counts for in the running statistics that programs have; PyTorch's own default first."""

NEAR = 1e-3
"""How near to a usual momentum a measured one is called by its name."""


WHOLE = 0.5
"""A number that may be off by less than this is known, if it is a whole one."""

# Running statistics


def buffers(left: Moment, right: Moment, bands: Bands) -> Answered:
    """Whether running statistics are the same; those that only one side has are not compared."""
    names = common(left.buffers, right.buffers)
    if not names:
        return "not_recorded"
    aparts = {name: distance(left.buffers[name], right.buffers[name]) for name in names}
    noises = {name: _noise(bands, left, name) for name in names}
    is_measured = None not in noises.values()
    unlike = tuple(name for name in names if aparts[name] > CLEAR * (noises[name] or 0.0))
    if not unlike:
        return "same"
    plain = TrainingDifference(
        question="buffers",
        reason="values",
        step=left.step.number,
        names=unlike,
        of=len(names),
        apart=max(greatest(left.buffers[name], right.buffers[name]) for name in unlike),
    )
    moved, other_moved = (_moved(moment, unlike) for moment in (left, right))
    if moved is None or other_moved is None:
        return plain if is_measured else "no_noise"
    momenta = _momenta(moved, other_moved)
    if momenta:
        rules = [Rule("momentum", {"momentum": value}) for value in momenta]
        return replace(plain, reason="momentum", left=rules[0], right=rules[1])
    unbiased = _unbiased(left, right, unlike)
    if unbiased:
        rows, side = unbiased
        return replace(plain, reason="variance", numbers=(rows,), side=side)
    return plain if is_measured else "no_noise"


def _noise(bands: Bands, left: Moment, name: str) -> float | None:
    return bands.buffers(left, name, float(np.linalg.norm(left.buffers[name])))


def _moved(moment: Moment, names: Sequence[str]) -> Floats | None:
    if not all(name in moment.buffers_before for name in names):
        return None
    return joined(moment.buffers, names) - joined(moment.buffers_before, names)


def _momenta(one: Floats, other: Floats) -> tuple[float, float] | None:
    """What a new value counts for on each side, where one moves a multiple of what the other does."""
    square = float(other @ other)
    ratio = float(one @ other) / square if square else 0.0
    if not 0 < ratio < math.inf or distance(one, ratio * other) > NEAR * distance(one, other):
        return None
    turned = ratio / (1 + ratio)
    if _is_usual(turned):
        return turned, 1 - turned
    for usual in USUAL:
        if _is_usual(usual * ratio):
            return usual * ratio, usual
    return None


def _is_usual(momentum: float) -> bool:
    return any(abs(momentum / usual - 1) <= NEAR for usual in USUAL)


def _unbiased(left: Moment, right: Moment, names: Sequence[str]) -> tuple[float, SideName] | None:
    """Of how many values one side's variances are the unbiased ones, and which side's.

    Each layer has its own number; it is that of the first one whose number rounding leaves certain.
    """
    for momentum in USUAL:
        found = [_of_rows(left, right, name, momentum) for name in names]
        clear = [one for one in found if one and one[0]]
        sides = {one[2] for one in clear}
        certain = [one for one in clear if one[1] < WHOLE]
        if None not in found and certain and len(sides) == 1:
            return certain[0][0], certain[0][2]
    return None


def _of_rows(
    left: Moment, right: Moment, name: str, momentum: float
) -> tuple[float, float, SideName] | None:
    """Of how many values a variance is the unbiased one on a side, and how far that number may be off.

    0 where both sides have the same up to rounding; None where they differ otherwise.
    """
    before = left.buffers_before[name]
    if not are_same(before, right.buffers_before[name]):
        return None
    afters = [moment.buffers[name] for moment in (left, right)]
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
    if not (apart <= NEAR / rows * np.abs(smaller) + CLEAR * rounding).all():
        return None
    return float(rows), 2 * rows**2 * float(np.linalg.norm(rounding)) / size, side


# Averages of the weights


def averages(left: Moment, right: Moment, behind: Sequence[Moment] = ()) -> Answered:
    """Whether averages of the weights are the same, and else by which decay each side makes them.

    An average of something else may look like one of the weights at first: ``behind`` are the next steps of
    both sides, which follow a decay too if there is one.
    """
    names = tuple(
        name
        for name in common(left.averages, right.averages)
        if name in left.weights and name in right.weights
    )
    if not names:
        return "not_recorded"
    decay, other_decay = (_decay(moment, names) for moment in (left, right))
    apart = max(greatest(left.averages[name], right.averages[name]) for name in names)
    plain = TrainingDifference(
        question="averages",
        reason="values",
        step=left.step.number,
        names=names,
        of=len(names),
        apart=apart,
    )
    if decay is None or other_decay is None:
        weights = max(greatest(left.weights[name], right.weights[name]) for name in names)
        size = max(float(np.abs(left.averages[name]).max(initial=0.0)) for name in names)
        near = CLEAR * max(weights, UNIT["float32"] * size)
        return "same" if apart <= near else plain
    (one, error), (other, other_error) = decay, other_decay
    if abs(one - other) <= error + other_error:
        return "same"
    if any(_decay(later, names) is None for later in behind):
        return plain
    rules = [Rule("average", {"decay": value}) for value in (one, other)]
    return replace(plain, reason="decay", left=rules[0], right=rules[1])


def _decay(moment: Moment, names: Sequence[str]) -> tuple[float, float] | None:
    """What the old average counts for, and how far rounding may have moved that number."""
    before: Values = moment.averages_before
    known = (before, moment.averages, moment.weights)
    if not all(name in tensors for tensors in known for name in names):
        return None
    old, new = joined(before, names), joined(moment.averages, names)
    weights = joined(moment.weights, names)
    span = old - weights
    square = float(span @ span)
    if not square:
        return None
    decay = float((new - weights) @ span) / square
    noise = CLEAR * UNIT["float32"] * float(np.linalg.norm(new))
    if distance(new, weights + decay * span) > noise:
        return None
    return decay, noise / square**0.5
