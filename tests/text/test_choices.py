"""Names that a person gives: a refusal says what was given, what is allowed, what is nearest."""

import pytest

from explorer.model.errors import UsageError
from explorer.text.choices import choose, nearest


def test_a_refusal_says_what_was_given_what_is_allowed_and_what_is_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"unknown fruit 'Aple'; did you mean 'apple'\? allowed: apple, pear$"
    ):
        choose("fruit", "Aple", ["apple", "pear"])
    with pytest.raises(UsageError, match=r"unknown fruit 'xyz'; allowed: apple, pear$"):
        choose("fruit", "xyz", ["apple", "pear"])


def test_a_long_list_of_allowed_names_is_cut_to_the_nearest() -> None:
    names = [f"case {index}" for index in range(80)]
    with pytest.raises(
        UsageError, match=r"did you mean 'case 79'\? allowed: case 79, .* … \(80 in all\)$"
    ):
        choose("case", "case-79", names)


def test_nearest_does_not_mind_case() -> None:
    assert nearest("TORCH-TAPE", ["torch-graph", "torch-tape"])[0] == "torch-tape"
