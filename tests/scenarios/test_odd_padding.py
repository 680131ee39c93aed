"""A convolution with "same" padding of an odd number of zeros."""

import numpy as np
import pytest

from tests.support.scenario_reports import (
    FLOAT32,
    WHOLE,
    Floats,
    Reports,
    all_say,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def convolution_gradients(x: Floats, kernel: Floats, before: int) -> tuple[Floats, Floats]:
    """Gradients of the sum of squares of a 3×3 convolution of stride 2 on a 4×4 image.

    The image is padded by one row and one column in all.
    """
    padded = np.pad(x, (before, 1 - before))
    dpadded, dkernel = np.zeros_like(padded), np.zeros_like(kernel)
    for i in (0, 2):
        for j in (0, 2):
            window = padded[i : i + 3, j : j + 3]
            dy = 2 * (window * kernel).sum()
            dpadded[i : i + 3, j : j + 3] += dy * kernel
            dkernel += dy * window
    return dpadded[before : before + 4, before : before + 4], dkernel


def test_same_padding_puts_the_odd_zero_at_the_bottom_and_the_right(report: Reports) -> None:
    whole = report("odd_padding")
    x, kernel = values_of(whole)["x"][0, 0], values_of(whole)["conv.weight"][0, 0]
    dx, dkernel = convolution_gradients(x, kernel, before=0)
    expected = {"dx": dx[None, None], "dconv.weight": dkernel[None, None]}
    all_say(row(whole, WHOLE), expected, FLOAT32)
    at_the_top, _ = convolution_gradients(x, kernel, before=1)
    assert np.abs(at_the_top - dx).max() > 1
