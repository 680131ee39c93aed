"""The texts of MindSpore's passes as programs, and stages without figures."""

from pathlib import Path

import pytest

from explorer.engines.mindspore.ir import parse
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.stages.findings import sizes_by_length
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
from explorer.topics.stages.questions import GRAPH, LENGTHS, LOOPS, TOPIC
from explorer.words.messages import text
from tests.support.tellings import telling_text

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
        (
            "opt_a_r1_j0_34_meta_fg_expand",
            "opt_a, round 1: meta_fg_expand",
            "meta_fg_expand",
        ),
        ("opt_a.r1.a_2.merge_addn", "opt_a, round 1: merge_addn", "merge_addn"),
        ("validate", "validate", "validate"),
    ],
)
def test_a_pass_is_told_without_its_numbers(name: str, shown: str, last_part: str) -> None:
    assert (text(readable(name)), short(name)) == (shown, last_part)


def test_without_figures_cells_say_why() -> None:
    telling = telling_text(TOPIC, Evidence({}))
    assert (telling.findings, telling.charts) == ((), ())
    rows = [row for table in telling.tables for row in table.rows]
    assert all("-" in row or "not measured" in row for row in rows)


def test_a_compiled_loop_serves_the_lengths_after_the_first_as_it_is() -> None:
    compiled = {"compiled": True, "forward": 3, "backward": 2, "update": 0, "bookkeeping": 4}
    by_length = {str(length): {"compiled": False} for length in LENGTHS}
    figures = {"while": {**by_length, "1": compiled}, "for": compiled}
    measured = Measured(outcome="ok", figures=figures)
    sizes = sizes_by_length(Evidence({LOOPS.measurement_name(GRAPH): measured}))
    assert sizes == {GRAPH: {str(length): 5 for length in LENGTHS}}
