"""The comparison of two results: how equal they are, and the greatest difference that leads to it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from explorer.compare.graphs.sameness import greatest, in_tables, level, rank, ratios
from explorer.model.arrays import LARGE, unpack
from explorer.model.report import CaseVerdict, Difference
from explorer.model.results import Leaf, Result, ResultNoise
from explorer.model.trees import alike
from explorer.numeric.differences import Floats, elementwise_difference, real_parts
from explorer.numeric.summaries import UNIT

RANK: tuple[CaseVerdict, ...] = ("match", "close", "differs")
"""The verdicts on two results, best first."""

Parties = tuple[str, str]
"""Two parties of a case: names of engines, or ORACLE."""


class Comparison(NamedTuple):
    """Two results side by side: a verdict, and the greatest difference that leads to it.

    ``greatest`` is None where there are no two results, or no elements in them. ``in_torch_table``
    and ``in_mindspore_table`` say whether every element is within the frameworks' own tolerances.
    """

    verdict: CaseVerdict
    greatest: Difference | None = None
    in_torch_table: bool = True
    in_mindspore_table: bool = True


Movements = Mapping[str, Floats]
"""How far the elements of each leaf were seen to move under rounding, by the leaf's name."""

NOT_MEASURED: Movements = {}

Noises = tuple[Movements, Movements]
"""The noise of the left one of two results, and of the right one."""


def movements(noise: ResultNoise | None) -> Movements:
    """The movements of a result's leaves; none where they were not measured."""
    if noise is None:
        return NOT_MEASURED
    return {leaf.name: unpack(leaf.movement).astype(np.float64) for leaf in noise.leaves}


# Two results

SWAMPED = 0.1
"""A difference of this share of the results cannot be judged where noise is as great as its values."""


def compare(
    left: Result,
    right: Result,
    engines: Parties = ("left", "right"),
    noise: Noises = (NOT_MEASURED, NOT_MEASURED),
    drawn: Collection[str] = (),
) -> Comparison:
    """Compare two results with outcome "ok": their structure, then leaf by leaf.

    Structures are compared by how they nest, whatever the types of the containers.
    """
    if not alike(left.structure, right.structure):
        detail = f"{left.written} against {right.written}"
        return _other(Difference("structure", engines, detail=detail))
    return worst(
        unless_swamped(left, right, by_leaf(left.leaves, right.leaves, engines, noise, drawn))
    )


def by_leaf(
    left: Sequence[Leaf],
    right: Sequence[Leaf],
    engines: Parties = ("left", "right"),
    noise: Noises = (NOT_MEASURED, NOT_MEASURED),
    drawn: Collection[str] = (),
) -> list[Comparison]:
    """Compare tensors in their order, each by its shape first, then its dtype, then every element.

    A nan equals a nan, an infinity the same infinity. ``drawn`` names those of the left that depend on
    random numbers on both sides: their elements are not compared.
    """
    comparisons = []
    for leaf, other in zip(left, right, strict=True):
        compared = _by_form(leaf, other, engines)
        if compared.verdict != "differs" and leaf.name not in drawn:
            movement = noise[0].get(leaf.name), noise[1].get(other.name)
            compared = _by_elements(leaf, other, engines, movement)
        comparisons.append(compared)
    return comparisons


def unless_swamped(
    left: Result, right: Result, comparisons: Sequence[Comparison]
) -> list[Comparison]:
    """Comparisons of leaves, those no match where noise alone excuses a difference as great as the results.

    It is that of all of them: a gradient that is nothing but noise is small beside the others.
    """
    if not any(map(_may_be_swamped, comparisons)):
        return list(comparisons)
    size = max(map(_size_of, (*left.leaves, *right.leaves)))
    judged = []
    for compared in comparisons:
        difference = compared.greatest
        if (
            difference is not None
            and _may_be_swamped(compared)
            and difference.abs >= SWAMPED * size
        ):
            swamped = msgspec.structs.replace(difference, swamped=True)
            compared = compared._replace(verdict="differs", greatest=swamped)
        judged.append(compared)
    return judged


def _may_be_swamped(comparison: Comparison) -> bool:
    """Whether the noise of an element that is no difference is as great as the element itself."""
    difference = comparison.greatest
    if difference is None or comparison.verdict == "differs" or not difference.rel:
        return False
    return difference.noise >= difference.abs / difference.rel


