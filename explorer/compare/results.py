"""The comparison of two results, or of a result and the oracle: how equal they are."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.compare.noise import (
    CENTRAL,
    CLEAR,
    EXACT,
    MINDSPORE_TABLE,
    TORCH_TABLE,
    farthest,
    greatest,
    level,
    rank,
    ratios,
    scale,
)
from explorer.model.arrays import LARGE, AnyArray, Array, unpack
from explorer.model.report import ORACLE, CaseVerdict, Difference
from explorer.model.results import Estimate, Leaf, OracleResult, Result, ResultNoise
from explorer.model.trees import alike
from explorer.numeric.differences import (
    Floats,
    are_equal,
    direction,
    elementwise_difference,
    real_dtype,
    real_parts,
)
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
    noise: tuple[Movements, Movements] = (NOT_MEASURED, NOT_MEASURED),
    drawn: Collection[str] = (),
) -> Comparison:
    """Compare two results with outcome "ok": their structure, then leaf by leaf.

    Structures are compared by how they nest, whatever the types of the containers. Of a leaf the
    shape is compared first, then the dtype, then every element. ``noise`` is that of the left one
    and of the right one. ``drawn`` names the leaves that depend on random numbers on both sides,
    whose elements are not compared.
    """
    if not alike(left.structure, right.structure):
        detail = f"{left.written} against {right.written}"
        return _other(Difference("structure", engines, detail=detail))
    comparisons = []
    for leaf, other in zip(left.leaves, right.leaves, strict=True):
        movement = noise[0].get(leaf.name), noise[1].get(other.name)
        if leaf.name in drawn:
            comparisons.append(compare_form(leaf, other, engines))
        else:
            comparisons.append(compare_leaf(leaf, other, engines, movement))
    if any(map(_may_be_swamped, comparisons)):
        size = max(map(size_of, (*left.leaves, *right.leaves)))
        comparisons = [unless_swamped(comparison, size) for comparison in comparisons]
    return worst(comparisons)


def _may_be_swamped(comparison: Comparison) -> bool:
    """Whether the noise of an element that is no difference is as great as the element itself."""
    difference = comparison.greatest
    if difference is None or comparison.verdict == "differs" or not difference.rel:
        return False
    return difference.noise >= difference.abs / difference.rel


def size_of(leaf: Leaf) -> float:
    """The greatest finite number of a leaf."""
    sizes = np.abs(real_parts(unpack(leaf.value)).astype(np.float64))
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def unless_swamped(comparison: Comparison, size: float) -> Comparison:
    """A comparison that is no match where noise alone excuses a difference as great as the results.

    ``size`` is that of all of them: a gradient that is nothing but noise is small beside the others.
    """
    difference = comparison.greatest
    if difference is None or not _may_be_swamped(comparison) or difference.abs < SWAMPED * size:
        return comparison
    swamped = msgspec.structs.replace(difference, swamped=True)
    return comparison._replace(verdict="differs", greatest=swamped)


def _other(difference: Difference) -> Comparison:
    """The comparison of what has other structures, shapes or dtypes."""
    return Comparison("differs", difference, in_torch_table=False, in_mindspore_table=False)


def compare_form(left: Leaf, right: Leaf, engines: Parties) -> Comparison:
    """Compare two tensors by shape and dtype alone."""
    one, other = left.value, right.value
    if one.shape != other.shape:
        detail = f"{one.shape} against {other.shape}"
        return _other(Difference("shape", engines, leaf=left.name, detail=detail))
    if one.dtype != other.dtype:
        detail = f"{one.dtype} against {other.dtype}"
        return _other(Difference("dtype", engines, leaf=left.name, detail=detail))
    return Comparison("match")


def compare_leaf(
    left: Leaf, right: Leaf, engines: Parties, movement: tuple[Floats | None, Floats | None]
) -> Comparison:
    """Compare two tensors by shape, dtype and every element.

    A nan equals a nan, an infinity the same infinity.
    """
    form = compare_form(left, right, engines)
    if form.verdict == "differs":
        return form
    one, other = left.value, right.value
    if one.size > LARGE and one.data == other.data:
        # Nothing to look for, which would take seconds in a net of millions of weights.
        return Comparison("match", Difference("value", engines, leaf=left.name, index=_start(one)))
    array, other_array = unpack(one), unpack(other)
    dtype = real_dtype(one.dtype)
    difference = _greatest_difference(
        real_parts(array), real_parts(other_array), engines, left, movement
    )
    return Comparison(
        _verdict(difference),
        difference,
        within(array, other_array, TORCH_TABLE.get(dtype, EXACT)),
        within(array, other_array, MINDSPORE_TABLE.get(dtype, EXACT)),
    )


def _start(array: Array) -> tuple[int, ...]:
    """The index of the first element; a complex number has one more, that of its part."""
    return (0,) * (len(array.shape) + array.dtype.startswith("complex"))


def _verdict(difference: Difference | None) -> CaseVerdict:
    """The verdict on a tensor whose greatest difference this is."""
    return RANK[int(rank(np.float64(difference.ratio)))] if difference else "match"


def within(one: AnyArray, other: AnyArray, tolerance: tuple[float, float]) -> bool:
    """Whether |one - other| ≤ atol + rtol · max(|one|, |other|) at every element.

    ``tolerance`` is (rtol, atol). The relation is symmetric, unlike that of numpy.isclose. Of
    complex numbers the magnitudes are compared, as in torch.testing.assert_close.
    """
    rtol, atol = tolerance
    a, b = _wide(one), _wide(other)
    # An infinity is near nothing, however great the tolerance that it makes: it is equal or not.
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= atol + rtol * np.maximum(np.abs(a), np.abs(b))
    equal = are_equal(real_parts(a), real_parts(b))
    if real_parts(a).ndim > a.ndim:
        equal = equal.all(axis=-1)
    return bool(np.all((near & finite) | equal))


def _wide(array: AnyArray) -> AnyArray:
    """An array in float64, or in complex128."""
    kind = np.complex128 if array.dtype.kind == "c" else np.float64
    return np.asarray(array, kind)


def _greatest_difference(
    one: AnyArray,
    other: AnyArray,
    engines: Parties,
    leaf: Leaf,
    movement: tuple[Floats | None, Floats | None],
) -> Difference | None:
    """The greatest of the differences of elements that lead to the verdict."""
    if not one.size:
        return None
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    level_a, level_b = _levels(a, b, leaf.value.dtype, movement)
    times = ratios(a, b, level_a, level_b)
    differences = elementwise_difference(a, b)
    place = np.unravel_index(greatest(differences, times), times.shape)
    index = tuple(int(position) for position in place)

    absolute = float(differences[index])
    return Difference(
        "value",
        engines,
        absolute,
        _relative(absolute, float(a[index]), float(b[index])),
        leaf.name,
        index,
        noise=float(np.hypot(level_a[index], level_b[index])),
        ratio=float(times[index]),
    )


def _relative(difference: float, one: float, other: float) -> float:
    """A difference as a share of the greater of two numbers."""
    size = max(abs(one), abs(other))
    # Beside a zero or an infinity no quotient says anything: the difference itself has to do.
    return difference / size if size and np.isfinite(size) else difference


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
    verdict: CaseVerdict = "match"
    difference: Difference | None = None
    greatest_size = (-1, -1.0)
    in_torch_table = in_mindspore_table = True
    for comparison in comparisons:
        verdict = max(verdict, comparison.verdict, key=RANK.index)
        size = _size(comparison)
        if size > greatest_size:
            difference, greatest_size = comparison.greatest, size
        in_torch_table &= comparison.in_torch_table
        in_mindspore_table &= comparison.in_mindspore_table
    return Comparison(verdict, difference, in_torch_table, in_mindspore_table)


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


# A result and the oracle


Elements = Mapping[str, NDArray[np.bool_]]
"""Which elements of gradients are the same nan or infinity in every engine, by the gradient's name."""

