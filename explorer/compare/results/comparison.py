"""The comparison of two results, or of one with central differences: how equal they are, and where not."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.compare.graphs.sameness import (
    CENTRAL,
    CLEAR,
    farthest,
    greatest,
    in_tables,
    level,
    rank,
    scale,
)
from explorer.model.arrays import LARGE, Array, unpack
from explorer.model.report import ORACLE, CaseVerdict, Difference
from explorer.model.results import Estimate, Leaf, OracleResult, Result, ResultNoise
from explorer.model.trees import alike
from explorer.numeric.differences import Floats, direction, elementwise_difference, real_parts
from explorer.numeric.summaries import GREATEST, UNIT

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


def moved(noise: Movements, name: str, array: Floats) -> Floats | None:
    """How far the elements of a leaf move; None where that was not measured, or in another shape."""
    movement = noise.get(name)
    return movement if movement is not None and movement.shape == array.shape else None


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
            compared = _by_elements(leaf, other, engines, noise)
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
            size = max(_greatest_of(it.value) for it in (*left.leaves, *right.leaves))
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


def _by_elements(left: Leaf, right: Leaf, engines: Parties, noise: Noises) -> Comparison:
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
        own, theirs = moved(noise[0], left.name, a), moved(noise[1], right.name, a)
        # Where the noise of one was not measured, that of the other stands for it too.
        level_a = level(a, one.dtype, theirs if own is None else own)
        level_b = level(b, one.dtype, own if theirs is None else theirs)
    differences, room = elementwise_difference(a, b), np.hypot(level_a, level_b)
    difference = _difference_at(greatest, engines, left.name, (a, b), differences, room)
    return Comparison(RANK[int(rank(np.float64(difference.ratio)))], difference, *tables)


def _difference_at(
    which: Callable[[Floats, Floats], int],
    engines: Parties,
    leaf: str,
    values: tuple[Floats, Floats],
    differences: Floats,
    noise: Floats,
) -> Difference:
    """The difference of two values at the element that ``which`` finds, as a place in C order."""
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(differences == 0, 0.0, differences / noise)
    index = tuple(map(int, np.unravel_index(which(differences, times), differences.shape)))
    absolute = float(differences[index])
    size = max(abs(float(array[index])) for array in values)
    # Beside a zero or an infinity no quotient says anything: the difference itself has to do.
    relative = absolute / size if size and np.isfinite(size) else absolute
    ratio, level = float(times[index]), float(noise[index])
    return Difference("value", engines, absolute, relative, leaf, index, noise=level, ratio=ratio)


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

    return Comparison(
        max((it.verdict for it in every), key=RANK.index, default="match"),
        max(every, key=size, default=Comparison("match")).greatest,
        all(it.in_torch_table for it in every),
        all(it.in_mindspore_table for it in every),
    )


# A result beside central differences

Elements = Mapping[str, NDArray[np.bool_]]
"""Which elements of gradients are the same nan or infinity in every engine, by the gradient's name."""

ALL_FINITE: Elements = {}


class BesideOracle:
    """A result beside each estimate of the oracle that does not depend on random numbers.

    It ``agrees`` where every gradient that was estimated is near the engine's. A large gradient is estimated
    along random directions only, and is compared along these; several that were estimated together are added
    up before. The engine may be off by its own ``noise``, that of its coarsest dtype above all. At a kink
    there is no derivative: whatever lies between the slopes to either side is as good, and proves nothing.
    Where an estimate is not finite, or lost in the rounding of great outputs, there is nothing to compare
    with. What depends on random numbers, in ``drawn``, is left out, and so is what is ``not_finite`` in every
    engine; None where nothing is left. ``noise_alone`` has, by the estimate's name, which of its numbers
    judge nothing, since noise alone moves the gradient by its own size.
    """

    def __init__(
        self,
        result: Result,
        oracle: OracleResult,
        noise: Movements = NOT_MEASURED,
        drawn: Collection[str] = (),
        not_finite: Elements = ALL_FINITE,
    ) -> None:
        leaves = {leaf.name: leaf for leaf in result.leaves}
        self.noise_alone: dict[str, NDArray[np.bool_]] = {}
        self._off: list[tuple[Estimate, _Off]] = []
        estimates = [it for it in oracle.estimates if set(it.leaves).isdisjoint(drawn)]
        sizes = [_greatest_of(it.value) for it in estimates]
        is_refuted = is_proven = False
        for estimate, size in zip(estimates, sizes, strict=True):
            along = [_along(leaves[it], estimate, noise) for it in estimate.leaves if it in leaves]
            # Nothing is known of a result that has not all of the leaves, or in other shapes.
            if len(along) < len(estimate.leaves) or along[0][0].shape != estimate.value.shape:
                is_refuted = True
                continue
            most = GREATEST.get(leaves[estimate.leaves[0]].value.dtype, np.inf)
            off = _Off(along, estimate, most, not_finite)
            # An engine's noise excuses a difference as great as its gradient, but not of one that is small
            # beside those of all estimates, nor of one that is 0 but for rounding: an engine that gives
            # nothing but rounding there is right.
            is_small = size <= estimate.noise or size < SWAMPED * max(sizes)
            is_noise = (off.noise >= size) & (not is_small)
            is_refuted |= off.is_beyond
            has_proof = bool((off.is_proof & ~off.is_silent & ~is_noise).any())
            is_proven |= has_proof and not off.is_lost
            if (off.is_proof & is_noise).any():
                self.noise_alone[estimate.name] = off.is_proof & is_noise
            self._off.append((estimate, off))
        self.agrees = not is_refuted if is_refuted or is_proven else None

    def refuted(self, engine: str) -> tuple[Difference, ...]:
        """The places where the oracle refutes an ``engine``, one for each gradient that it refutes.

        It is the element that lies outside by the greatest multiple of what there is room for, which is the
        ``noise`` of the difference. A gradient that was estimated along directions, or together with others,
        has no such element.
        """
        return tuple(
            _difference_at(
                farthest, (engine, ORACLE), estimate.name, off.values, off.differences, off.room
            )
            for estimate, off in self._off
            if not (estimate.directions or estimate.together) and off.is_beyond
        )