def _size_of(leaf: Leaf) -> float:
    """The greatest finite number of a leaf."""
    sizes = np.abs(real_parts(unpack(leaf.value)).astype(np.float64))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def _other(difference: Difference) -> Comparison:
    """The comparison of what has other structures, shapes or dtypes."""
    return Comparison("differs", difference, in_torch_table=False, in_mindspore_table=False)


def _by_form(left: Leaf, right: Leaf, engines: Parties) -> Comparison:
    """Compare two tensors by shape and dtype alone."""
    forms: tuple[tuple[Literal["shape", "dtype"], object, object], ...] = (
        ("shape", left.value.shape, right.value.shape),
        ("dtype", left.value.dtype, right.value.dtype),
    )
    for what, one, other in forms:
        if one != other:
            detail = f"{one} against {other}"
            return _other(Difference(what, engines, leaf=left.name, detail=detail))
    return Comparison("match")


def _by_elements(
    left: Leaf, right: Leaf, engines: Parties, movement: tuple[Floats | None, Floats | None]
) -> Comparison:
    """Compare two tensors of one shape and dtype."""
    one, other = left.value, right.value
    if one.size > LARGE and one.data == other.data:
        # Nothing to look for, which would take seconds in a net of millions of weights.
        start = (0,) * (len(one.shape) + one.dtype.startswith("complex"))
        return Comparison("match", Difference("value", engines, leaf=left.name, index=start))
    array, other_array = unpack(one), unpack(other)
    tables = in_tables(array, other_array, one.dtype)
    # A complex number is two elements: its index has one more, that of its part.
    a, b = (real_parts(it).astype(np.float64) for it in (array, other_array))
    if not a.size:
        return Comparison("match", None, *tables)
    level_a, level_b = _levels(a, b, one.dtype, movement)
    times = ratios(a, b, level_a, level_b)
    differences = elementwise_difference(a, b)
    place = greatest(differences, times)
    noise = np.hypot(level_a, level_b)
    difference = difference_at(place, engines, left.name, (a, b), differences, noise, times)
    return Comparison(RANK[int(rank(np.float64(difference.ratio)))], difference, *tables)


def difference_at(
    place: int,
    engines: Parties,
    leaf: str,
    values: tuple[Floats, Floats],
    differences: Floats,
    noise: Floats,
    times: Floats,
) -> Difference:
    """The difference of two values at an element, which is the ``place`` in C order."""
    index = tuple(map(int, np.unravel_index(place, differences.shape)))
    absolute = float(differences[index])
    size = max(abs(float(array[index])) for array in values)
    # Beside a zero or an infinity no quotient says anything: the difference itself has to do.
    relative = absolute / size if size and np.isfinite(size) else absolute
    return Difference(
        "value",
        engines,
        absolute,
        relative,
        leaf,
        index,
        noise=float(noise[index]),
        ratio=float(times[index]),
    )


def _levels(
    one: Floats, other: Floats, dtype: str, movement: tuple[Floats | None, Floats | None]
) -> tuple[Floats, Floats]:
    """The noise of both sides; where one was not measured, the other's stands for it too."""
    if dtype not in UNIT:
        return np.zeros(one.shape), np.zeros(one.shape)  # integers and booleans are exact
    moved = [
        given if given is not None and given.shape == one.shape else None for given in movement
    ]
    left, right = moved[0], moved[1]
    left, right = (right if left is None else left), (left if right is None else right)
    return level(one, dtype, left), level(other, dtype, right)


def worst(comparisons: Iterable[Comparison]) -> Comparison:
    """The worst verdict among ``comparisons``, and the greatest difference that leads to it.

    Of equally great ones it is the first.
    """
    every = list(comparisons)
    verdicts = [comparison.verdict for comparison in every]
    leading = max(every, key=_size, default=None)
    return Comparison(
        max(verdicts, key=RANK.index, default="match"),
        leading.greatest if leading else None,
        all(comparison.in_torch_table for comparison in every),
        all(comparison.in_mindspore_table for comparison in every),
    )


def _size(comparison: Comparison) -> tuple[int, float]:
    """The rank of a verdict, then the size of the difference that leads to it.

    A difference of structure, shape or dtype is greater than any number.
    """
    if comparison.greatest is None:
        return -1, -1.0
    size = comparison.greatest.abs
    if comparison.greatest.what != "value":
        size = np.inf
    # What cannot be judged says less than what is known to differ.
    return RANK.index(comparison.verdict) - comparison.greatest.swamped, size
