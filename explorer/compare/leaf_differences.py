"""The tensors of a case by how far two engines differ in them."""

from operator import attrgetter
from typing import NamedTuple

import numpy as np

from explorer.model.arrays import unpack
from explorer.model.report import CaseReport
from explorer.model.results import Leaf
from explorer.numeric.differences import elementwise_difference, real_parts


class LeafDifference(NamedTuple):
    """The greatest difference of one tensor."""

    leaf: str
    greatest: float


def leaf_differences(case: CaseReport) -> list[LeafDifference]:
    """The tensors in which the two engines of a case's greatest difference differ, the greatest first.

    Tensors that depend on random numbers are left out, and those of different shapes or dtypes.
    """
    difference = case.greatest
    if difference is None or difference.what != "value":
        return []
    one, other = (case.results[engine] for engine in difference.engines)
    by_name = {leaf.name: leaf for leaf in other.leaves}
    differences = []
    for leaf in one.leaves:
        counterpart = by_name.get(leaf.name)
        if counterpart is None or leaf.name in case.drawn:
            continue
        greatest = _greatest(leaf, counterpart)
        if greatest:
            differences.append(LeafDifference(leaf.name, greatest))
    return sorted(differences, key=attrgetter("greatest"), reverse=True)


def _greatest(leaf: Leaf, counterpart: Leaf) -> float:
    one, other = unpack(leaf.value), unpack(counterpart.value)
    if one.shape != other.shape or one.dtype != other.dtype or one.dtype.kind not in "fc":
        return 0.0
    one, other = (real_parts(array).astype(np.float64) for array in (one, other))
    return float(elementwise_difference(one, other).max(initial=0.0))
