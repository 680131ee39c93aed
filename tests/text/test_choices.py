"""What a refusal says: what was given and is allowed, what is nearest, what the system answered."""

import errno
import os
import re

import pytest

from explorer.model.errors import UsageError
from explorer.text.choices import choose, nearest
from explorer.text.language import said_in
from explorer.text.reasons import REASONS, reason


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


@pytest.mark.parametrize("number", REASONS)
def test_a_reason_of_the_system_is_what_linux_says_and_chinese_for_a_chinese_reader(
    number: int,
) -> None:
    error = OSError(number, os.strerror(number))
    assert reason(error) == os.strerror(number)
    with said_in("zh"):
        assert re.fullmatch("[一-鿿]+", reason(error))


def test_other_reasons_are_the_error_s_own_words() -> None:
    with said_in("zh"):
        assert reason(OSError(errno.EPIPE, "Broken pipe")) == "Broken pipe"
        assert reason(ValueError("no number")) == "no number"
        assert reason(OSError("closed")) == "closed"
