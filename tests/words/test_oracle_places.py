"""The places of which the oracle says that it cannot judge them: a few are named, others counted."""

import numpy as np
import pytest

from explorer.model.arrays import pack
from explorer.model.results import Estimate, Obstacle
from explorer.words.oracle import kinks, obstacles

THREE = "da[0], db[0], dc[0]"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("abc", THREE),
        ("abcd", f"{THREE}, dd[0]"),
        ("abcde", f"{THREE}, 2 others"),
    ],
)
def test_of_many_leaves_a_few_are_named_and_never_one_counted(names: str, said: str) -> None:
    at_kinks = pack(np.array([1.0, 0.0]))
    value = pack(np.array([0.5, 2.0]))
    estimates = [Estimate(f"d{name}", value, kinks=at_kinks) for name in names]
    assert kinks(estimates) == said
    jumps = [Estimate(f"d{name}", value, obstacles=(Obstacle("jump", 1, (0,)),)) for name in names]
    assert obstacles(jumps) == f"the net jumps or is infinitely steep ({said})"
