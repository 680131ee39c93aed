"""Messages of frameworks, where they end, and foreign text made harmless."""

import pytest

from explorer.text.clean import clean
from explorer.text.messages import (
    FOLDER,
    IN_A_CLAUSE,
    IN_A_FIGURE,
    ONE_LINE,
    first_clause,
    first_sentence,
    first_statement,
    one_line,
    repeatable,
    shortened,
    without_node,
    without_stack,
)
from tests.support.tables import rows


def test_the_node_that_a_message_ends_with_is_left_out() -> None:
    message = "Unsupported op [X] on CPU. node: @kernel_graph7:status{[0]: ValueNode}"
    assert without_node(message) == "Unsupported op [X] on CPU."
    assert without_node("no such argument") == "no such argument"


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        ("no such kernel. Try another", "no such kernel"),
        ("element 0 has no grad_fn (see the notes)", "element 0 has no grad_fn"),
        ("cannot compile: line 3", "cannot compile"),
        ("version 2.13 has none", "version 2.13 has none"),
        ("x" * IN_A_CLAUSE, "x" * IN_A_CLAUSE),
        ("x" * (IN_A_CLAUSE + 1), "x" * (IN_A_CLAUSE - 1) + "…"),
    ],
)
def test_the_first_clause_ends_at_a_stop_a_colon_or_a_bracket(message: str, clause: str) -> None:
    assert first_clause(message) == clause


@pytest.mark.parametrize(
    ("message", "sentence"),
    rows(__file__, "test_the_first_sentence_of_a_message_stands_in_one_of_ours"),
)
def test_the_first_sentence_of_a_message_stands_in_one_of_ours(message: str, sentence: str) -> None:
    assert first_sentence(message) == sentence


@pytest.mark.parametrize(
    "rest",
    [
        "\n----------------------------------------------------\n- C++ Call Stack: (For framework)\nx.cc:1",
        "\n- The Traceback of Net Construct Code:\nnet.py:3",
        "\n- Framework Unexpected Exception Raised:\nThis exception is caused by",
        "\n- The Function Call Stack (For framework developers):\nabc",
    ],
)
def test_the_framework_s_own_sources_are_left_out(rest: str) -> None:
    assert without_stack(f"The type is wrong.{rest}").strip() == "The type is wrong."
    message = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"
    assert without_stack(message) == message


def test_one_line_has_no_address_no_escape_and_a_greatest_length() -> None:
    assert one_line("at 0x7f00aabbccdd\n\tsee \x1b[31mred") == "at 0x… see \\x1b[31mred"
    assert len(one_line("x" * ONE_LINE)) == ONE_LINE
    assert one_line("x" * ONE_LINE)[-1] == "x"
    assert len(one_line("x" * (ONE_LINE + 1))) == ONE_LINE
    assert one_line("x" * (ONE_LINE + 1))[-1] == "…"
    assert one_line("a \n\t b" + "x" * 1000, limit=10) == "a bxxxxxx…"


def test_what_a_measurement_keeps_is_the_same_at_every_run() -> None:
    first = repeatable("Net_construct_123 fails: uid(45) at 0x7f00aabbccdd")
    second = repeatable("Net_construct_678 fails: uid(90) at 0x7f1122334455")
    assert first == second
    assert len(repeatable("x" * 2 * IN_A_FIGURE)) == IN_A_FIGURE
    # It is the same wherever the explorer is.
    message = f'File "{FOLDER}scenarios/lstm.py", line 5 {"x" * IN_A_FIGURE}'
    assert repeatable(message).startswith('File "scenarios/lstm.py", line 5 x')
    assert len(repeatable(message)) == IN_A_FIGURE


@pytest.mark.parametrize(
    ("message", "statement"),
    rows(__file__, "test_the_first_statement_has_neither_advice_nor_decoration"),
)
def test_the_first_statement_has_neither_advice_nor_decoration(
    message: str, statement: str
) -> None:
    assert first_statement(message) == statement


def test_of_a_call_that_raised_while_it_was_traced_the_cause_is_told() -> None:
    # PyTorch 2.13: the call may be longer than what is kept of a message.
    trace = (
        "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node"
        f" with fake tensors: call_function f(*({'FakeTensor(..., size=(2, 4)), ' * 30}), **{{}}):"
        " got RuntimeError('ViewBackward0 expected device cpu but got meta')\n  Hint: dynamo"
    )
    told = "RuntimeError: ViewBackward0 expected device cpu but got meta"
    assert first_statement(repeatable(trace)) == told
    assert first_sentence(trace) == told
    assert first_sentence("RuntimeError when making fake tensor call") != told


@pytest.mark.parametrize("name", ["Dense", "the net", ""])
def test_a_long_text_without_spaces_fills_its_line(name: str) -> None:
    text = f"{name} " + "梯度与前向的结果不同" * 20
    line = shortened(text, 60)
    assert 50 <= len(line) <= 60
    assert line.endswith(" …")
    assert text.strip().startswith(line.removesuffix(" …"))
    # One with spaces is cut between words.
    line = shortened("gradient " * 20, 60)
    assert set(line.removesuffix(" …").split()) == {"gradient"}
    assert 50 <= len(line) <= 60
    assert shortened("short", 60) == "short"


def test_brackets_that_a_cut_leaves_open_are_closed() -> None:
    text = "the cause (tried [twice], on one line) " + "and more " * 10
    lines = [shortened(text, limit) for limit in range(20, 60)]
    assert lines[0] == "the cause (tried …)"
    for limit, line in enumerate(lines, start=20):
        assert len(line) <= limit
        assert line.count("(") == line.count(")")
        assert line.count("[") == line.count("]")


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert clean("a\x1b[0m\u202eb\ud800\n") == "a\\x1b[0m\\u202eb\\ud800\\n"
    assert clean("a\nb", keep="\n") == "a\nb"
