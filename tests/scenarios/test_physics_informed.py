"""A loss that holds a second derivative, which is differentiated again."""

import numpy as np
import pytest

from explorer.model.cases import GradCase
from explorer.words.divergences import first_divergence
from tests.support.scenario_reports import (
    BY_BOTH,
    FLOAT32,
    TORCH,
    Floats,
    Reports,
    all_say,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

WITH_VALUE = GradCase("value_and_grad", (0, 1))


def second_derivative(x: Floats, w: Floats) -> dict[str, Floats]:
    """u″ of u = tanh(a), a = Σ tanh(w·x), and its derivatives with respect to x and w.

    The last has shape (points, units); "lacking" is u″ without its term a′².
    """
    t = np.tanh(np.outer(x, w))
    one, two = 1 - t**2, -2 * t * (1 - t**2)
    three = -2 * (1 - t**2) * (1 - 3 * t**2)
    a1, a2, a3 = (w * one).sum(axis=1), (w**2 * two).sum(axis=1), (w**3 * three).sum(axis=1)
    u = np.tanh(t.sum(axis=1))
    s = 1 - u**2

    def along(p0: Floats, p1: Floats, p2: Floats) -> Floats:
        """The derivative of u″ along a change of a, a′ and a″."""
        du, ds = s * p0, -2 * u * s * p0
        change: Floats = ds * a2 + s * p2 - 2 * ((du * s + u * ds) * a1**2 + 2 * u * s * a1 * p1)
        return change

    far = x[:, None]
    p0, p1, p2 = far * one, one + w * far * two, 2 * w * two + w**2 * far * three
    return {
        "bend": s * a2 - 2 * u * s * a1**2,
        "lacking": s * a2,
        "by_x": along(a1, a2, a3),
        "by_w": along(p0.T, p1.T, p2.T).T,
    }


def test_a_derivative_inside_the_loss_is_differentiated_again(report: Reports) -> None:
    whole = report("physics_informed")
    x, w = values_of(whole)["x"][:, 0], values_of(whole)["w"]
    bends = second_derivative(x, w)
    residual = bends["bend"] + x
    dx = (2 * residual * (bends["by_x"] + 1))[:, None]
    dw = 2 * residual @ bends["by_w"]
    right = ("mindspore-graph", *TORCH)
    all_say(row(whole, BY_BOTH), {"dx": dx, "dw": dw}, FLOAT32, right)
    all_say(row(whole, WITH_VALUE), {"out": (residual**2).sum()}, FLOAT32, right)


def test_mindspore_s_tape_loses_a_term_of_a_second_derivative_behind_a_sum(report: Reports) -> None:
    whole = report("physics_informed")
    x, w = values_of(whole)["x"][:, 0], values_of(whole)["w"]
    loss = ((second_derivative(x, w)["lacking"] + x) ** 2).sum()
    with_value = row(whole, WITH_VALUE)
    all_say(with_value, {"out": loss}, FLOAT32, ("mindspore-tape",))
    assert (with_value.verdict, with_value.expected) == ("differs", True)

    parting = [alignment for alignment in whole.alignments if alignment.divergence]
    assert len(parting) == 3
    for alignment in parting:
        assert "mindspore-tape" in (alignment.left, alignment.right)
        assert alignment.divergence is not None
        assert "in forward" in first_divergence(alignment)
        assert "mindspore-tape leaves it out after `Mul` (" in first_divergence(alignment)
