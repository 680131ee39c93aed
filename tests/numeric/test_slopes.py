"""Curves, kinks, jumps and borders told apart by two steps; gradients of gradients by differences."""

import math
from collections.abc import Callable

import pytest

from explorer.numeric.slopes import (
    STEP,
    NestedSlope,
    Slope,
    nested_slope,
    resolved,
    slope_between,
    smooth_slopes,
)
from tests.support.narrowing import present

Function = Callable[[float], float]


def found(function: Function) -> Slope:
    """What two steps say of a function at 0."""

    def at(step: float) -> Slope:
        return slope_between(function(step), function(-step), function(0.0), step)

    return present(resolved(at(STEP), at, 1e-10))


def above(x: float) -> float:
    return max(x, 0.0)


def root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


@pytest.mark.parametrize(
    ("function", "kind", "central"),
    [
        (lambda x: 3 * x * x, "smooth", 0.0),
        (lambda x: math.cos(300 * x), "smooth", 0.0),
        (lambda x: 5 * above(x) ** 2, "smooth", 0.0),  # curved on one side alone
        (lambda x: 200 * abs(x) ** 1.5, "smooth", 0.0),
        (lambda x: 2 * x + 1e4 * x * x, "smooth", 2.0),
        (abs, "kink", 0.0),
        (lambda x: 2 * above(x) - 3 * above(-x), "kink", 2.5),
        (lambda x: math.copysign(0.25, x), "jump", math.nan),
        (lambda x: float(x >= 0), "jump", math.nan),
        (lambda x: math.sqrt(abs(x)), "jump", math.nan),
        (root, "border", math.nan),
        (lambda x: math.inf if x > 0 else 1.0, "border", math.nan),
    ],
)
def test_two_steps_tell_curves_kinks_jumps_and_borders_apart(
    function: Function, kind: str, central: float
) -> None:
    slope = found(function)
    assert slope.kind == kind
    assert slope.central == pytest.approx(central, abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("place", [0.1, 0.2, 0.5, 0.9])
def test_a_kink_beside_the_point_but_within_the_step_does_not_move_the_slope(place: float) -> None:
    slope = found(lambda x: x + above(x - place * STEP))
    # Below, the slope is 1; the nearest kinks are bounded by the slopes to either side.
    assert slope.central - slope.parting <= 1 + 1e-6
    assert slope.central + slope.parting >= 1 - 1e-6
    assert slope.parting <= 0.5


def test_where_the_time_is_over_nothing_is_known() -> None:
    wide = slope_between(STEP, STEP, 0.0, STEP)
    assert resolved(wide, lambda _: None, 0.0) is None


def test_rounding_at_the_narrowest_step_is_no_kink() -> None:
    noise = 1e-4

    def at(step: float) -> Slope:
        # A parabola on one side alone: its slope and half the parting shrink with the step, while
        # rounding, which is divided by the step, grows.
        curve = 40 * noise * step / STEP
        return Slope(curve, curve + noise * STEP / step)

    slope = present(resolved(at(STEP), at, noise))
    assert slope.kind == "smooth"
    assert slope.central == pytest.approx(at(STEP / 16).central)


def nested(function: Function, order: int, point: float) -> NestedSlope | None:
    return nested_slope(lambda s, t: function(point + s + t), order, 1e-15)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("point", [-0.7, 0.0, 1.3])
def test_differences_of_any_order_are_those_of_the_closed_form(order: int, point: float) -> None:
    exact = math.sin(point + order * math.pi / 2)
    slope = present(nested(math.sin, order, point))
    assert slope.value == pytest.approx(exact, abs=1e-4)
    assert abs(slope.value - exact) <= 2 * (slope.error + slope.rounding)
    assert smooth_slopes([slope])[0].kind == "smooth"


def test_the_mixed_derivative_is_that_of_both_directions() -> None:
    # d/ds d2/dt2 of exp(s) sin(2 t) s at (0, 0) is 0; of exp(s) cos(2 t) it is -4.
    slope = present(nested_slope(lambda s, t: math.exp(s) * math.cos(2 * t), 3, 1e-15))
    assert slope.value == pytest.approx(-4, abs=1e-5)


@pytest.mark.parametrize(
    ("function", "point", "kind"),
    [
        (above, 0.0, "rough"),  # the gradient jumps
        (lambda x: above(x) ** 2, 0.0, "rough"),  # the gradient has a kink
        (lambda x: abs(x) ** 1.5, 0.0, "rough"),  # it is infinitely steep
        (lambda x: above(x) ** 3 + x * x, 0.0, "smooth"),
        (above, 0.3, "smooth"),
        (lambda x: above(x) ** 2, -0.3, "smooth"),
        (root, 0.0, "border"),
    ],
)
def test_a_gradient_of_lower_order_that_is_not_smooth_is_found(
    function: Function, point: float, kind: str
) -> None:
    (slope,) = smooth_slopes([nested(function, 2, point)])
    assert slope.kind == kind


def test_of_several_the_size_of_the_greatest_counts() -> None:
    great, small = NestedSlope(100.0, 0.01, 0.0), NestedSlope(0.001, 0.01, 0.0)
    assert [slope.kind for slope in smooth_slopes([great, small])] == ["smooth", "smooth"]
    assert [slope.kind for slope in smooth_slopes([small])] == ["rough"]
