"""Why graphs, and parts of their nodes, are missing; why there is no result, and why no case was run."""

from typing import get_args

import pytest

from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.graph import (
    Absence,
    ArgumentGap,
    GraphNote,
    LineGap,
    LinkGap,
    ProofGap,
    ValueGap,
)
from explorer.model.report import LeftOut, Ungraphed
from explorer.model.results import NoteKind, Result, ResultNote
from explorer.text import failures
from explorer.text.language import said_in
from explorer.words import answers, graphs

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
