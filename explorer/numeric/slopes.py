"""Slopes of a function to either side of a point, and whether it has a derivative there.

A kink keeps its two slopes however small the step. Those of a curve come together with it, and
those of a jump grow. So two steps tell them apart, of which one is NARROWER times as narrow.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from explorer.numeric.differences import CLEAR, KINK

STEP = 1e-6
"""The distance by which a leaf is varied to either side.

The error of a central difference is about STEP² times the third derivative, and that of rounding
about 1e-16 / STEP: at 1e-6 both are far below the tolerances of the comparison.
"""

NARROWER = 4.0
"""How many times narrower the second step is."""

Kind = Literal["smooth", "kink", "jump", "border", "rough"]
"""Whether there is a derivative, or why not; "rough" is that of a gradient of lower order."""


class Slope(NamedTuple):
    """A central difference, and half of what the slopes to either side part by.

    It is ``unsure`` by so much where it moves with the step, since kinks lie within it.
    """

    central: float
    parting: float
    kind: Kind = "smooth"
    unsure: float = 0.0


def slope_between(plus: float, minus: float, middle: float, step: float) -> Slope:
    """The slope of a function by its values beside a point and at it."""
    if not (math.isfinite(plus) and math.isfinite(minus)):
        return Slope(math.nan, 0.0, "border")
    central = (plus - minus) / (2 * step)
    return Slope(central, abs(plus + minus - 2 * middle) / (2 * step))


CURVED = 0.6
"""The slopes of a curve part at the narrow step by at most this share of the wide one's parting.

It is a quarter where a second derivative exists, and a half for a power of 1.5.
"""

JUMPING = 1.5
"""Those of a jump part by more than this: four times as much, and a square root's twice."""

STEADY = 0.05
"""By this share of the parting the central difference of a curve may move with the step."""


def cross_kinks(slopes: Iterable[Slope], noise: float) -> bool:
    """Whether any slopes part by more than rounding, which is ``noise``, and a little of themselves."""
    return any(slope.parting > max(KINK * abs(slope.central), CLEAR * noise) for slope in slopes)


FINE_NOISE = 1e-4
"""The share of a slope that rounding may be at the finest step."""

FINER = 8.0
"""How many times finer a step is where even the fine one crosses kinks; rounding is as much more."""

FINEST = 1e-9
"""No step is finer: the leaf itself is rounded."""


def fine_step(slope: float, noise: float, step: float = STEP) -> float:
    """The finest step at which rounding, which is ``noise`` at ``step``, is a small share of a slope."""
    if slope == 0 or not math.isfinite(slope):
        return step
    return min(step, max(FINEST, step * noise / (FINE_NOISE * abs(slope))))


At = Callable[[float], Slope | None]
"""The slope at a step; None where the time is over."""


def refined(wide: Slope, at: At, noise: float, step: float = STEP) -> Slope | None:
    """The slope at the finest step, if it is smooth there; None where it is not, or not known.

    A net with many kinks crosses some within ``step``, which moves even the mean of both slopes.
    """
    fine = fine_step(wide.central, noise, step)
    if fine > step / NARROWER:
        return None
    for finer in (fine, max(FINEST, fine / FINER)):
        slope = at(finer)
        if slope is None or slope.kind != "smooth":
            return None
        rounding = noise * step / finer
        if slope.parting <= max(KINK * abs(slope.central), CLEAR * rounding):
            return Slope(slope.central, 0.0, unsure=0.0 if finer == fine else CLEAR * rounding)
    return None


def resolved(wide: Slope, at: At, noise: float, step: float = STEP) -> Slope | None:
    """What slopes that part at ``step`` are those of: a curve, a kink, or a jump.

    ``at`` has those of narrower steps. ``noise`` is the rounding of the wide one.
    """
    fine = refined(wide, at, noise, step)
    if fine:
        return fine
    narrow = at(step / NARROWER)
    if narrow is None or narrow.kind == "border":
        return narrow
    lost = CLEAR * noise * NARROWER
    if narrow.parting > max(JUMPING * wide.parting, 2 * lost):
        return Slope(math.nan, 0.0, "jump")
    kink = Slope(wide.central, max(wide.parting, narrow.parting), "kink")
    if wide.parting <= 2 * lost or narrow.parting > CURVED * wide.parting:
        return kink
    moved = abs(narrow.central - wide.central)
    if moved <= max(STEADY * wide.parting, lost):
        return _unsure(narrow.central, narrow.parting)

    # Curved on one side alone, or something lies within the step.
    narrower = at(step / NARROWER**2)
    if narrower is None or narrower.kind == "border":
        return narrower
    lost *= NARROWER
    if narrower.parting > max(CURVED * narrow.parting, lost):
        return kink
    if narrower.parting <= lost:
        return Slope(narrower.central, 0.0)
    moved = narrower.central - narrow.central
    return _unsure(narrower.central + moved / (NARROWER - 1), narrower.parting + abs(moved))


