"""Why graphs, nodes, results and cases are missing; the order of a compiler's stages."""

from typing import get_args

import pytest

from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.graph import (
    Absence,
    ArgumentGap,
    GradGraph,
    GraphNote,
    LineGap,
    LinkGap,
    ProofGap,
    ValueGap,
)
from explorer.model.passes import BEFORE, PASSES
from explorer.model.report import LeftOut, Ungraphed
from explorer.model.results import NoteKind, Result, ResultNote
from explorer.text import failures
from explorer.text.language import said_in
from explorer.words import answers, graphs
from explorer.words.graphs import STAGES, in_order_of_stages

CASE = GradCase("grad", 0)
GAPS = (ProofGap, LineGap, LinkGap, ValueGap, ArgumentGap)
LATER = Failure("TypeError", "no such argument")


@pytest.mark.parametrize(
    ("table", "kinds"),
    [
        (graphs.ABSENCES, sum(map(get_args, GAPS), ())),
        (graphs.NOTES, get_args(GraphNote)),
        (answers.NOTES, get_args(NoteKind)),
    ],
)
def test_each_fact_has_its_words_and_there_are_no_others(
    table: dict[str, str], kinds: tuple[str, ...]
) -> None:
    assert set(table) == set(kinds)
    assert len(set(table.values())) == len(table)


@pytest.mark.parametrize("code", ["en", "zh"])
def test_a_detail_is_said_in_either_language(code: str) -> None:
    with said_in(code):
        assert "MatMul_7" in graphs.why_missing(Absence("removed", "MatMul_7"))
        assert "1, 2" in graphs.why_missing(Absence("unwritten_outputs", "1, 2"))
        assert "dx" in answers.note(Result(outcome="ok", note=ResultNote("grad_is_none", "dx")))
        coarse = Failure("UsageError", kind="coarse_output", details=("0", "float16", "1e-06"))
        said = failures.message(coarse)
        assert all(detail in said for detail in coarse.details)


def test_a_result_without_a_note_says_nothing() -> None:
    assert answers.note(Result(outcome="ok")) == ""


def test_an_error_of_the_recording_alone_is_said_to_be_one() -> None:
    assert graphs.why_no_graph(Ungraphed(LATER)) == "no such argument"
    assert graphs.why_no_graph(Ungraphed(LATER, while_recorded=True)) == (
        "the call raises only while its graph is recorded: TypeError: no such argument"
    )


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        (LeftOut("interrupted", (CASE,)), "the run was interrupted"),
        (LeftOut("selected", (CASE,), "main"), "only the main case was requested"),
        (
            LeftOut("selected", (CASE,), "size", total=80, op_nodes=900),
            "80 cases on a graph of 900 op nodes take long; the others cover each API, grad_position,"
            " form of weights and has_aux; --cases all runs every case",
        ),
    ],
)
def test_cases_that_were_not_run_say_why(left_out: LeftOut, reason: str) -> None:
    assert answers.why_left_out(left_out) == reason


def at_stages(*stages: str) -> list[GradGraph]:
    return [GradGraph(engine="any", case="any", stage=it, nodes=(), edges=()) for it in stages]


def names(found: list[GradGraph]) -> list[str]:
    return [graph.stage for graph in found]


def test_the_compiled_program_is_chosen_behind_the_one_that_is_compared() -> None:
    captured = at_stages("hlo", "jaxpr")  # the one that is compared stands last
    assert names(in_order_of_stages(captured)) == ["jaxpr", "hlo"]


def test_passes_stay_in_their_order_and_each_has_the_one_before() -> None:
    stages = [each.stage for each in PASSES]
    assert names(in_order_of_stages(at_stages(*reversed(stages)))) == stages
    assert [BEFORE.get(stage) for stage in stages] == [None, *stages[:-1]]


def test_a_stage_of_its_own_name_changes_nothing_in_what_it_is_compared_with() -> None:
    """What XLA makes has other operations: nothing of it is "new" beside the stage before."""
    assert "hlo" in STAGES
    assert "hlo" not in BEFORE
