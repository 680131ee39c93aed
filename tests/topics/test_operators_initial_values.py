"""Which distribution initial values come from: samples whose distance from each is known in closed form."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import special  # type: ignore[import-untyped]  # scipy ships no types

from explorer.topics.operators.readings import (
    BINS,
    GLOROT,
    NORMAL,
    UNIFORM,
    described,
    initial_values,
)

COUNT = 1000
SHARES = (np.arange(COUNT) + 0.5) / COUNT
"""Where the values of an evenly drawn sample lie in their distribution."""

pytestmark = pytest.mark.slow  # scipy is imported

FANS = {"convolution": (8 * 9, 16 * 9), "dense": (64, 48)}
"""How many numbers an output of each kind of layer is made of, and how many outputs an input is in."""


def samples(kind: str) -> dict[str, Any]:
    """An evenly drawn sample of each distribution."""
    fan_in, fan_out = FANS[kind]
    return {
        UNIFORM: (2 * SHARES - 1) / math.sqrt(fan_in),
        GLOROT: (2 * SHARES - 1) * math.sqrt(6 / (fan_in + fan_out)),
        NORMAL: special.ndtri(SHARES),
    }


@pytest.mark.parametrize("kind", FANS)
@pytest.mark.parametrize("name", [UNIFORM, GLOROT, NORMAL])
def test_an_even_sample_is_half_a_step_from_its_own_distribution_and_far_from_others(
    name: str, kind: str
) -> None:
    sample = samples(kind)[name]
    figures = described(kind, [sample[::2], sample[1::2]])
    assert initial_values(figures).distributions == [name]
    fits = figures["ks"]
    assert fits[name] == {"distance": pytest.approx(0.5 / COUNT), "p": 1.0}
    for other in fits.keys() - {name}:
        assert fits[other]["distance"] > 0.05
        # Kolmogorov's distribution of the distance times the root of the count.
        at = fits[other]["distance"] * math.sqrt(COUNT)
        assert fits[other]["p"] == pytest.approx(special.kolmogorov(at), abs=1e-4)


def test_the_distance_of_a_uniform_sample_from_a_wider_one_is_what_lies_outside() -> None:
    wider = samples("dense")[GLOROT]
    distance = described("dense", [wider])["ks"][NORMAL]["distance"]
    assert distance == pytest.approx(special.ndtr(wider[0]), abs=1 / COUNT)


def test_the_density_of_a_uniform_sample_is_flat_within_its_bound() -> None:
    uniform = samples("dense")[UNIFORM]
    figures = described("dense", [uniform])
    assert figures["count"] == COUNT
    assert figures["bound"] == 1 / 8
    starts = np.array(figures["density"]["from"])
    assert len(starts) == BINS
    inside = np.abs(starts + (starts[1] - starts[0]) / 2) < 1
    assert np.allclose(np.array(figures["density"]["of"])[inside], 0.5, atol=0.01)
    assert not np.array(figures["density"]["of"])[~inside].any()
    # Half of it is from none of the candidates, and zeros have a name of their own.
    assert initial_values(described("dense", [uniform[COUNT // 2 :]])).distributions == []
    assert initial_values(described("dense", [np.zeros(100)])).distributions == ["zeros"]
