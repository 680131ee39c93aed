"""Why the operating system refused something."""

import errno
import os
import re

import pytest

from explorer.text.language import said_in
from explorer.text.reasons import REASONS, reason


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
