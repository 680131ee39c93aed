"""Whether weights, running statistics and averages are the same, and else what counts otherwise."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from explorer.compare.noise import CLEAR
from explorer.compare.training.moments import (
    Answered,
    Moment,
    Pair,
    along,
    apart_at,
    are_same,
    common,
    distance,
    greatest_of,
    joined,
)
from explorer.model.training_comparison import Rule, SideName
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

USUAL = (0.1, 0.01, 0.001, 0.05, 0.03, 0.2, 0.3, 0.5, 0.9, 0.95, 0.97, 0.99, 0.999)
"""What a new value counts for in the running statistics that programs have; PyTorch's own default first."""

NEAR = 1e-3
"""How near to a usual momentum a measured one is called by its name."""

WHOLE = 0.5
"""A number that may be off by less than this is known, if it is a whole one."""


def weights(pair: Pair) -> Answered:
    """Whether the weights lie no further apart than rounding may have moved them."""
    apart = apart_at(pair, "weights")
    unlike = apart.unlike
    if not unlike:
        return "same" if apart.names else "not_recorded"
    if any(apart.noises[name] is None for name in unlike):
        return "no_noise"
    return pair.differ(
        "weights",
        "values",
        unlike,
        of=len(apart.names),
        apart=greatest_of(apart.ones, apart.others, unlike),
        times=max(map(apart.times, unlike)),
    )


# Running statistics


def buffers(pair: Pair) -> Answered:
    """Whether running statistics are the same; those that only one side has are not compared."""
    apart = apart_at(pair, "buffers")
    unlike = apart.unlike
    if not unlike:
        return "same" if apart.names else "not_recorded"
    plain = pair.differ(
        "buffers",
        "values",
        unlike,
        of=len(apart.names),
        apart=greatest_of(apart.ones, apart.others, unlike),
    )
    if all(name in side.prior.buffers for side in (pair.left, pair.right) for name in unlike):
        momenta = _momenta(*(_moved(side, unlike) for side in (pair.left, pair.right)))
        if momenta:
            rules = [Rule("momentum", {"momentum": value}) for value in momenta]
            return replace(plain, reason="momentum", left=rules[0], right=rules[1])
        unbiased = _unbiased(pair.left, pair.right, unlike)
        if unbiased:
            rows, side = unbiased
            return replace(plain, reason="variance", numbers=(rows,), side=side)
    return plain if apart.is_measured else "no_noise"


def _moved(moment: Moment, names: Sequence[str]) -> Floats:
    return joined(moment.buffers, names) - joined(moment.prior.buffers, names)


def _momenta(one: Floats, other: Floats) -> tuple[float, float] | None:
    """What a new value counts for on each side, where one moves a multiple of what the other does."""
    ratio = along(one, other)
    if not 0 < ratio < math.inf or distance(one, ratio * other) > NEAR * distance(one, other):
        return None
    turned = ratio / (1 + ratio)
    if _is_usual(turned):
        return turned, 1 - turned
    return next(((usual * ratio, usual) for usual in USUAL if _is_usual(usual * ratio)), None)


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
    before = left.prior.buffers[name]
    if not are_same(before, right.prior.buffers[name]):
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
        size = max(float(np.abs(left.averages[name]).max(initial=0.0)) for name in names)
        return "same" if apart <= CLEAR * max(moved, UNIT["float32"] * size) else plain
    (one, error), (other, other_error) = decay, other_decay
    if abs(one - other) <= error + other_error:
        return "same"
    # An average of something else may look like one of the weights, but in the next step not any more.
    behind = [moment for moment in (left.beside(1), right.beside(1)) if moment]
    if len(behind) == 2 and any(_decay(moment, names) is None for moment in behind):
        return plain
    rules = [Rule("average", {"decay": value}) for value in (one, other)]
    return replace(plain, reason="decay", left=rules[0], right=rules[1])


def _decay(moment: Moment, names: Sequence[str]) -> tuple[float, float] | None:
    """What the old average counts for, and how far rounding may have moved that number."""
    known = (moment.prior.averages, moment.averages, moment.weights)
    if not all(name in tensors for tensors in known for name in names):
        return None
    old, new, weights = (joined(tensors, names) for tensors in known)
    span = old - weights
    square = float(span @ span)
    if not square:
        return None
    decay = along(new - weights, span)
    noise = CLEAR * UNIT["float32"] * float(np.linalg.norm(new))
    if distance(new, weights + decay * span) > noise:
        return None
    return decay, noise / square**0.5
