"""How many op nodes of two graphs are paired, and how far they differ, in words."""

import pytest

from explorer.model.alignment import Count
from explorer.model.divergence import Gap
from explorer.text.language import said_in
from explorer.words.coverage import of_both
from explorer.words.readings import greatest_difference


def counted(paired: int = 0, inside: int = 0, unpaired: int = 0) -> Count:
    return Count(paired=paired, inside=inside, unpaired=unpaired)


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        (counted(5), counted(5), "5 paired"),
        (counted(1, 1, 3), counted(1, 1, 3), "1 paired, 1 inside, 3 unpaired"),
        (counted(8, 1), counted(8, 2), "8 paired, 1 and 2 inside"),
        (counted(), counted(0, 0, 5), "0 and 5 unpaired"),
        (counted(), counted(), "none"),
    ],
)
def test_only_what_there_is_is_counted_and_what_is_the_same_once(
    left: Count, right: Count, text: str
) -> None:
    assert of_both(left, right) == text


def test_in_chinese_each_of_two_numbers_has_its_measure_word() -> None:
    with said_in("zh"):
        shown = of_both(counted(8, 1), counted(8, 2))
    # "1/2 个" would be one of two, as in "14/14 个算子".
    assert shown == "8 个已配对，1 个与 2 个包含在对方算子内"


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
