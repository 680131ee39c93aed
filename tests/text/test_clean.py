"""Foreign text made harmless."""

import errno
import os
import re

import pytest

from explorer.text.clean import REASONS, clean, reason
from explorer.text.language import said_in
from explorer.text.messages import one_line


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert clean("a\x1b[0m\u202eb\ud800\n") == "a\\x1b[0m\\u202eb\\ud800\\n"
    assert clean("a\nb", keep="\n") == "a\nb"


def test_one_line_has_no_runs_of_white_space_and_a_greatest_length() -> None:
    assert one_line("a \n\t b" + "x" * 1000, limit=10) == "a bxxxxxx…"


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
