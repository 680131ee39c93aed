"""What a scenario's TOLERANCES allow: answers that differ, and may by so much."""

from collections.abc import Collection, Iterable

from explorer.compare.results import Movements, compare_form, compare_leaf, within
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.results import Leaf, Result
from explorer.scenario.declaration import Tolerance


def allowance(
    case: GradCase,
    left: Result,
    right: Result,
    tolerances: Iterable[Tolerance],
    noise: tuple[Movements, Movements],
    drawn: Collection[str] = (),
) -> str:
    """The reasons why two answers to a case may differ as they do.

    Empty where they may not: another structure, shape or dtype, or a leaf that differs by more than
    its ``noise`` and that no tolerance covers. The values of leaves in ``drawn``, which depend on
    random numbers, may be any.
    """
    if left.structure != right.structure:
        return ""
    reasons: dict[str, None] = {}
    for leaf, other in zip(left.leaves, right.leaves, strict=True):
        if leaf.name in drawn and compare_form(leaf, other, ("left", "right")).verdict == "match":
            continue
        movement = noise[0].get(leaf.name), noise[1].get(other.name)
        if compare_leaf(leaf, other, ("left", "right"), movement).verdict == "differs":
            reason = _reason(case, leaf, other, tolerances)
            if not reason:
                return ""
            reasons[reason] = None
    return "; ".join(reasons)


def _reason(case: GradCase, leaf: Leaf, other: Leaf, tolerances: Iterable[Tolerance]) -> str:
    """The reason of the first tolerance that covers two leaves; empty where none does."""
    one, another = leaf.value, other.value
    if (one.shape, one.dtype) != (another.shape, another.dtype):
        return ""
    for tolerance in tolerances:
        limits = tolerance.rtol, tolerance.atol
        if tolerance.applies(case, leaf.name) and within(unpack(one), unpack(another), limits):
            return tolerance.reason
    return ""
