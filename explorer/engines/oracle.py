"""Central differences in float64: gradients estimated from the forward alone.

They are independent of any automatic differentiation, and of the precision that a net rounds to.
What the net itself cuts off from the tape is held, as every derivative takes it.
"""

import functools
import importlib
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from explorer.engines.double_net import DoubleNet, LeafKey
from explorer.engines.kink_births import Computed, births
from explorer.engines.net_identity import identity
from explorer.engines.time_spent import TimeSpent
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.engines import Framework, engine_named
from explorer.model.errors import RefusedNetError
from explorer.model.failures import Failure
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Estimate, Obstacle, ObstacleKind, OracleResult
from explorer.numeric.differences import direction, is_kink
from explorer.numeric.slopes import (
    MOST_ORDERS,
    STEP,
    NestedSlope,
    Slope,
    cross_kinks,
    fine_step,
    nested_slope,
    refined,
    resolved,
    slope_between,
    smooth_slopes,
)

WHOLE = 512
"""Up to this many elements requested, each is estimated, if the time suffices.

Otherwise DIRECTIONS derivatives of every leaf are.
"""

DIRECTIONS = 16
"""The number of directional derivatives of a leaf that is too large to estimate whole."""

MOST_ALONE = 64
"""Up to this many leaves each is varied along DIRECTIONS of its own."""

MOST_GROUPS = 128
FEW_DIRECTIONS = 4
"""Of more leaves neighbours are varied together, in so many groups along so many directions.

Each derivative takes two forwards: one leaf at a time, they would grow with the square of a net's depth.
"""

SEARCHED = 4096
"""Of a leaf with kinks at most so many elements are varied by themselves."""

HALVED = 256
"""So many parts of a leaf with kinks are varied before single elements are."""

SEARCH_SECONDS = 4.0
"""The longest that a leaf with kinks is searched, and that kinks are counted."""

SECONDS = 20.0
"""The time for all estimates of a net; what is not estimated by then has no estimate."""

AT_KINKS = 3
"""About so many times as long as another derivative takes one that crosses kinks."""

FEWER = 0.5
"""The share of the parting at the usual step that is left at a finer one, where that is better."""

INSTANT = 1e-6
"""The shortest evaluation of a net, in seconds, that the clock can measure."""

KEPT = 4
"""The number of nets that a worker keeps: all cases of a matrix share one and its estimates."""


def estimate(request: CaseRequest) -> OracleResult:
    """The gradients of a case, leaf by leaf, of the net of the request's framework in float64.

    Every position of an input is varied by itself. An exception is a result too.
    """
    framework = engine_named(request.net.engine).framework
    return msgspec.structs.replace(_estimated(request, framework), framework=framework)


def _estimated(request: CaseRequest, framework: Framework) -> OracleResult:
    case = request.case
    if case.order > MOST_ORDERS:
        error = Failure("NotImplementedError", kind="nested_differences")
        return OracleResult("unsupported", error=error)
    if case.must_fail:
        return OracleResult("raised", error=Failure("ValueError", kind="nothing_to_vary"))
    folder = f"explorer.engines.{framework}"
    frameworks_own: Any = importlib.import_module(f"{folder}.double_net")
    try:
        with frameworks_own.double_precision():
            differences = _differences(request.net, frameworks_own.FrameworksNet)
            net = differences.net
            if case.has_aux and net.bare:
                refused = Failure("ValueError", kind="no_auxiliary_outputs")
                return OracleResult("raised", error=refused)
            return OracleResult("ok", tuple(differences.estimates(case)), stops=net.stops)
    except Exception as error:
        errors: Any = importlib.import_module(f"{folder}.errors")
        return OracleResult("raised", error=errors.failure(error, request.net.scenario))


