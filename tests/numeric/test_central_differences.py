"""Seeded directions along which derivatives are estimated."""

import numpy as np
import pytest

from explorer.numeric.differences import directions


def test_directions_have_unit_length_and_the_shape_of_the_tensor() -> None:
    rows = directions("fc.weight", 16, (4, 5))
    assert rows.shape == (16, 4, 5)
    assert np.linalg.norm(rows.reshape(16, -1), axis=1) == pytest.approx(np.ones(16))


def test_a_scalar_has_directions_too() -> None:
    assert np.abs(directions("dx", 4, ())) == pytest.approx(np.ones(4))


def test_a_leaf_has_the_same_directions_in_every_process() -> None:
    (direction,) = directions("dx", 1, (2,))
    assert direction == pytest.approx([-0.00257614, -0.99999668], abs=1e-8)


def test_leaves_of_other_names_have_other_directions() -> None:
    assert not np.allclose(directions("dx", 2, (3,)), directions("dy", 2, (3,)))
