"""Stages of a gradient graph: texts of passes as programs, what is told of them, and rulings."""

from pathlib import Path
from typing import Any

import pytest

from explorer.engines.mindspore.ir import parse
from explorer.topics.evidence import Evidence
from explorer.topics.question import Question
from explorer.topics.stages.findings import most_frequent, sizes_by_length
from explorer.topics.stages.programs import (
    PHASES,
    after_each_pass,
    calls_written,
    change,
    counts,
    fingerprint,
    operators,
    program_after,
    readable,
    short,
    written,
)
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    LENGTHS,
    LOOPS,
    OTHER_VALUES,
    TRAINING_PASSES,
)
from explorer.words.messages import text
from tests.support.rulings import Case, following
from tests.support.tellings import chart_of, lines_of, told_after
from tests.support.topics import Change, copied, edited, put
from tests.support.topics import written as outcomes

SAMPLES = Path(__file__).resolve().parents[1] / "ir_samples"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def test_the_phases_of_a_program_add_up_to_its_nodes() -> None:
    module = parse(sample("branch_validate.ir"), "branch_validate.ir")
    by_phase = counts(module)
    nodes = sum(len(graph.nodes) for graph in module.subgraphs)
    assert sum(by_phase[phase] for phase in PHASES) == nodes
    assert by_phase["forward"] > 0
    assert by_phase["backward"] > 0
    assert calls_written(module, "no_such_function") == []


def test_a_fingerprint_ignores_numbers_and_names_and_sees_an_operator() -> None:
    text = sample("dense_validate.ir")
    module = parse(text, "dense_validate.ir")
    renumbered = parse(text.replace(module.entry, f"9_{module.entry}"), "renumbered.ir")
    assert fingerprint(renumbered) == fingerprint(module)
    renamed = parse(text.replace("%para1_", "%para1_other_"), "renamed.ir")
    assert renamed != module
    assert fingerprint(renamed) == fingerprint(module)
    changed = parse(text.replace("PrimFunc_Sub(", "PrimFunc_Add("), "changed.ir")
    assert fingerprint(changed) != fingerprint(module)


def test_a_change_is_what_appeared_and_what_vanished() -> None:
    text = sample("dense_validate.ir")
    before = operators(parse(text, "before.ir"))
    after = operators(parse(text.replace("PrimFunc_Sub(", "PrimFunc_Add("), "after.ir"))
    assert change(before, after) == {
        "appeared": {"Add": before["Sub"]},
        "vanished": {"Sub": before["Sub"]},
    }


def test_passes_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    substep = "opt_substep_opt_a_r1_j0_3_a_1_0007.ir"
    for name in ("10_b_0003.ir", "9_a_0020.ir", substep, "notes.ir"):
        (tmp_path / name).touch()
    names = [path.name for path in written(tmp_path)]
    assert names == ["10_b_0003.ir", substep, "9_a_0020.ir"]


def test_a_program_is_followed_to_its_last_pass_and_no_further(tmp_path: Path) -> None:
    text = sample("dense_validate.ir")
    entry = parse(text, "dense_validate.ir").entry
    for name in ("1_first_0001.ir", "2_validate_0002.ir", "3_after_0003.ir"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [name for name, _ in after_each_pass(tmp_path, entry)] == ["first", "validate"]
    assert list(after_each_pass(tmp_path, "another_program")) == []
    with pytest.raises(LookupError, match="no pass 'cse'"):
        program_after(tmp_path, entry, "cse")


@pytest.mark.parametrize(
    ("name", "shown", "last_part"),
    [
        ("opt_a_r1_j0_34_meta_fg_expand", "opt_a, round 1: meta_fg_expand", "meta_fg_expand"),
        ("opt_a.r1.a_2.merge_addn", "opt_a, round 1: merge_addn", "merge_addn"),
        ("validate", "validate", "validate"),
    ],
)
def test_a_pass_is_told_without_its_numbers(name: str, shown: str, last_part: str) -> None:
    assert (text(readable(name)), short(name)) == (shown, last_part)


def test_a_compiled_loop_serves_the_lengths_after_the_first_as_it_is() -> None:
    compiled = {"compiled": True, "forward": 3, "backward": 2, "update": 0, "bookkeeping": 4}
    by_length = {str(length): {"compiled": False} for length in LENGTHS}
    figures = {"while": {**by_length, "1": compiled}, "for": compiled}
    sizes = sizes_by_length(Evidence(outcomes({(LOOPS, GRAPH): figures})))
    assert sizes == {GRAPH: {str(length): 5 for length in LENGTHS}}


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

    def compile_there(by_length: Any) -> None:
        compiled, served = by_length["1"], by_length["2"]
        by_length["1"] = served
        if length in by_length:
            by_length[length] = compiled

    return edited(LOOPS, [GRAPH], compile_there, "while")


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


def written_times(times: int) -> Change:
    """The author wrote so many times as many calls."""
    return edited(GRADIENT_PASSES, [GRAPH], lambda it: it.update(written=times * it["written"]))


ONE, OTHER = "inputs times 1", "inputs times -1"

test_another_world_gets_another_verdict = following(
    [
        Case(27, copied(BRANCH, ["mindspore-tape"], OTHER, of=ONE), "holds"),
        Case(27, put(BRANCH, [GRAPH], OTHER, "fingerprint", value="0" * 12), "does_not_hold"),
        Case(27, put(OTHER_VALUES, [GRAPH], ONE, "compiled again", value=True), "does_not_hold"),
        Case(28, put(TRAINING_PASSES, [GRAPH], "passes", -1, "update", value=0), "does_not_hold"),
        Case(28, written_times(2), "holds_with_changes"),
        Case(28, written_times(4), "does_not_hold"),
    ]
)
