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
        return _of_other_form("structure", engines, left.written, right.written)
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
        one, another = leaf.value, other.value
        if one.shape != another.shape:
            compared = _of_other_form("shape", engines, one.shape, another.shape, leaf.name)
        elif one.dtype != another.dtype:
            compared = _of_other_form("dtype", engines, one.dtype, another.dtype, leaf.name)
        elif leaf.name in drawn:
            compared = Comparison("match")
        else:
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
    judged = list(comparisons)
    size = None
    for place, compared in enumerate(comparisons):
        difference = compared.greatest
        if difference is None or compared.verdict == "differs" or not difference.rel:
            continue
        if difference.noise < difference.abs / difference.rel:
            continue  # the noise of the element is less than the element itself
        if size is None:
            arrays = (real_parts(unpack(it.value)) for it in (*left.leaves, *right.leaves))
            sizes = (np.abs(array.astype(np.float64)) for array in arrays)
            size = max(float(it[np.isfinite(it)].max(initial=0.0)) for it in sizes)
        if difference.abs >= SWAMPED * size:
            swamped = msgspec.structs.replace(difference, swamped=True)
            judged[place] = compared._replace(verdict="differs", greatest=swamped)
    return judged


def _of_other_form(
    what: Literal["structure", "shape", "dtype"],
    engines: Parties,
    one: object,
    other: object,
    leaf: str = "",
) -> Comparison:
    """The comparison of what has other structures, shapes or dtypes."""
    difference = Difference(what, engines, leaf=leaf, detail=f"{one} against {other}")
    return Comparison("differs", difference, in_torch_table=False, in_mindspore_table=False)


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
    level_a = level_b = np.zeros(a.shape)  # integers and booleans are exact
    if one.dtype in UNIT:
        fitting = [it if it is not None and it.shape == a.shape else None for it in movement]
        # Where the noise of one was not measured, that of the other stands for it too.
        known = [
            next((it for it in pair if it is not None), None) for pair in (fitting, fitting[::-1])
        ]
        level_a, level_b = level(a, one.dtype, known[0]), level(b, one.dtype, known[1])
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


def worst(comparisons: Iterable[Comparison]) -> Comparison:
    """The worst verdict among ``comparisons``, and the greatest difference that leads to it.

    Of equally great ones it is the first.
    """
    every = list(comparisons)

    def size(comparison: Comparison) -> tuple[int, float]:
        """The rank of a verdict, then the size of the difference that leads to it.

        A difference of structure, shape or dtype is greater than any number.
        """
        difference = comparison.greatest
        if difference is None:
            return -1, -1.0
        # What cannot be judged says less than what is known to differ.
        rank = RANK.index(comparison.verdict) - difference.swamped
        return rank, difference.abs if difference.what == "value" else np.inf

    verdicts = [comparison.verdict for comparison in every]
    leading = max(every, key=size, default=None)
    return Comparison(
        max(verdicts, key=RANK.index, default="match"),
        leading.greatest if leading else None,
        all(comparison.in_torch_table for comparison in every),
        all(comparison.in_mindspore_table for comparison in every),
    )
