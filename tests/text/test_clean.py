"""Foreign text made harmless."""

from explorer.text.clean import clean
from explorer.text.messages import one_line


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert clean("a\x1b[0m\u202eb\ud800\n") == "a\\x1b[0m\\u202eb\\ud800\\n"
    assert clean("a\nb", keep="\n") == "a\nb"


def test_one_line_has_no_runs_of_white_space_and_a_greatest_length() -> None:
    assert one_line("a \n\t b" + "x" * 1000, limit=10) == "a bxxxxxx…"
