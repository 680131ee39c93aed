"""What is told of stages, where every figure is known."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import Question
from explorer.topics.stages.findings import most_frequent
from explorer.topics.stages.programs import SIGNS
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    LOOPS,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)
from explorer.words.messages import text
from tests.support.tellings import (
    chart_of,
    column,
    lines_of,
    rows_by_first,
    table_of,
    told,
)

JOINT_GRAPH = "PyTorch's joint graph"

REFUSED = {"raised": "Unsupported", "message": "a branch on data. Hint: none"}
MINE = "/nets/mine.py"


def step(name: str, *counts: int, graphs: int = 1, **changed: dict[str, int]) -> dict[str, Any]:
    """What a pass left: nodes of forward, backward, update, bookkeeping, and what it changed."""
    names = ("forward", "backward", "update", "bookkeeping")
    figures = {"pass": name, **dict(zip(names, counts, strict=True)), "graphs": graphs}
    return {**figures, "appeared": changed.get("new", {}), "vanished": changed.get("gone", {})}


PASSES = [
    step("bootstrap", 0, 0, 0, 1),
    step("opt_a_r1_j0_34_meta_fg_expand", 3, 6, 0, 9, graphs=4, new={"Mul": 6, "Add": 1}),
    step("opt_a_r1_j0_35_cse", 3, 6, 0, 9, graphs=4),
    step("opt_a_r2_j0_36_cse", 3, 5, 0, 2, graphs=2, gone={"Mul": 1}),
    step("validate", 3, 5, 0, 2),
]
UNKNOWN = step("zig_zag", 1, 0, 0, 0, new={"Mul": 1})
GRADIENT = {"passes": PASSES, "written": ["Mul", "Add"], "kernels": 1}
TRAINING = {"passes": [*PASSES, step("validate", 1, 5, 7, 2)], "written": [], "kernels": 4}


def test_a_gradient_is_told_by_its_last_pass_and_its_largest() -> None:
    first, second = told(TOPIC, {(GRADIENT_PASSES, GRAPH): GRADIENT}, MINE).findings
    for words in (
        "of mine, written as 2 calls, ends with 8 operators, 3 of the forward and 5 of the backward",
        "2 nodes of bookkeeping",
        "1 kernel.",
    ):
        assert words in first
    assert "Of 5 passes" in second
    assert "2 change an operator" in second
    assert "opt_a, round 1: meta_fg_expand”, with 18 nodes in 4 graphs" in second
    assert second.endswith("ends with 10 in 1.")
    assert "of the net," in told(TOPIC, {(GRADIENT_PASSES, GRAPH): GRADIENT}).findings[0]


def test_a_training_step_is_told_beside_its_gradient() -> None:
    (alone,) = told(TOPIC, {(TRAINING_PASSES, GRAPH): TRAINING}).findings
    assert "1 operator of the forward, 5 of the backward and 7 of the update" in alone
    assert alone.endswith("runs as 4 kernels.")
    both = told(TOPIC, {(TRAINING_PASSES, GRAPH): TRAINING, (GRADIENT_PASSES, GRAPH): GRADIENT})
    assert both.findings[-1].endswith("has 8 operators, 0 of an update.")


def test_passes_that_change_nothing_are_counted_and_not_shown() -> None:
    telling = told(TOPIC, {(GRADIENT_PASSES, GRAPH): GRADIENT})
    table = table_of(telling, "appeared")
    assert table.columns[:1] == ("pass",)
    assert table.columns[-1:] == ("what it is",)
    rows = rows_by_first(table)
    # Phases of which no pass has a node have no column.
    assert "update" not in table.columns
    assert column(table, "backward") == [0, 6, 5, 5]
    assert column(table, "graphs") == [1, 4, 2, 1]
    assert column(table, "vanished") == ["", "", "1 Mul", ""]
    assert rows["opt_a, round 1: meta_fg_expand"][-3] == "6 Mul, 1 Add"
    assert "; 1 more" in table.note
    assert all(rows[name][-1] for name in ("bootstrap", "validate"))
    # Of a pass whose name says nothing to the explorer no meaning is made up.
    of_unknown = told(TOPIC, {(GRADIENT_PASSES, GRAPH): {**GRADIENT, "passes": [UNKNOWN]}})
    (row,) = table_of(of_unknown, "appeared").rows
    assert (row[0], row[-1]) == ("zig_zag", "")


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


def test_a_chart_has_a_line_for_each_phase_that_there_is() -> None:
    telling = told(TOPIC, {(GRADIENT_PASSES, GRAPH): GRADIENT, (TRAINING_PASSES, GRAPH): TRAINING})
    gradient = chart_of(telling, "gradient-passes")
    lines = lines_of(gradient)
    assert list(lines) == ["forward", "backward", "bookkeeping"]
    assert list(lines["backward"].items()) == [
        ("1 bootstrap", 0.0),
        ("2 meta_fg_expand", 6.0),
        ("3 cse", 5.0),
        ("4 validate", 5.0),
    ]
    assert "18 nodes after “opt_a, round 1: meta_fg_expand”" in gradient.note
    assert (gradient.kind, gradient.x, gradient.y) == ("line", "pass", "nodes")
    assert "update" in lines_of(chart_of(telling, "training-passes"))


# Values


def graph(name: str, again: bool = False, **counts: int) -> dict[str, Any]:
    sizes = {"forward": 2, "backward": 3, "update": 0, "bookkeeping": 4, "graphs": 1, **counts}
    return {**sizes, "fingerprint": name, "compiled again": again}


def for_signs(one: Any, other: Any) -> dict[str, Any]:
    return dict(zip(SIGNS, (one, other), strict=True))


def tape(*nodes: str) -> dict[str, Any]:
    return {"tape": list(nodes)}


def joint(figures: Any) -> dict[str, Any]:
    return {"tape": ["Mul"], "joint": figures}


SMALL = {"forward": ["a"], "backward": ["b", "c"]}
VALUES: dict[tuple[Question, str], Figures] = {
    (OTHER_VALUES, GRAPH): for_signs(graph("one"), graph("one")),
    (OTHER_VALUES, "mindspore-tape"): for_signs(tape("Mul", "Exp"), tape("Mul", "Exp")),
    (OTHER_VALUES, "torch"): for_signs(joint(SMALL), joint(SMALL)),
    (BRANCH, GRAPH): for_signs(graph("one", graphs=3), graph("other", again=True, forward=5)),
    (BRANCH, "mindspore-tape"): for_signs(tape("Mul"), tape("Exp", "Exp")),
    (BRANCH, "torch"): for_signs(joint(REFUSED), joint(REFUSED)),
}


def test_whether_graph_and_tape_depend_on_the_values_is_told() -> None:
    findings = told(TOPIC, VALUES, MINE).findings
    on_scenario, its_tapes, more_tapes, on_branch, *tapes_of_branch = findings
    assert "the same graph of mine" in on_scenario
    assert "(5 and 5 operators), and 0 of 2 calls" in on_scenario
    for finding, outcome in ((its_tapes, "(1 and 1) on PyTorch's"), (more_tapes, "(2 and 2) on M")):
        assert finding.startswith("mine leaves the same nodes")
        assert outcome in finding
    assert "another graph of branch_on_value" in on_branch
    assert "(5 and 8 operators), and 1 of 2 calls" in on_branch
    assert "the same nodes for the negated inputs (1 and 1) on PyTorch's" in tapes_of_branch[0]
    assert "other nodes for the negated inputs (1 and 2) on MindSpore's" in tapes_of_branch[1]
    assert "graph of the scenario" in told(TOPIC, VALUES).findings[0]


def test_graphs_and_tapes_of_both_signs_stand_side_by_side() -> None:
    table = table_of(told(TOPIC, VALUES), "for their negatives")
    assert table.columns[:3] == ("program", "form", "for the inputs")
    rows = {row[:2]: row[2:] for row in table.rows}
    assert {program for program, _ in rows} == {"the scenario", "a branch on a value"}
    assert rows["the scenario", JOINT_GRAPH] == (*["1 forward, 2 backward"] * 2, "yes")
    # Two graphs that could not be captured are not the same graph.
    assert rows["a branch on a value", JOINT_GRAPH][2] == "-"
    assert str(rows["a branch on a value", JOINT_GRAPH][0]).startswith("Unsupported: a branch")
    graphs = rows["a branch on a value", "MindSpore's graph"]
    assert graphs == ("2 forward, 3 backward, 3 graphs", "5 forward, 3 backward, 1 graph", "no")
    assert rows["a branch on a value", "MindSpore's tape"] == ("1 Mul", "2 Exp", "no")
    assert rows["the scenario", "MindSpore's graph"][2] == "yes"


def test_a_party_without_figures_is_a_row_that_says_why() -> None:
    table = table_of(told(TOPIC, {}), "for their negatives")
    assert len(table.rows) == 2 * 4
    assert set(column(table, "for the inputs")) == {"-"}
    assert set(column(table, "same")) == {"not measured", "-"}


# Loops


def loops() -> dict[tuple[Question, str], Figures]:
    """Tapes that grow, and a graph that is compiled for the first length and the last one."""
    compiled = {**graph("one"), "compiled": True}
    last = {**graph("two", forward=4), "compiled": True}
    by_length = {"1": {"compiled": False}, "2": compiled, "4": {"compiled": False}, "8": last}
    grown = {str(length): ["Mul"] * (length + 1) for length in (1, 2, 4, 8)}
    of_torch = {"while": grown, "for": ["Mul"] * 5, "joint while": REFUSED, "joint for": SMALL}
    return {
        (LOOPS, GRAPH): {"while": by_length, "for": graph("for")},
        (LOOPS, "torch"): of_torch,
    }


def test_a_loop_grows_on_the_tape_by_what_was_measured() -> None:
    findings = told(TOPIC, loops()).findings
    assert "PyTorch's tape of a loop grows from 2 to 9 nodes" in findings[0]
    assert findings[0].endswith("goes from 1 to 8.")
    assert findings[-1].startswith("PyTorch's joint graph of that loop")
    assert "Unsupported: a branch on data" in findings[-1]
    of_torch = loops()[LOOPS, "torch"]
    of_torch.update({"while": {"1": ["Mul"], "8": ["Mul"]}, "joint while": SMALL})
    same: dict[tuple[Question, str], Figures] = {(LOOPS, "torch"): of_torch}
    assert "of a loop stays at 1 nodes" in told(TOPIC, same).findings[0]
    assert not any("cannot be captured" in finding for finding in told(TOPIC, same).findings)


def test_the_table_of_loops_has_a_column_for_each_length() -> None:
    table = table_of(told(TOPIC, loops()), "while, 8 times")
    assert table.columns[0] == "form"
    rows = rows_by_first(table)
    assert rows["PyTorch's tape"] == (2, 3, 5, 9, 5)
    # A length that compiles nothing has the graph of the one before.
    assert rows["MindSpore's graph"] == (None, 5, 5, 7, 5)
    assert rows["MindSpore's tape"] == ("-", "-", "-", "-", "not measured")
    assert rows[JOINT_GRAPH] == (*["Unsupported"] * 4, 3)
    captured = loops()
    captured[LOOPS, "torch"].update({"joint while": SMALL, "joint for": REFUSED})
    row = rows_by_first(table_of(told(TOPIC, captured), "while, 8 times"))[JOINT_GRAPH]
    assert row[:4] == ("captured",) * 4
    assert str(row[4]).startswith("Unsupported: ")


def test_a_length_whose_size_nobody_knows_is_a_gap_in_its_line() -> None:
    chart = chart_of(told(TOPIC, loops()), "loop-length")
    lines = lines_of(chart)
    assert lines["PyTorch's tape"] == {1.0: 2.0, 2.0: 3.0, 4.0: 5.0, 8.0: 9.0}
    assert lines["MindSpore's graph"] == {1.0: None, 2.0: 5.0, 4.0: 5.0, 8.0: 7.0}
    assert chart.kind == "line"
    assert chart.note == "PyTorch's tape: from 2 to 9; MindSpore's graph: from 5 to 7"


def test_a_loop_of_which_no_size_is_known_is_not_told() -> None:
    unknown = {"while": {"1": {"compiled": False}}, "for": graph("for")}
    telling = told(TOPIC, {(LOOPS, GRAPH): unknown})
    assert (telling.findings, telling.charts) == ((), ())
