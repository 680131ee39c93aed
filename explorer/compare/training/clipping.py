"""What happens to gradients between backward and the optimizer: unscaled, clipped, or left out."""

import math
from collections.abc import Sequence

import numpy as np

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training.data import Answered
from explorer.compare.training.values import Moment, common, greatest, joined, total_norm
from explorer.model.training_comparison import Reason, Rule, SideName, TrainingDifference
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

ADDED = 1e-6
"""What PyTorch's clip_grad_norm_ adds to the norm that it divides by (2.13); MindSpore adds nothing."""


def skipped(left: Moment, right: Moment) -> Answered:
    """Whether both sides made the update, or both left it out."""
    if left.step.skipped == right.step.skipped:
        return "same"
    side: SideName = "right" if left.step.skipped else "left"
    updated = right if left.step.skipped else left
    return TrainingDifference(
        question="skipped",
        reason="values" if updated.is_finite else "overflow_not_skipped",
        step=left.step.number,
        side=side,
    )


def given(left: Moment, right: Moment) -> Answered:
    """Whether both optimizers got their gradients by the same rule from those that backward left."""
    if left.step.skipped or right.step.skipped or not (left.is_finite and right.is_finite):
        return "same"
    if not all(moment.step.gradients and moment.step.given for moment in (left, right)):
        return "not_recorded"
    one, other = rule_of(left), rule_of(right)
    if _are_same(one, other, left):
        return "same"
    names = common(left.given, right.given)
    apart = max(greatest(left.given[name], right.given[name]) for name in names)
    if not one.kind or not other.kind:
        return _unknown(left, right, names, apart)
    reason: Reason = "clipping" if one.kind != other.kind else "limit"
    side: SideName | None = None
    if "not_unscaled" in (one.kind, other.kind):
        reason, side = "not_unscaled", "left" if one.kind == "not_unscaled" else "right"
    return TrainingDifference(
        question="given",
        reason=reason,
        step=left.step.number,
        names=names,
        of=len(names),
        apart=apart,
        side=side,
        left=one,
        right=other,
    )


def _unknown(left: Moment, right: Moment, names: Sequence[str], apart: float) -> Answered:
    """Where the rule of a side is not known: whether both make the same of the same gradients."""
    before = max(greatest(left.unscaled[name], right.unscaled[name]) for name in names)
    size = max(float(np.abs(left.given[name]).max(initial=0.0)) for name in names)
    if apart <= CLEAR * max(before, UNIT["float32"] * size):
        return "same"
    return TrainingDifference(
        question="given",
        reason="values",
        step=left.step.number,
        names=tuple(names),
        of=len(names),
        apart=apart,
    )


def _are_same(one: Rule, other: Rule, moment: Moment) -> bool:
    if one.kind != other.kind or not one.kind:
        return False
    if "limit" not in one.settings:
        return True
    ratio: float = one.settings["limit"] / other.settings["limit"]
    norm = total_norm(moment.step.gradients) / moment.scale
    error = CLEAR * 8 * UNIT["float32"] + ADDED / max(norm, ADDED)
    return abs(ratio - 1) <= error


def rule_of(moment: Moment) -> Rule:
    """What makes the given gradients of those that backward left; without a kind where no rule does."""
    names = common(moment.gradients, moment.given)
    plain = {name: moment.unscaled[name] for name in names}
    given = {name: moment.given[name] for name in names}
    if all(_is(given[name], plain[name]) for name in names):
        return Rule("none")
    if all(_is(given[name], moment.gradients[name]) for name in names):
        return Rule("not_unscaled")
    norm = total_norm(moment.step.gradients) / moment.scale
    share = _share(joined(given, names), joined(plain, names))
    if share is not None and share < 1:
        recorded = moment.step.norm
        is_scaled = (
            moment.scale != 1
            and recorded is not None
            and 0 < recorded < math.inf
            and abs(math.log(recorded / (norm * moment.scale))) < abs(math.log(recorded / norm))
        )
        kind = "norm_before_unscale" if is_scaled else "norm"
        return Rule(kind, {"limit": share * norm * (moment.scale if is_scaled else 1)})
    limit = _limit_by_value(given, plain, names)
    if limit is not None:
        return Rule("value", {"limit": limit})
    limit = _limit_of_each(given, plain, moment.norms)
    return Rule("norm_each", {"limit": limit}) if limit is not None else Rule()


def _is(one: Floats, other: Floats) -> bool:
    return bool((np.abs(one - other) <= CLEAR * UNIT["float32"] * np.abs(other)).all())


def _share(one: Floats, other: Floats) -> float | None:
    """The factor that makes one of the other, if it is the same for all elements."""
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    square = float(other @ other)
    share = float(one @ other) / square if square else 0.0
    return share if share and _is(one, share * other) else None


def _limit_by_value(
    given: dict[str, Floats], plain: dict[str, Floats], names: Sequence[str]
) -> float | None:
    one, other = joined(given, names), joined(plain, names)
    limit = float(np.abs(one).max(initial=0.0))
    return limit if limit and _is(one, np.clip(other, -limit, limit)) else None


def _limit_of_each(
    given: dict[str, Floats], plain: dict[str, Floats], norms: dict[str, float]
) -> float | None:
    """The limit of the norm of each tensor on its own, if all those that are clipped have the same."""
    limits = []
    for name in given:
        share = _share(given[name], plain[name])
        if share is None and plain[name].any():
            return None
        if share is not None and share < 1 - CLEAR * UNIT["float32"]:
            limits.append(share * norms[name])
    is_one = bool(limits) and max(limits) / min(limits) - 1 <= CLEAR * 8 * UNIT[
        "float32"
    ] + ADDED / min(limits)
    return limits[0] if is_one else None