class LeafGroup(NamedTuple):
    """Leaves that are varied together, and the names of their gradients."""

    leaves: tuple[LeafKey, ...]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the gradient, or of the first and the last of several."""
        first, *others = self.names
        if not others:
            return first
        return f"{first} … {others[-1]}"

    def parts(self) -> "Iterator[LeafGroup]":
        """Each leaf by itself."""
        for leaf, name in zip(self.leaves, self.names, strict=True):
            yield LeafGroup((leaf,), (name,))


class Variation(NamedTuple):
    """Leaves that are varied along a direction each, and a key that is unique to both.

    ``directions`` draws these: they take as much memory as the leaves.
    """

    key: tuple[LeafKey | str, ...]
    directions: Callable[[], dict[LeafKey, AnyArray]]


class Judged(NamedTuple):
    """What is said of one element, or along one direction.

    ``bound`` is by how much a derivative at kinks may lie to either side of ``value``.
    """

    value: float = math.nan
    bound: float = 0.0
    obstacle: ObstacleKind | None = None


class Differences:
    """Differences of a net's outputs between points to either side of its start, each computed once."""

    def __init__(self, request: NetRequest, kind: type[DoubleNet]) -> None:
        self._time = TimeSpent()
        self._time_of_births = TimeSpent()
        with self._time.counted():
            self.net = kind(request)
        self._sides: dict[tuple[object, float], AnyArray] = {}
        self._births: dict[object, int | None] = {}
        self._smooth: dict[LeafKey, AnyArray] = {}
        self._middle_run: Sequence[Computed] | None = None
        self._step = STEP
        self._has_chosen_step = False

    def estimates(self, case: GradCase) -> Iterator[Estimate]:
        """The estimates of a case's leaves."""
        leaves = self.net.leaves(case)
        alone = [LeafGroup((leaf,), (name,)) for name, leaf in leaves.items()]
        for name, leaf in leaves.items():
            dtype = self.net.start(leaf).dtype
            if dtype.kind != "f":
                raise RefusedNetError("integer_leaf", name.removeprefix("d"), dtype.name)
        elements = sum(self.net.start(leaf).size for leaf in leaves.values())
        whole = elements <= min(WHOLE, self._affordable)
        groups, count = (alone, 0) if whole else _groups(alone, self._affordable)
        if case.order > 1:
            yield from (self._nested(group, case, count) for group in groups)
            return
        if count and not self._has_chosen_step:
            sure = self._affordable // (AT_KINKS * len(groups))
            self._choose_step(groups[0], case, min(count, max(sure, 1)))
        if whole:
            # First all that the time should suffice for: kinks are searched for in what is left.
            for group in groups:
                for variation in self._variations(group, 0):
                    self._wide(variation, case)
            slopes = [self._slopes(group, case, 0) for group in groups]
        else:
            slopes = self._in_rounds(groups, case, count)
        # Then the leaves of each group that crosses kinks, one by one: most have none.
        for group, of_group in zip(groups, slopes, strict=True):
            if len(group.leaves) > 1 and not _are_smooth(of_group):
                for part in group.parts():
                    self._slopes(part, case, len(of_group))
        for group, of_group in zip(groups, slopes, strict=True):
            yield from self._estimate(group, case, of_group, count)

    @functools.cached_property
    def _affordable(self) -> int:
        """About how many derivatives there is time for: settled once, for all cases share them."""
        assert self._middle is not None  # the net has been evaluated
        return int(SECONDS / (2 * max(self.net.seconds, INSTANT)))

    def _in_rounds(
        self, groups: Sequence[LeafGroup], case: GradCase, count: int
    ) -> list[list[Slope | None]]:
        """The slopes of each group along ``count`` directions, or as many as all groups get in time.

        One direction of each, then another: no leaf goes without an estimate because others have many.
        """
        slopes: list[list[Slope | None]] = [[] for _ in groups]
        for number in range(1, count + 1):
            began = self._time.seconds
            for place, group in enumerate(groups):
                found = self._slopes(group, case, number)
                if None not in found or not slopes[place]:
                    slopes[place] = found
            spent = self._time.seconds - began  # 0 where another case has taken the same
            # The next round takes as long. To look at leaves with kinks takes time too.
            limit = SECONDS if all(map(_are_smooth, slopes)) else SECONDS / 2
            if spent and self._time.seconds + spent > limit:
                break
        return slopes

    @functools.cached_property
    def _middle(self) -> AnyArray:
        """The sums without variation; RefusedNetError if a second run gives others."""
        sums, again = self.net.sums(), self.net.sums()
        same = (sums == again) | (np.abs(sums - again) <= self.net.rounding)
        if np.isfinite(sums).all() and not same.all():
            raise RefusedNetError("not_deterministic")
        return sums

    @property
    def _noise(self) -> float:
        """The rounding of a slope."""
        return self.net.rounding / self._step

    def _choose_step(self, group: LeafGroup, case: GradCase, count: int) -> None:
        """A finer step for a net that crosses fewer kinks within it than within the usual one.

        Those that lie at the point itself are crossed by any step.
        """
        self._has_chosen_step = True
        variations = list(self._variations(group, count))
        usual = _smooth_ones(self._wide(variation, case) for variation in variations)
        if not cross_kinks(usual, self._noise):
            return
        size = float(np.median([abs(slope.central) for slope in usual]))
        step = fine_step(size, self._noise)
        finer = _smooth_ones(self._slope(variation, case, step) for variation in variations)
        if _parting(finer) < FEWER * _parting(usual):
            self._step = step

    def _estimate(
        self, group: LeafGroup, case: GradCase, slopes: Sequence[Slope | None], count: int
    ) -> list[Estimate]:
        """The estimate of a group; those of its leaves where they have kinks along its directions."""
        whole = self._recorded(group, case, slopes, count)
        if _are_smooth(slopes) or not count:
            return [whole]
        is_alone = len(group.leaves) == 1
        finer: list[Estimate] = []
        if is_alone:
            finer.append(self._beside_kinks(group, case, len(slopes)))
        else:
            for part in group.parts():
                along = self._slopes(part, case, len(slopes))
                finer += self._estimate(part, case, along, len(slopes))
        is_late = any(obstacle.kind == "time" for it in finer for obstacle in it.obstacles)
        # Then the directions that cross no kink judge the leaves; a leaf without any is at kinks.
        return [whole] if is_late and (is_alone or _smooth_ones(slopes)) else finer

    def _beside_kinks(self, group: LeafGroup, case: GradCase, count: int) -> Estimate:
        """The estimate of a leaf that has kinks along its directions.

        Either every element is estimated, or the directions leave out those that are at kinks.
        """
        (leaf,) = group.leaves
        size = self.net.start(leaf).size
        if size <= SEARCHED and 2 * size * self.net.seconds <= SEARCH_SECONDS:
            return self._recorded(group, case, self._slopes(group, case, 0), 0)
        if leaf not in self._smooth:
            self._smooth[leaf] = self._smooth_elements(leaf)
        smooth = self._smooth[leaf]
        slopes: list[Slope | None] = [Slope(math.nan, 0.0, "kink")] * count
        if smooth.any():
            slopes = self._slopes(group, case, count, smooth)
        return self._recorded(group, case, slopes, count, smooth)

    def _recorded(
        self,
        group: LeafGroup,
        case: GradCase,
        slopes: Sequence[Slope | None],
        count: int,
        smooth: AnyArray | None = None,
        noise: float | None = None,
    ) -> Estimate:
        """The record of a leaf's slopes; None stands for one that there was no time for."""
        shape = self.net.start(group.leaves[0]).shape
        if count:
            # Fewer directions do as well: the first are the same.
            while len(slopes) > 1 and slopes[-1] is None:
                slopes = slopes[:-1]
            count = len(slopes)
            shape = (count,)
        is_finite = bool(np.isfinite(_of_case(self._middle, case, self.net.first_outputs)))
        judged = []
        for index, slope in zip(np.ndindex(shape), slopes, strict=True):
            if not is_finite:
                judged.append(Judged(obstacle="not_finite"))
                continue
            has_one = False
            if slope and slope.kind == "kink" and not count:
                has_one = self._has_one_kink(group.leaves[0], index)
            judged.append(_judged(slope, has_one))
        values = np.array([one.value for one in judged], float).reshape(shape)
        kinks = np.array([one.bound for one in judged], float).reshape(shape)
        return Estimate(
            group.name,
            pack(values),
            count,
            self._noise if noise is None else noise,
            group.names if len(group.names) > 1 else (),
            pack(kinks) if kinks.any() else None,
            None if smooth is None else pack(smooth),
            tuple(self._obstacles(group, judged, shape, count, smooth)),
        )

    def _obstacles(
        self,
        group: LeafGroup,
        judged: Sequence[Judged],
        shape: tuple[int, ...],
        count: int,
        smooth: AnyArray | None,
    ) -> Iterator[Obstacle]:
        """What keeps some elements from being judged, and where it is met first."""
        places: dict[ObstacleKind, list[tuple[int, ...]]] = {}
        for index, one in zip(np.ndindex(shape), judged, strict=True):
            if one.obstacle:
                places.setdefault(one.obstacle, []).append(index)
        for kind, indices in places.items():
            if count:
                # A direction is of all elements.
                yield Obstacle(kind, sum(self.net.start(leaf).size for leaf in group.leaves))
            else:
                yield Obstacle(kind, len(indices), indices[0])
        if smooth is not None and not smooth.all() and "kinks" not in places:
            left_out = np.argwhere(~smooth)
            yield Obstacle("kinks", len(left_out), tuple(map(int, left_out[0])))

    # Slopes

    def _slopes(
        self, group: LeafGroup, case: GradCase, count: int, smooth: AnyArray | None = None
    ) -> list[Slope | None]:
        """The slope along each variation of a group; None where there was no time for it."""
        varied = self._variations(group, count, smooth)
        slopes = [self._wide(variation, case) for variation in varied]
        central = np.array([found.central if found else 0.0 for found in slopes])
        parting = np.array([found.parting if found else 0.0 for found in slopes])
        # At a border the slope is nan, and there is no kink.
        central = np.where(np.isfinite(central), central, 0.0)
        if not cross_kinks(_smooth_ones(slopes), self._noise):
            return slopes
        parted = is_kink(central, parting, self._noise)
        # Where some cross kinks, others may whose slopes happen not to part.
        for number, variation in enumerate(self._variations(group, count, smooth)):
            found = slopes[number]
            if found and parted[number]:
                slopes[number] = self._resolved(variation, case, found)
            elif found:
                slopes[number] = self._refined(variation, case, found)
        return slopes

    def _refined(self, variation: Variation, case: GradCase, wide: Slope) -> Slope | None:
        def at(step: float) -> Slope | None:
            return self._slope(variation, case, step)

        fine = refined(wide, at, self._noise, self._step)
        if fine:
            return fine
        # Without the time to look, it may be off by the kinks that it crosses.
        return None if self._time.seconds > SECONDS else wide

    def _resolved(self, variation: Variation, case: GradCase, wide: Slope) -> Slope | None:
        def at(step: float) -> Slope | None:
            return self._slope(variation, case, step)

        return resolved(wide, at, self._noise, self._step)

    def _wide(self, variation: Variation, case: GradCase) -> Slope | None:
        return self._slope(variation, case, self._step)

    def _slope(self, variation: Variation, case: GradCase, step: float) -> Slope | None:
        """The slope of a case along a variation; None where the time is over."""
        sides = self._both_sides(variation, step)
        if sides is None:
            return None
        first = self.net.first_outputs
        plus, minus = (_of_case(sums, case, first) for sums in sides)
        return slope_between(plus, minus, _of_case(self._middle, case, first), step)

    def _both_sides(self, variation: Variation, step: float) -> AnyArray | None:
        """The sums of the outputs to either side, of shape (2, outputs, 2)."""
        key = variation.key, step
        if key not in self._sides:
            if self._time.seconds > SECONDS:
                return None
            with self._time.counted():
                along = variation.directions()
                sums = [self.net.sums(self._moved(along, sign * step)) for sign in (1, -1)]
            self._sides[key] = np.array(sums)
        return self._sides[key]

    def _moved(self, along: dict[LeafKey, AnyArray], step: float) -> dict[LeafKey, AnyArray]:
        """Leaves, moved by a step along a direction each."""
        values = {}
        for leaf, row in along.items():
            values[leaf] = np.asarray(self.net.start(leaf) + row * step)
        return values

    def _variations(
        self, group: LeafGroup, count: int, smooth: AnyArray | None = None
    ) -> Iterator[Variation]:
        """Each element of a leaf; or ``count`` directions, of its ``smooth`` elements alone.

        All leaves of a group are varied at once, each along directions seeded by its gradient's name.
        """
        if not count:
            (leaf,) = group.leaves
            for index in np.ndindex(self.net.start(leaf).shape):
                yield self._element(leaf, index)
            return
        kind = "direction" if smooth is None else "smooth direction"
        for number in range(count):
            key = (*group.leaves, f"{kind} {number}")
            yield Variation(key, functools.partial(self._drawn, group, number, smooth))

    def _drawn(
        self, group: LeafGroup, number: int, smooth: AnyArray | None
    ) -> dict[LeafKey, AnyArray]:
        drawn = {}
        for leaf, name in zip(group.leaves, group.names, strict=True):
            along = direction(name, number, self.net.start(leaf).shape)
            drawn[leaf] = along if smooth is None else along * smooth
        return drawn

    def _element(self, leaf: LeafKey, index: tuple[int, ...]) -> Variation:
        along = np.zeros(self.net.start(leaf).shape)
        along[index] = 1.0
        return Variation((leaf, f"element {index}"), lambda: {leaf: along})

    # Kinks

    def _has_one_kink(self, leaf: LeafKey, index: tuple[int, ...]) -> bool:
        """Whether an element of a leaf is at a single kink.

        Then all derivatives there lie between the slopes to either side.
        """
        variation = self._element(leaf, index)
        if variation.key not in self._births:
            self._births[variation.key] = self._count_births(variation)
        return self._births[variation.key] == 1

    def _count_births(self, variation: Variation) -> int | None:
        if self._time_of_births.seconds > SEARCH_SECONDS:
            return None
        with self._time_of_births.counted():
            if self._middle_run is None:
                self._middle_run = self._watched(variation, 0.0)
            sides = [self._watched(variation, sign * STEP) for sign in (1, -1)]
            return births(self._middle_run, *sides)

    def _watched(self, variation: Variation, step: float) -> Sequence[Computed]:
        return self.net.computed(self._moved(variation.directions(), step))

    def _smooth_elements(self, leaf: LeafKey) -> AnyArray:
        """Which elements of a leaf are at no kink, as far as it can be found in time.

        Parts of the leaf are varied, and those whose slopes differ are halved, the largest first;
        then elements of what is left.
        """
        shape = self.net.start(leaf).shape
        smooth = np.zeros(self.net.start(leaf).size, bool)
        # Along any direction, as long as no two kinks cancel.
        searched = direction(f"{leaf}: search", 0, shape).ravel()
        parts = [np.arange(len(smooth))]
        until = self._time.seconds + SEARCH_SECONDS
        for _ in range(HALVED):
            if not parts or self._time.seconds > until:
                break
            part = parts.pop(0)
            along = np.zeros(len(smooth))
            along[part] = searched[part] / np.linalg.norm(searched[part])
            key = (leaf, f"elements {part[0]} to {part[-1]}")
            drawn = functools.partial(dict[LeafKey, AnyArray], {leaf: along.reshape(shape)})
            if self._is_smooth_along(Variation(key, drawn)):
                smooth[part] = True
            elif len(part) > 1:
                parts += np.array_split(part, 2)
        left = np.concatenate([*parts, np.zeros(0, int)])
        for place in left[:: math.ceil(len(left) / SEARCHED) or 1]:
            if self._time.seconds > until:
                break
            index = tuple(map(int, np.unravel_index(place, shape)))
            smooth[place] = self._is_smooth_along(self._element(leaf, index))
        return smooth.reshape(shape)

    def _is_smooth_along(self, variation: Variation) -> bool:
        """Whether every sum of every output has a derivative along a variation."""
        for place in np.ndindex(self._middle.shape):

            def at(step: float, place: tuple[int, ...] = place) -> Slope | None:
                sides = self._both_sides(variation, step)
                if sides is None:
                    return None
                plus, minus = (float(sums[place]) for sums in sides)
                return slope_between(plus, minus, float(self._middle[place]), step)

            found = at(self._step)
            if found and _is_kink(found, self._noise):
                found = resolved(found, at, self._noise, self._step)
            if found is None or found.kind != "smooth":
                return False
        return True

    # Gradients of gradients

    def _nested(self, group: LeafGroup, case: GradCase, count: int) -> Estimate:
        """The estimate of a gradient of order 2 or more of the leaf that a case differentiates.

        Each gradient is that of the sum of the one below: the last of order n is varied along
        elements, or directions, and all below along ones.
        """
        (leaf,) = group.leaves
        size = self.net.start(leaf).size
        first = self.net.first_outputs
        ones = np.ones_like(self.net.start(leaf)) / math.sqrt(size)
        factor = math.sqrt(size) ** (case.order - 1)
        nested: list[NestedSlope | None] = []
        for variation in self._variations(group, count):
            if self._time.seconds > SECONDS:
                break
            row = variation.directions()[leaf]

            def at(along: float, inner: float, row: AnyArray = row) -> float:
                """The case's sum of outputs at a point."""
                moved = np.asarray(self.net.start(leaf) + along * row + inner * ones)
                return _of_case(self.net.sums({leaf: moved}), case, first)

            with self._time.counted():
                found = nested_slope(at, case.order, self.net.rounding)
            nested.append(found and found.times(factor))
        slopes: list[Slope | None] = [*smooth_slopes(nested)]
        slopes += [None] * ((count or size) - len(nested))
        errors = []
        for found, slope in zip(nested, slopes, strict=False):
            if found and slope and slope.kind == "smooth":
                errors.append(found.error + found.rounding)
        return self._recorded(group, case, slopes, count, noise=max(errors, default=0.0))


