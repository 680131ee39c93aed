"""A report on a terminal: its widths, its columns, and what is said once."""

from typing import Any

import msgspec
import pytest

from explorer.blocks.records import plain
from explorer.blocks.terminal import show
from explorer.model.cases import GradCase
from explorer.model.divergence import Gap
from explorer.model.report import LeftOut, Report
from explorer.report.scenario.case_rows import case_row
from explorer.report.scenario.page import (
    case_line,
    cases_blocks,
    cases_of,
    graphs_blocks,
    report_blocks,
)
from explorer.words.answers import OMITTED, why_left_out
from tests.support.consoles import on_terminal, printed
from tests.support.sample_report import (
    DIVERGENCE,
    FURTHER,
    ON_THE_LEFT,
    alignment,
    case_report,
    report,
)


def shown(whole: Report, width: int = 100, **terminal: Any) -> str:
    return on_terminal(report_blocks(whole), width, **terminal)


@pytest.mark.parametrize(
    ("width", "has_structure", "has_ids"),
    [(80, False, False), (120, True, False), (150, True, True)],
)
def test_the_table_fits_its_width_and_shows_structure_ids_and_ratios_where_there_is_room(
    width: int, has_structure: bool, has_ids: bool
) -> None:
    text = shown(report(unexpected=True), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert text.count("grad(net") == 2
    assert "80 cases:" in text
    assert [line for line in lines if line != line.rstrip()] == []
    head = next(line for line in lines if line.startswith("  call"))
    assert ("structure" in head) == has_structure
    assert ("ids" in head) == has_ids
    rows = [line for line in lines if " differs " in line and line.startswith("  1 ")]
    assert rows
    assert all(("× the noise" in row) == has_ids for row in rows)


def test_the_first_part_and_the_second_make_up_the_whole() -> None:
    first = on_terminal(graphs_blocks(report()))
    second = printed(lambda console: show(cases_blocks(report()), console, is_continued=True), 100)
    assert first + second == shown(report())
    assert "mindspore-graph · torch-tape" in first
    assert "value_and_grad(net" in second
    # Names are explained above the table that has them.
    assert second.index("dNAME: ") < second.index("grad(net")


@pytest.mark.parametrize("cause", OMITTED)
def test_cases_that_are_left_out_are_counted_and_the_first_ones_named(cause: Any) -> None:
    cases = report().cases
    left_out = LeftOut(cause, tuple(case.case for case in cases[20:]), "main")
    text = shown(msgspec.structs.replace(report(), cases=cases[:20], left_out=(left_out,)))
    sentence = OMITTED[cause].format(n=60, total=80, reason=why_left_out(left_out))
    assert sentence in " ".join(text.split())
    assert cases[20].case.short in text
    assert "(60 in all)" in text


def test_a_case_on_one_line_refers_to_no_note_that_is_not_there() -> None:
    with_notes = [case for case in report().cases if case_row(case).notes]
    assert with_notes
    for case in with_notes:
        assert plain(case_line(case)).startswith(f"{case.case.short}: ")
        assert "[1]" not in plain(case_line(case))


def test_a_divergence_is_said_once_and_each_pair_refers_to_it() -> None:
    pairs = (
        alignment("mindspore-graph", "torch-tape", DIVERGENCE),
        alignment("mindspore-graph", "torch-graph"),
        alignment("mindspore-tape", "torch-tape", DIVERGENCE),
        alignment("mindspore-tape", "torch-graph", FURTHER),
    )
    whole = msgspec.structs.replace(report(), alignments=pairs)
    text = shown(whole, 150)
    # The first line says who differs, and the next one where.
    who, where, *_ = text.split("\n\n")[1].splitlines()
    assert "the oracle (central differences of PyTorch's net)" in who
    assert where.startswith("  A  First divergence in backward: `MulBackward`")
    assert text.count("First divergence in ") == 2
    rows = [line.split() for line in text.splitlines() if " · " in line]
    assert [row[-1] for row in rows] == ["A", "none", "A", "B"]
    assert {" ".join(row[3:-1]) for row in rows} == {"1 paired 1 paired"}


def test_a_divergence_of_several_pairs_is_said_once_whatever_their_engines() -> None:
    pairs = [
        (left, right)
        for left in ("mindspore-graph", "mindspore-tape")
        for right in ("torch-tape", "torch-graph")
    ]
    # The noise, and its multiple, are those of the two engines.
    noises = (2.5e-07, 2.6e-07, 2.7e-07, 2.8e-07)
    found = [
        msgspec.structs.replace(ON_THE_LEFT, gap=Gap(0.5, noise, 0.5 / noise)) for noise in noises
    ]
    many = tuple(alignment(*pair, there) for pair, there in zip(pairs, found, strict=True))
    for number, more in ((1, ""), (2, "1 more pair of engines"), (4, "3 more pairs of engines")):
        whole = msgspec.structs.replace(report(), alignments=many[:number])
        text = shown(whole, 400)
        assert text.count("First divergence in ") == 1
        assert "only mindspore-graph has" in text
        assert ("; the same between " in text) == (more != "")
        assert more in text
        rows = [line.split() for line in text.splitlines() if " · " in line]
        assert [row[-1] for row in rows] == ["A"] * number


def test_cases_that_differ_in_one_way_refer_to_the_first() -> None:
    zero = case_report(GradCase("grad", 0), wrong="tape")
    again = case_report(GradCase("grad", (0,)), wrong="tape")
    other = case_report(GradCase("grad", 1), wrong="tape")
    (group,) = cases_of(msgspec.structs.replace(report(), cases=(zero, again, other))).groups
    first, second, third = group.rows
    assert (first.value, second.value, third.value) == ("", "as grad(0)", "")
    assert (first.is_reference, second.is_reference) == (False, True)
    assert first.statements
    assert third.statements
    assert not second.statements
    assert second.verdict == first.verdict == "differs"