ALL_FINITE: Elements = {}


def agrees_with_oracle(
    result: Result,
    oracle: OracleResult,
    noise: Movements = NOT_MEASURED,
    drawn: Collection[str] = (),
    not_finite: Elements = ALL_FINITE,
) -> bool | None:
    """Whether every gradient that the oracle estimated is near the engine's.

    A large gradient is estimated along random directions only, and is compared along these; several
    that were estimated together are added up before. The engine may be off by its own noise, that of
    its coarsest dtype above all. At a kink there is no derivative: whatever lies between the slopes to
    either side is as good, and proves nothing. Where an estimate is not finite, or lost in the rounding
    of great outputs, there is nothing to compare with. What depends on random numbers, in ``drawn``, is
    left out, and so is what is ``not_finite`` in every engine, or as great as its noise alone; None where
    nothing is left.
    """
    estimates = [part for part in oracle.estimates if not set(part.leaves) & set(drawn)]
    leaves = {leaf.name: leaf for leaf in result.leaves}
    size = _size_of_estimates(estimates)
    is_proven = False
    for estimate in estimates:
        estimated = [leaves[name] for name in estimate.leaves if name in leaves]
        is_whole = len(estimated) == len(estimate.leaves)
        found = _off(estimated, estimate, noise, not_finite) if is_whole else None
        if found is None or (found.differences > found.room).any():
            return False
        has_proof = bool((found.is_proof & ~_are_noise(found, size)).any())
        is_proven |= has_proof and not _is_lost(found)
    return True if is_proven else None


