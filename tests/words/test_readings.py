"""Two values in words: as many digits as tell them apart."""

import pytest

from explorer.model.divergence import Gap, Reading
from explorer.words.readings import contrast, readings


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        (12.5993, 13.1, ("12.5993", "13.1")),
        (12.59931, 12.59934, ("12.59931", "12.59934")),
        (1.0, 1.0 + 2**-50, ("1", "1.0000000000000009")),
        (0.25, 0.25, ("0.25", "0.25")),
    ],
)
def test_numbers_that_are_not_equal_read_differently(
    one: float, other: float, texts: tuple[str, str]
) -> None:
    values = Reading("element", (), (one,)), Reading("element", (), (other,))
    assert readings(values) == texts
    assert contrast(values, Gap(), is_reversed=True) == f"{texts[1]} against {texts[0]}"


def test_a_mean_and_elements_read_differently_too() -> None:
    means = Reading("mean", (9,), (2.000001,)), Reading("mean", (9,), (2.0,))
    assert readings(means) == ("shape [9] with mean 2.000001", "shape [9] with mean 2")
    elements = Reading("elements", (2,), (1.0, 3.0000001)), Reading("elements", (2,), (1.0, 3.0))
    assert readings(elements) == ("[1, 3.0000001]", "[1, 3]")