def _greatest_of(array: Array) -> float:
    """The greatest size of an element that is finite."""
    sizes = np.abs(real_parts(unpack(array)).astype(np.float64))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


class _Off:
    """How far some leaves are off the estimate of their sum at each number, and how far they may be.

    ``differences`` are 0 where the estimate says nothing, and infinite where there is no ``room``, of which
    ``noise`` is the engine's share. ``is_proof`` says which numbers have an estimate that is not that of a
    kink, and ``is_silent`` which are not compared.
    """

    def __init__(
        self,
        along: Sequence[tuple[Floats, Floats]],
        estimate: Estimate,
        most: float,
        not_finite: Elements,
    ) -> None:
        gradient = np.sum([part for part, _ in along], axis=0)
        estimated = unpack(estimate.value).astype(np.float64)
        self.values = gradient, estimated
        # Rounding errors are independent: those of several leaves add up as squares do.
        self.noise = CLEAR * np.sqrt(np.sum([level**2 for _, level in along], axis=0))
        rtol, share = CENTRAL
        room = self.noise + share * max(scale(gradient), scale(estimated)) + estimate.noise
        room = room + rtol * np.maximum(np.abs(gradient), np.abs(estimated))
        is_unbounded = is_kink = np.zeros(estimated.shape, bool)
        if estimate.kinks is not None:
            kinks = unpack(estimate.kinks)
            room, is_kink = room + kinks, kinks > 0
            # Where several kinks meet any number will do, but no nan.
            is_unbounded = np.isinf(kinks) & np.isfinite(gradient)
        # Everything is within a part of infinity: only what is finite can be near.
        is_bounded = np.isfinite(room)
        differences = np.where(is_bounded, elementwise_difference(gradient, estimated), np.inf)
        size, own = np.abs(estimated), np.abs(gradient)
        is_silent = ~np.isfinite(estimated)
        if not estimate.directions:
            # A gradient may be infinite where its dtype has no number as great as the estimate.
            has_its_sign = (np.sign(gradient) == np.sign(estimated)) | (size <= estimate.noise)
            is_too_great = size * (1 + rtol) + estimate.noise >= most
            is_silent |= np.isinf(gradient) & has_its_sign & is_too_great
        self.is_proof = ~(is_silent | is_kink)
        if not not_finite.keys().isdisjoint(estimate.leaves):
            is_silent |= True if estimate.directions else not_finite[estimate.name]
        self.is_silent = is_silent
        self.differences = np.where(is_silent | is_unbounded, 0.0, differences)
        self.room = np.where(is_bounded, room, 0.0)
        self.is_beyond = bool((self.differences > self.room).any())
        # Whether the rounding of an estimate hides gradients that are no rounding themselves. Where an engine
        # overflows, the estimate alone says how great the gradient is.
        clear = own[np.isfinite(own) & (own > self.noise)]
        sizes = np.concatenate([clear, size[np.isinf(own)]])
        self.is_lost = bool(sizes.size) and float(sizes.max()) < estimate.noise


def _along(leaf: Leaf, estimate: Estimate, movements: Movements) -> tuple[Floats, Floats]:
    """A gradient and its noise, along the directions of an estimate, or element by element."""
    count, dtype = estimate.directions, leaf.value.dtype
    gradient = np.asarray(unpack(leaf.value), np.float64)
    movement = moved(movements, leaf.name, gradient)
    noise = level(gradient, dtype, movement) if dtype in UNIT else 0 * gradient
    if not count:
        return gradient, noise
    varied = None
    if estimate.smooth is not None and estimate.smooth.shape == gradient.shape:
        varied = smooth = unpack(estimate.smooth)
        # What is not varied is not judged, unless it is no number where kinks alone are left out.
        if all(obstacle.kind == "kinks" for obstacle in estimate.obstacles):
            smooth = smooth | ~np.isfinite(gradient)
        gradient, noise = np.where(smooth, gradient, 0.0), np.where(smooth, noise, 0.0)
    slopes, spread = np.zeros(count), np.zeros(count)
    # One at a time: each takes as much memory as the gradient.
    for number in range(count):
        row = direction(leaf.name, number, gradient.shape)
        row = row if varied is None else row * varied
        slopes[number] = row.ravel() @ gradient.ravel()
        # Rounding errors are independent: along a unit vector they add up as squares do.
        spread[number] = np.linalg.norm(row * noise)
    return slopes, spread
