"""Markdown: what is escaped, and what may stand as code."""

import pytest

from explorer.blocks.markdown import escape, markdown
from explorer.blocks.records import Figure, Table, columns


def test_every_special_character_is_escaped() -> None:
    for character in "\\*_{}[]<>()#+!|~$&-":
        assert escape(f"a{character}b") == f"a\\{character}b"


def test_plain_code_in_backticks_stays_code() -> None:
    assert escape("call `grad(net, grad_position=(0, 1))` [now]") == (
        "call `grad(net, grad_position=(0, 1))` \\[now\\]"
    )


@pytest.mark.parametrize(
    "text", ["`<img onerror>`", "`a|b`", "`a&lt;b`", "`a\\`", "`a", "``", "`a\nb|c`"]
)
def test_code_that_could_break_out_of_a_cell_is_no_code(text: str) -> None:
    assert "`" not in escape(text).replace("\\`", "")


def test_a_cell_ends_where_its_column_does() -> None:
    rows = markdown([Table(columns(["one", "two"]), (("a|b", "`c|d`"),))]).splitlines()
    assert rows[-1].replace("\\|", "").count("|") == 3


def test_what_stands_for_a_picture_does_not_end_it() -> None:
    hostile = "a](b) *c* `d` <e>"
    beside = markdown([Figure("net", (), alt=hostile, source="net.png")])
    assert beside == f"![{escape(hostile)}](net.png)"
    assert beside.count("](") - beside.count("\\](") == 1
    below = markdown([Figure("net", (b"",), alt=hostile, caption=hostile)])
    assert below.endswith(f"*{escape(hostile)}*")
    assert "<e>" not in below
