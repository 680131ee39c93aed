"""A result beside the oracle: whether central differences confirm an engine's gradients, and where not."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.compare.graphs.sameness import CENTRAL, CLEAR, farthest, level, scale
from explorer.compare.results.comparison import (
    NOT_MEASURED,
    SWAMPED,
    Movements,
    difference_at,
)
from explorer.model.arrays import unpack
from explorer.model.report import ORACLE, Difference
from explorer.model.results import Estimate, Leaf, OracleResult, Result
from explorer.numeric.differences import Floats, direction, elementwise_difference
from explorer.numeric.summaries import GREATEST, UNIT

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
    size = _size_of_estimates(oracle, drawn)
    is_proven = False
    for _estimate, found in _beside(result, oracle, noise, drawn, not_finite):
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
    size = _size_of_estimates(oracle, drawn)
    hidden = {}
    for estimate, found in _beside(result, oracle, noise, drawn):
        if found is not None:
            are_noise = found.is_proof & _are_noise(found, size)
            if are_noise.any():
                hidden[estimate.name] = are_noise
    return hidden


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
    refuted: list[Difference] = []
    for estimate, found in _beside(result, oracle, noise, drawn, not_finite):
        if estimate.directions or estimate.together or found is None:
            continue
        if (found.differences > found.room).any():
            with np.errstate(divide="ignore", invalid="ignore"):
                times = np.where(found.differences == 0, 0.0, found.differences / found.room)
            refuted.append(
                difference_at(
                    farthest(found.differences, times),
                    (engine, ORACLE),
                    estimate.name,
                    (found.gradient, found.estimated),
                    found.differences,
                    found.room,
                    times,
                )
            )
    return tuple(refuted)


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


def _beside(
    result: Result,
    oracle: OracleResult,
    noise: Movements,
    drawn: Collection[str],
    not_finite: Elements = ALL_FINITE,
) -> Iterator[tuple[Estimate, _Off | None]]:
    """Each estimate that does not depend on random numbers, and how far the result's leaves are off it.

    None where the result has not all of the leaves, or these have other shapes.
    """
    leaves = {leaf.name: leaf for leaf in result.leaves}
    for estimate in _estimates(oracle, drawn):
        estimated = [leaves[name] for name in estimate.leaves if name in leaves]
        is_whole = len(estimated) == len(estimate.leaves)
        yield estimate, _off(estimated, estimate, noise, not_finite) if is_whole else None


def _estimates(oracle: OracleResult, drawn: Collection[str]) -> list[Estimate]:
    return [part for part in oracle.estimates if not set(part.leaves) & set(drawn)]


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


def _size_of_estimates(oracle: OracleResult, drawn: Collection[str]) -> float:
    sizes = [np.abs(unpack(estimate.value)) for estimate in _estimates(oracle, drawn)]
    return max((float(it[np.isfinite(it)].max(initial=0.0)) for it in sizes), default=0.0)


def _are_noise(found: _Off, size: float) -> NDArray[np.bool_]:
    """Where an engine's noise excuses a difference as great as its gradient.

    Not of a gradient that is small beside those of all estimates, of which ``size`` is the greatest, nor
    of one that is 0 but for rounding: an engine that gives nothing but rounding there is right.
    """
    values = np.abs(found.estimated)
    greatest = float(values[np.isfinite(values)].max(initial=0.0))
    if greatest <= found.rounding or greatest < SWAMPED * size:
        return np.zeros(values.shape, bool)
    return np.asarray(found.noise >= greatest)


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