def noise_alone(
    result: Result, oracle: OracleResult, noise: Movements, drawn: Collection[str] = ()
) -> dict[str, NDArray[np.bool_]]:
    """Which numbers of estimates judge nothing, since noise alone moves the gradient by its own size.

    By the estimate's name; those of which no number is so are left out.
    """
    estimates = [part for part in oracle.estimates if not set(part.leaves) & set(drawn)]
    leaves = {leaf.name: leaf for leaf in result.leaves}
    size = _size_of_estimates(estimates)
    hidden = {}
    for estimate in estimates:
        estimated = [leaves[name] for name in estimate.leaves if name in leaves]
        is_whole = len(estimated) == len(estimate.leaves)
        found = _off(estimated, estimate, noise) if is_whole else None
        if found is not None:
            are_noise = found.is_proof & _are_noise(found, size)
            if are_noise.any():
                hidden[estimate.name] = are_noise
    return hidden


def _size_of_estimates(estimates: Iterable[Estimate]) -> float:
    sizes = [np.abs(unpack(estimate.value)) for estimate in estimates]
    return max((float(it[np.isfinite(it)].max(initial=0.0)) for it in sizes), default=0.0)


def _are_noise(found: "_Off", size: float) -> NDArray[np.bool_]:
    """Where an engine's noise excuses a difference as great as its gradient.

    Not of a gradient that is small beside those of all estimates, of which ``size`` is the greatest, nor
    of one that is 0 but for rounding: an engine that gives nothing but rounding there is right.
    """
    values = np.abs(found.estimated)
    greatest = float(values[np.isfinite(values)].max(initial=0.0))
    if greatest <= found.rounding or greatest < SWAMPED * size:
        return np.zeros(values.shape, bool)
    return np.asarray(found.noise >= greatest)


def refuted_elements(
    engine: str,
    result: Result,
    oracle: OracleResult,
    noise: Movements = NOT_MEASURED,
    drawn: Collection[str] = (),
    not_finite: Elements = ALL_FINITE,
) -> tuple[Difference, ...]:
    """The places where the oracle refutes an engine, one for each gradient that it refutes.

    It is the element that lies outside by the greatest multiple of what agrees_with_oracle leaves
    room for, which is the ``noise`` of the difference. A gradient that was estimated along
    directions, or together with others, has no such element.
    """
    leaves = {leaf.name: leaf for leaf in result.leaves}
    refuted: list[Difference] = []
    for estimate in oracle.estimates:
        is_elementwise = not estimate.directions and not estimate.together
        if is_elementwise and estimate.name in leaves and estimate.name not in drawn:
            found = _off([leaves[estimate.name]], estimate, noise, not_finite)
            if found is not None and (found.differences > found.room).any():
                refuted.append(_greatest_refuted(engine, estimate.name, found))
    return tuple(refuted)


