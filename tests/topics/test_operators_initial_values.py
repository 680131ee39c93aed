"""Which distribution initial values come from: samples whose distance from each is known in closed form."""

import math

import numpy as np
import pytest
from scipy import special  # type: ignore[import-untyped]  # scipy ships no types

from explorer.topics.operators.readings import BINS, FANS, GLOROT, NORMAL, UNIFORM, described

COUNT = 1000
SHARES = (np.arange(COUNT) + 0.5) / COUNT
"""Where the values of an evenly drawn sample lie in their distribution."""

pytestmark = pytest.mark.slow  # scipy is imported

FAN_IN, FAN_OUT = FANS["dense"]
BOUND = 1 / math.sqrt(FAN_IN)
GLOROT_BOUND = math.sqrt(6 / (FAN_IN + FAN_OUT))

SAMPLES = {
    UNIFORM: (2 * SHARES - 1) * BOUND,
    GLOROT: (2 * SHARES - 1) * GLOROT_BOUND,
    NORMAL: special.ndtri(SHARES),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_an_even_sample_is_half_a_step_from_its_own_distribution_and_far_from_others(
    name: str,
) -> None:
    fits = described("dense", [SAMPLES[name][::2], SAMPLES[name][1::2]])["ks"]
    assert fits[name] == {"distance": pytest.approx(0.5 / COUNT), "p": 1.0}
    for other in SAMPLES.keys() - {name}:
        assert fits[other]["distance"] > 0.05
        # Kolmogorov's distribution of the distance times the root of the count.
        at = fits[other]["distance"] * math.sqrt(COUNT)
        assert fits[other]["p"] == pytest.approx(special.kolmogorov(at), abs=1e-4)


def test_the_distance_of_a_uniform_sample_from_a_wider_one_is_what_lies_outside() -> None:
    distance = described("dense", [SAMPLES[GLOROT]])["ks"][NORMAL]["distance"]
    assert distance == pytest.approx(special.ndtr(-GLOROT_BOUND), abs=1 / COUNT)


def test_the_density_of_a_uniform_sample_is_flat_within_its_bound() -> None:
    figures = described("dense", [SAMPLES[UNIFORM]])
    assert figures["count"] == COUNT
    assert figures["bound"] == BOUND
    starts = np.array(figures["density"]["from"])
    assert len(starts) == BINS
    inside = np.abs(starts + (starts[1] - starts[0]) / 2) < 1
    assert np.allclose(np.array(figures["density"]["of"])[inside], 0.5, atol=0.01)
    assert not np.array(figures["density"]["of"])[~inside].any()
