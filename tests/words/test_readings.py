"""Differences beside their noise."""

import pytest

from explorer.model.divergence import Gap
from explorer.words.readings import greatest_difference


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (Gap(), ""),
        (Gap(0.0125), "greatest difference 0.0125"),
        (Gap(0.0125, 0.0, 3.0), "greatest difference 0.0125"),
        (Gap(0.0125, 5e-5, None), "greatest difference 0.0125"),
        (Gap(0.0125, 5e-5, 250.0), "greatest difference 0.0125, 250 × the noise of 5e-05"),
    ],
)
def test_a_difference_is_said_beside_its_noise_where_that_was_measured(gap: Gap, text: str) -> None:
    assert greatest_difference(gap) == text