def _judged(slope: Slope | None, has_one_kink: bool) -> Judged:
    """The derivative, its bounds at a kink, or why there is none."""
    if slope is None:
        return Judged(obstacle="time")
    if slope.kind == "smooth":
        return Judged(slope.central, slope.unsure)
    if slope.kind != "kink":
        return Judged(obstacle=slope.kind)
    # One kink bounds a derivative by the slopes to either side, several do not.
    if has_one_kink:
        return Judged(slope.central, slope.parting)
    return Judged(slope.central, math.inf, "kinks")


def _are_smooth(slopes: Iterable[Slope | None]) -> bool:
    """Whether no slope is that of a kink or a jump; None is that of no time."""
    return all(slope is None or slope.kind == "smooth" for slope in slopes)


def _smooth_ones(slopes: Iterable[Slope | None]) -> list[Slope]:
    return [slope for slope in slopes if slope and slope.kind == "smooth"]


def _parting(slopes: list[Slope]) -> float:
    return sum(slope.parting for slope in slopes)


def _is_kink(found: Slope, noise: float) -> bool:
    return bool(is_kink(np.array([found.central]), np.array([found.parting]), noise)[0])


_kept: OrderedDict[bytes, Differences] = OrderedDict()


def _differences(request: NetRequest, kind: type[DoubleNet]) -> Differences:
    key = identity(request)
    if key not in _kept:
        _kept[key] = Differences(request, kind)
        if len(_kept) > KEPT:
            _kept.popitem(last=False)
    return _kept[key]


