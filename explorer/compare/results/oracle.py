"""A result beside the oracle: whether central differences confirm an engine's gradients, and where not."""

from collections.abc import Collection, Mapping
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


class BesideOracle:
    """A result beside each estimate of the oracle that does not depend on random numbers.

    What depends on them is ``drawn``. ``noise`` is that of the result, and ``not_finite`` are elements that
    are so in every engine.
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
        self._found: list[tuple[Estimate, _Off | None]] = []
        # The greatest finite number of all estimates.
        self._size = 0.0
        for estimate in oracle.estimates:
            if not set(estimate.leaves).isdisjoint(drawn):
                continue
            sizes = np.abs(unpack(estimate.value))
            self._size = max(self._size, float(sizes[np.isfinite(sizes)].max(initial=0.0)))
            known = [leaves[name] for name in estimate.leaves if name in leaves]
            # Nothing is known of a result that has not all of the leaves.
            is_whole = len(known) == len(estimate.leaves)
            off = _off(known, estimate, noise, not_finite) if is_whole else None
            self._found.append((estimate, off))

    @property
    def agrees(self) -> bool | None:
        """Whether every gradient that the oracle estimated is near the engine's.

        A large gradient is estimated along random directions only, and is compared along these; several
        that were estimated together are added up before. The engine may be off by its own noise, that of
        its coarsest dtype above all. At a kink there is no derivative: whatever lies between the slopes to
        either side is as good, and proves nothing. Where an estimate is not finite, or lost in the rounding
        of great outputs, there is nothing to compare with. What depends on random numbers, in ``drawn``, is
        left out, and so is what is ``not_finite`` in every engine, or as great as its noise alone; None where
        nothing is left.
        """
        is_proven = False
        for _estimate, found in self._found:
            if found is None or (found.differences > found.room).any():
                return False
            has_proof = bool((found.is_proof & ~found.is_silent & ~self._are_noise(found)).any())
            is_proven |= has_proof and not found.is_lost
        return True if is_proven else None

    def noise_alone(self) -> dict[str, NDArray[np.bool_]]:
        """Which numbers of estimates judge nothing, since noise alone moves the gradient by its own size.

        By the estimate's name; those of which no number is so are left out.
        """
        hidden = {
            estimate.name: found.is_proof & self._are_noise(found)
            for estimate, found in self._found
            if found is not None
        }
        return {name: places for name, places in hidden.items() if places.any()}

    def refuted(self, engine: str) -> tuple[Difference, ...]:
        """The places where the oracle refutes an ``engine``, one for each gradient that it refutes.

        It is the element that lies outside by the greatest multiple of what there is room for, which is the
        ``noise`` of the difference. A gradient that was estimated along directions, or together with others,
        has no such element.
        """
        refuted = []
        for estimate, found in self._found:
            if estimate.directions or estimate.together or found is None:
                continue
            differences, room = found.differences, found.room
            if (differences > room).any():
                with np.errstate(divide="ignore", invalid="ignore"):
                    times = np.where(differences == 0, 0.0, differences / room)
                place, values = farthest(differences, times), (found.gradient, found.estimated)
                parties = engine, ORACLE
                refuted.append(
                    difference_at(place, parties, estimate.name, values, differences, room, times)
                )
        return tuple(refuted)

    def _are_noise(self, found: "_Off") -> NDArray[np.bool_]:
        """Where an engine's noise excuses a difference as great as its gradient.

        Not of a gradient that is small beside those of all estimates, nor of one that is 0 but for rounding:
        an engine that gives nothing but rounding there is right.
        """
        values = np.abs(found.estimated)
        greatest = float(values[np.isfinite(values)].max(initial=0.0))
        if greatest <= found.rounding or greatest < SWAMPED * self._size:
            return np.zeros(values.shape, bool)
        return np.asarray(found.noise >= greatest)


class _Off(NamedTuple):
    """How far a gradient is off an estimate at each number, and how far it may be.

    A difference is 0 where the estimate says nothing. Where it is infinite there is no room for it.
    ``is_proof`` says which numbers have an estimate that is not that of a kink, and ``is_silent`` which are
    not compared. ``noise`` is the share of the room that is the engine's, and ``rounding`` that of the
    estimate.
    """

    gradient: Floats
    estimated: Floats
    differences: Floats
    room: Floats
    noise: Floats
    rounding: float
    is_proof: NDArray[np.bool_]
    is_silent: NDArray[np.bool_]

    @property
    def is_lost(self) -> bool:
        """Whether the rounding of an estimate hides gradients that are no rounding themselves."""
        size = np.abs(self.gradient)
        clear = size[np.isfinite(size) & (size > self.noise)]
        # Where an engine overflows, the estimate alone says how great the gradient is.
        sizes = np.concatenate([clear, np.abs(self.estimated)[np.isinf(size)]])
        return bool(sizes.size) and float(sizes.max()) < self.rounding


def _off(
    leaves: list[Leaf], estimate: Estimate, noise: Movements, not_finite: Elements
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
        # A gradient may be infinite where its dtype has no number as great as the estimate.
        size, most = np.abs(estimated), GREATEST.get(leaves[0].value.dtype, np.inf)
        has_its_sign = (np.sign(gradient) == np.sign(estimated)) | (size <= estimate.noise)
        is_beyond = size * (1 + rtol) + estimate.noise >= most
        is_silent |= np.isinf(gradient) & has_its_sign & is_beyond
    is_proof = ~(is_silent | is_kink)
    if not not_finite.keys().isdisjoint(estimate.leaves):
        is_silent |= True if estimate.directions else not_finite[estimate.name]
    return _Off(
        gradient,
        estimated,
        np.where(is_silent, 0.0, differences),
        np.where(is_bounded, room, 0.0),
        CLEAR * spread,
        estimate.noise,
        is_proof,
        is_silent,
    )


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