def _greatest_refuted(engine: str, leaf: str, found: "_Off") -> Difference:
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(found.differences == 0, 0.0, found.differences / found.room)
    place = np.unravel_index(farthest(found.differences, times), times.shape)
    index = tuple(int(position) for position in place)
    absolute = float(found.differences[index])
    return Difference(
        "value",
        (engine, ORACLE),
        absolute,
        _relative(absolute, float(found.gradient[index]), float(found.estimated[index])),
        leaf,
        index,
        noise=float(found.room[index]),
        ratio=float(times[index]),
    )


class _Off(NamedTuple):
    """How far a gradient is off an estimate at each number, and how far it may be.

    A difference is 0 where the estimate says nothing. Where it is infinite there is no room for it.
    ``is_proof`` says which numbers have an estimate that is not that of a kink. ``noise`` is the share
    of the room that is the engine's, and ``rounding`` that of the estimate.
    """

    gradient: Floats
    estimated: Floats
    differences: Floats
    room: Floats
    noise: Floats
    rounding: float
    is_proof: NDArray[np.bool_]


def _off(
    leaves: list[Leaf],
    estimate: Estimate,
    noise: Movements,
    not_finite: Elements = ALL_FINITE,
) -> _Off | None:
    """Some leaves beside the estimate of their sum; None where they have other shapes."""
    along = [_along(leaf, estimate, noise.get(leaf.name)) for leaf in leaves]
    estimated = unpack(estimate.value).astype(np.float64)
    if along[0][0].shape != estimated.shape:
        return None
    gradient = np.sum([part for part, _ in along], axis=0)
    # Rounding errors are independent: those of several leaves add up as squares do.
    spread = np.sqrt(np.sum([level**2 for _, level in along], axis=0))
    rtol, share = CENTRAL
    room = CLEAR * spread + share * max(scale(gradient), scale(estimated)) + estimate.noise
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
    differences = np.where(is_unbounded, 0.0, differences)
    is_silent = ~np.isfinite(estimated)
    if not estimate.directions:
        is_silent |= _overflows(gradient, estimated, estimate.noise, leaves[0].value.dtype)
    is_proof = ~(is_silent | is_kink)
    if not not_finite.keys().isdisjoint(estimate.leaves):
        is_silent |= True if estimate.directions else not_finite[estimate.name]
        is_proof &= ~is_silent
    differences = np.where(is_silent, 0.0, differences)
    room = np.where(is_bounded, room, 0.0)
    return _Off(gradient, estimated, differences, room, CLEAR * spread, estimate.noise, is_proof)


def _is_lost(found: _Off) -> bool:
    """Whether the rounding of an estimate hides gradients that are no rounding themselves."""
    size = np.abs(found.gradient)
    clear = size[np.isfinite(size) & (size > found.noise)]
    # Where an engine overflows, the estimate alone says how great the gradient is.
    overflowing = np.abs(found.estimated)[np.isinf(size)]
    sizes = np.concatenate([clear, overflowing])
    return bool(sizes.size) and float(sizes.max()) < found.rounding


def _overflows(gradient: Floats, estimated: Floats, noise: float, dtype: str) -> NDArray[np.bool_]:
    """Where a gradient may be infinite because ``dtype`` has no number as great as the estimate."""
    rtol, _ = CENTRAL
    size = np.abs(estimated)
    is_beyond = size * (1 + rtol) + noise >= GREATEST.get(dtype, np.inf)
    has_its_sign = (np.sign(gradient) == np.sign(estimated)) | (size <= noise)
    overflows: NDArray[np.bool_] = np.isinf(gradient) & has_its_sign & is_beyond
    return overflows


def _along(leaf: Leaf, estimate: Estimate, movement: Floats | None) -> tuple[Floats, Floats]:
    """A gradient and its noise, along the directions of an estimate, or element by element."""
    count = estimate.directions
    gradient = np.asarray(unpack(leaf.value), np.float64)
    if movement is not None and movement.shape != gradient.shape:
        movement = None
    noise = (
        level(gradient, leaf.value.dtype, movement) if leaf.value.dtype in UNIT else 0 * gradient
    )
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