def _unsure(central: float, movement: float) -> Slope:
    """A slope of a net with kinks within the step; at a stationary point it is curvature that moves it."""
    return Slope(central, 0.0, unsure=movement if movement <= abs(central) else 0.0)


# Gradients of gradients


MOST_ORDERS = 5
"""The highest order of a gradient that differences of the forward alone can estimate."""

WIDEST = 4e-3
"""The widest step of a second derivative; each further order begins four times as wide."""

HALVINGS = 6
"""How often the step is halved at most."""

KINK_STAYS = 0.75
"""The parting of slopes at half the step, as a share of that at the whole, is greater at a kink."""

ALIKE = 1e-6
"""Two estimates that are so near each other, as a share of their size, need no further step."""

ROUGH = 1e-3
"""Where two estimates are no nearer than this, as a share of the greatest, there is no derivative."""


class NestedSlope(NamedTuple):
    """A mixed derivative, how far it is from that of other steps, and how far rounding moves it.

    ``parting`` is half of what the derivatives to either side differ by where the gradient of lower
    order has a kink, and 0 elsewhere.
    """

    value: float
    error: float
    rounding: float
    parting: float = 0.0

    def times(self, factor: float) -> "NestedSlope":
        """The same of a function that is ``factor`` times as great."""
        return NestedSlope(*(number * factor for number in self))


def nested_slope(
    at: Callable[[float, float], float], order: int, rounding: float
) -> NestedSlope | None:
    """∂/∂s of the derivative of order - 1 with respect to t, at (0, 0), of ``at(s, t)``.

    From central differences of ever narrower steps, of which every two make an extrapolation. It is
    the one that is nearest to its neighbour, and its error what they differ by. ``rounding`` is that
    of a value of the function. None where a value is not finite.
    """
    best: NestedSlope | None = None
    last = Slope(math.nan, math.nan)
    last_extrapolated = math.nan
    for step in _steps(order):
        lost = rounding * 2.0**order / step**order
        found = _mixed_difference(at, order, step)
        if found.kind == "border":
            return None
        extrapolated = (4 * found.central - last.central) / 3
        error = abs(extrapolated - last_extrapolated)
        # With the step the parting of a curve is halved, and that of a kink stays.
        is_kink = found.parting > max(KINK_STAYS * last.parting, CLEAR * lost)
        parting = found.parting if is_kink else 0.0
        last, last_extrapolated = found, extrapolated
        if math.isnan(error):
            continue
        if best is None or error + lost < best.error + best.rounding:
            best = NestedSlope(extrapolated, error, lost, parting)
        if best.error <= ALIKE * abs(best.value) + best.rounding:
            break
    return best


def smooth_slopes(nested: Sequence[NestedSlope | None]) -> list[Slope]:
    """Those that have a derivative, and why the others do not."""
    known = [found for found in nested if found]
    # Where nothing is smooth the greatest value is as great as the error.
    greatest = max((abs(found.value) for found in known if _is_sure(found)), default=0.0)
    slopes = []
    for found in nested:
        if found is None:
            slopes.append(Slope(math.nan, 0.0, "border"))
        elif max(found.error, found.parting) > max(ROUGH * greatest, CLEAR * found.rounding):
            slopes.append(Slope(math.nan, 0.0, "rough"))
        else:
            slopes.append(Slope(found.value, 0.0))
    return slopes


def _is_sure(found: NestedSlope) -> bool:
    return found.error <= max(ROUGH * abs(found.value), CLEAR * found.rounding)


def _steps(order: int) -> Iterator[float]:
    step = WIDEST * NARROWER ** (order - 2)
    for _ in range(HALVINGS + 1):
        yield step
        step /= 2


def _mixed_difference(at: Callable[[float, float], float], order: int, step: float) -> Slope:
    """The slope in s of the central difference of order - 1 in t."""
    inner = order - 1
    plus = minus = middle = 0.0
    for place in range(inner + 1):
        weight = (-1) ** place * math.comb(inner, place) / step**inner
        along = (inner / 2 - place) * step
        plus += weight * at(step, along)
        minus += weight * at(-step, along)
        middle += weight * at(0.0, along)
    return slope_between(plus, minus, middle, step)