def _of_case(sums: AnyArray, case: GradCase, first_outputs: int) -> float:
    """What a case differentiates, by the sums of the outputs."""
    outputs = sums
    if case.has_aux:
        # Just the first output is differentiated, otherwise the sum of all.
        outputs = sums[:first_outputs]
    return float(outputs[:, int(case.sens_param)].sum())


def _groups(alone: list[LeafGroup], affordable: int) -> tuple[list[LeafGroup], int]:
    """The leaves that are varied together, and along how many directions, with time for one of each.

    Inputs stay alone, so that the groups of parameters are the same whichever inputs are requested.
    """
    most = max(affordable // AT_KINKS, 1)
    if len(alone) <= min(MOST_ALONE, most):
        return alone, DIRECTIONS
    groups = [group for group in alone if isinstance(group.leaves[0], int)]
    parameters = alone[len(groups) :]
    size = math.ceil(len(parameters) / min(MOST_GROUPS, most)) or 1
    for first in range(0, len(parameters), size):
        members = parameters[first : first + size]
        leaves: list[LeafKey] = []
        names: list[str] = []
        for member in members:
            leaves += member.leaves
            names += member.names
        groups.append(LeafGroup(tuple(leaves), tuple(names)))
    return groups, DIRECTIONS if len(alone) <= MOST_ALONE else FEW_DIRECTIONS
