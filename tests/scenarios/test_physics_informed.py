"""A loss that holds a second derivative, which is differentiated again."""

import numpy as np
import pytest

from explorer.model.cases import GradCase
from explorer.words.divergences import first_divergence
from tests.support.scenario_reports import FLOAT32, TORCH, Floats, Reports, all_say, row, values_of

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

WITH_VALUE = GradCase("value_and_grad", (0, 1))


def second_derivative(x: Floats, w: Floats) -> tuple[Floats, Floats]:
    """u″ of u = tanh(a), a = Σ tanh(w·x), and what is left of it without its term a′²."""
    t = np.tanh(np.outer(x, w))
    one, two = 1 - t**2, -2 * t * (1 - t**2)
    a1, a2 = (w * one).sum(axis=1), (w**2 * two).sum(axis=1)
    u = np.tanh(t.sum(axis=1))
    s = 1 - u**2
    return s * a2 - 2 * u * s * a1**2, s * a2


def test_mindspore_s_tape_loses_a_term_of_a_second_derivative_behind_a_sum(report: Reports) -> None:
    whole = report("physics_informed")
    x, w = values_of(whole)["x"][:, 0], values_of(whole)["w"]
    with_value = row(whole, WITH_VALUE)
    bend, lacking = second_derivative(x, w)
    for second, engines in ((bend, ("mindspore-graph", *TORCH)), (lacking, ("mindspore-tape",))):
        all_say(with_value, {"out": ((second + x) ** 2).sum()}, FLOAT32, engines)
    assert (with_value.verdict, with_value.expected) == ("differs", True)

    parting = [alignment for alignment in whole.alignments if alignment.divergence]
    assert len(parting) == 3
    for alignment in parting:
        assert "mindspore-tape" in (alignment.left, alignment.right)
        assert alignment.divergence is not None
        assert "in forward" in first_divergence(alignment)
        assert "mindspore-tape leaves it out after `Mul` (" in first_divergence(alignment)
