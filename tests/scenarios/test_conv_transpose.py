"""A transposed convolution."""

from itertools import product

import numpy as np
import pytest

from tests.support.scenario_reports import (
    FLOAT32,
    WHOLE,
    Reports,
    all_say,
    graph,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def places() -> list[tuple[int, int, int, int, int, int]]:
    """Where each element (i, j) of a 3×3 image lands in a 5×5 one through each tap (a, b) of 3×3.

    The stride is 2, and one row and column is cut off.
    """
    inside = []
    for i, j, a, b in product(range(3), repeat=4):
        p, q = 2 * i - 1 + a, 2 * j - 1 + b
        if 0 <= p < 5 and 0 <= q < 5:
            inside.append((i, j, p, q, a, b))
    return inside


def test_it_is_the_adjoint_of_a_convolution(report: Reports) -> None:
    whole = report("conv_transpose")
    x, kernel, bias = (values_of(whole)[name] for name in ("x", "up.weight", "up.bias"))
    image = np.zeros((3, 5, 5)) + bias[:, None, None]
    for i, j, p, q, a, b in places():
        image[:, p, q] += x[0, :, i, j] @ kernel[:, :, a, b]
    dx, dkernel = np.zeros_like(x), np.zeros_like(kernel)
    for i, j, p, q, a, b in places():
        dx[0, :, i, j] += kernel[:, :, a, b] @ (2 * image[:, p, q])
        dkernel[:, :, a, b] += np.outer(x[0, :, i, j], 2 * image[:, p, q])
    expected = {"dx": dx, "dup.weight": dkernel, "dup.bias": (2 * image).sum(axis=(1, 2))}
    all_say(row(whole, WHOLE), expected, FLOAT32)
    backward = [node for node in graph(whole, "mindspore-graph").nodes if node.phase == "backward"]
    assert any(node.op == "Conv2D" for node in backward)
