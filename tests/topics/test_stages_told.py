"""What is told of stages, where every figure is known."""

from typing import Any

import pytest

from explorer.topics.question import Question
from explorer.topics.stages.findings import most_frequent
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    LOOPS,
    OTHER_VALUES,
)
from explorer.words.messages import text
from tests.support.tellings import (
    chart_of,
    lines_of,
    told_after,
)
from tests.support.topics import Change, World, put


def test_of_a_pass_whose_name_says_nothing_to_the_explorer_no_meaning_is_made_up() -> None:
    telling = told_after(
        "stages", put(GRADIENT_PASSES, [GRAPH], "passes", 0, "pass", value="zig_zag")
    )
    (table, _) = (table for table in telling.tables if "what it is" in table.columns)
    assert (table.rows[0][0], table.rows[0][-1]) == ("zig_zag", "")


@pytest.mark.parametrize(
    ("question", "party", "path", "value", "said"),
    [
        (BRANCH, GRAPH, "fingerprint", "other", "another graph of branch_on_value"),
        (OTHER_VALUES, GRAPH, "compiled again", True, "and 1 of 2 calls with other values"),
        (OTHER_VALUES, "torch", "tape", [], "nodes for the negated inputs (4 and 0) on PyTorch's"),
    ],
)
def test_what_depends_on_the_values_is_told(
    question: Question, party: str, path: str, value: Any, said: str
) -> None:
    telling = told_after("stages", put(question, [party], "inputs times -1", path, value=value))
    assert sum(said in finding for finding in telling.findings) == 1


@pytest.mark.parametrize(
    ("operators", "line"),
    [
        ({}, ""),
        ({"Mul": 1}, "1 Mul"),
        ({"b": 2, "a": 2, "c": 3}, "3 c, 2 a, 2 b"),
        (dict.fromkeys("abcd", 1), "1 a, 1 b, 1 c, 1 d"),
        ({**dict.fromkeys("abcd", 2), "e": 1, "f": 1}, "2 a, 2 b, 2 c, 2 d, 2 others"),
    ],
)
def test_the_most_frequent_operators_are_named_and_the_others_counted(
    operators: dict[str, int], line: str
) -> None:
    assert text(most_frequent(operators)) == line


def compiled_at(length: str) -> Change:
    """The compiler of a loop's graph runs for one length, or for none that is asked for."""

    def change(world: World) -> None:
        by_length = world[LOOPS, GRAPH]["while"]
        compiled, served = by_length["1"], by_length["2"]
        by_length["1"] = served
        if length in by_length:
            by_length[length] = compiled

    return change


def test_a_length_whose_size_nobody_knows_is_a_gap_in_its_line() -> None:
    chart = chart_of(told_after("stages", compiled_at("8")), "loop-length")
    # A length that compiles nothing has the graph of the one before.
    sizes = {1.0: None, 2.0: None, 4.0: None, 8.0: 9.0, 16.0: 9.0}
    assert lines_of(chart)["MindSpore's graph"] == sizes
    assert chart.note.endswith("MindSpore's graph: from 9 to 9")


def test_a_loop_of_which_no_size_is_known_is_not_told() -> None:
    telling = told_after("stages", compiled_at("none"))
    assert not any("MindSpore's graph of a loop" in finding for finding in telling.findings)
    assert "MindSpore's graph" not in lines_of(chart_of(telling, "loop-length"))


def test_a_loop_on_a_constant_that_cannot_be_captured_is_said_to_be_so() -> None:
    refused = {"raised": "Unsupported", "message": "a branch on data. Hint: none"}
    telling = told_after("stages", put(LOOPS, ["torch"], "joint for", value=refused))
    (row,) = (row for row in telling.tables[-1].rows if row[0] == "PyTorch's joint graph")
    assert str(row[-1]).startswith("Unsupported")
