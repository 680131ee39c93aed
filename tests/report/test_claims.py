"""The board of claims in its formats."""

import json

import msgspec
import pytest

from explorer.blocks.markdown import escape
from explorer.blocks.records import Tone
from explorer.model.claim import Board, ClaimRow, ClaimVerdict, Observation
from explorer.model.measurement import Measured
from explorer.report.claims.measurements import MOST_ROWS, MOST_SECTIONS
from explorer.report.claims.pages import (
    INDEX,
    TONES,
    board_blocks,
    board_html,
    board_markdown,
    board_pages,
    claim_blocks,
)
from explorer.report.claims.wording import (
    COUNT_FORMS,
    against,
    counts,
    evidence_table,
    if_it_holds,
    verdict_sentence,
)
from explorer.report.schemas import board_document
from explorer.words import messages
from explorer.words.claims import advice_text, evidence_text
from tests.support.consoles import on_terminal
from tests.support.sample_board import BOARD, EVIDENCE, HOLDS, NOT_RUN


def claim_shown(board: Board, row: ClaimRow) -> str:
    return on_terminal(claim_blocks(board, row))


def test_the_terminal_has_a_line_of_evidence_for_each_row_in_the_order_of_headings() -> None:
    shown = on_terminal(board_blocks(BOARD))
    assert "2 claims: 1 holds, 1 was not run" in shown
    assert EVIDENCE in shown
    assert shown.index("gradients") < shown.index(" 1 ") < shown.index("operators")


def test_one_claim_in_full_has_its_verdict_its_evidence_and_all_code_in_order() -> None:
    shown = claim_shown(BOARD, HOLDS)
    places = [
        shown.index(part)
        for part in (
            "holds: every result that the statement speaks of is as stated.",
            "If it holds: So it is.",
            "what was measured",
            "Adapted from the guide",
            "a = vaild",
            "As meant",
            "a = valid",
            "def one(ask):",
        )
    ]
    assert places == sorted(places)


def test_the_document_is_strict_json_and_calls_headings_topics() -> None:
    document = json.loads(json.dumps(board_document(BOARD), allow_nan=False))
    assert [row["verdict"] for row in document["rows"]] == [None, "holds"]
    assert [row["topic"] for row in document["rows"]] == ["operators", "gradients"]
    # It has the code that a guide prints, and what ran it.
    row = document["rows"][1]
    assert row["printed"] == [{"code": "a = vaild\n# ```\n", "measured": ["one"]}]
    assert row["meant"] == [{"code": "a = valid\n", "measured": ["one"]}]


def test_a_row_whose_guide_prints_nothing_says_nothing_of_it() -> None:
    alone = msgspec.structs.replace(BOARD, rows=(NOT_RUN,))
    in_full = claim_shown(BOARD, NOT_RUN)
    for text in (in_full, board_markdown(alone), board_html(alone)):
        assert "adapted from the guide" not in text
        assert "as meant" not in text
    (row,) = board_document(alone)["rows"]
    assert not {"printed", "meant", "sections"} & set(row)


def test_pages_say_versions_show_printed_code_and_escape_what_frameworks_say() -> None:
    page = board_markdown(BOARD)
    assert "2026-01-01" in page.replace("\\", "")
    assert "mindspore 2.10.0" in page.replace("\\", "")
    assert "\\<script\\>" in page
    assert "\\|" in page
    assert "<script>" not in board_html(BOARD)
    # No fence in the code can end the block.
    assert "Row 1, adapted from the guide:\n\n````python\na = vaild\n# ```\n````" in page
    assert "Row 1, as meant:\n\n```python\na = valid\n```" in page
    assert '004, "Gradients \\& co"; 000' in page
    assert "Gradients &amp; co" in board_html(BOARD)
    assert '<code class="language-python">a = vaild' in board_html(BOARD)
    shown = claim_shown(BOARD, HOLDS)
    assert '004, "Gradients & co": migration guide, gradients (r2.0)' in shown


def test_each_claim_has_a_page_with_all_that_is_known_of_it() -> None:
    pages = board_pages(BOARD)
    assert set(pages) == {INDEX, "1.md", "44.md"}
    for row in BOARD.rows:
        page = pages[f"{row.id}.md"]
        assert page.startswith(f"# {row.id}. {escape(row.statement)}\n")
        evidence = [escape(messages.text(one.value)) for one in row.observations] or [
            escape(evidence_text(row))
        ]
        parts = [
            "## Evidence",
            escape(if_it_holds(row)),
            *evidence,
            "## What to do",
            escape(advice_text(row)),
            "## Sources",
        ]
        places = [page.index(part) for part in parts if part]
        assert places == sorted(places)
        assert "def one(ask):" in page
        assert f"| [{row.id}]({row.id}.md) | {escape(row.statement)} |" in pages[INDEX]
    assert "**holds**" in pages["1.md"]
    assert "**not run**" in pages["44.md"]
    assert "Gradients \\& co" in pages["1.md"]
    assert "<script>" not in pages["1.md"]


OUTDATED = msgspec.structs.replace(
    HOLDS,
    verdict="outdated",
    observations=(
        Observation("sum", "6", ("mindspore-graph", "mindspore-tape"), expected=True),
        Observation("sum", "7", ("torch-tape",), expected=False),
        Observation("mean", "2", ("torch-tape",), expected=False),
        Observation("an aside"),
    ),
)


def test_evidence_is_a_table_that_names_what_was_measured_once() -> None:
    table = evidence_table(OUTDATED)
    names = [column.name for column in table.columns]
    assert names == ["what was measured", "who", "result", "as stated"]
    assert table.rows == (
        ("sum", "MindSpore graph and tape", "6", "yes"),
        ("", "PyTorch tape", "7", "no"),
        ("mean", "PyTorch tape", "2", "no"),
        ("an aside", "", "", ""),
    )
    assert evidence_table(NOT_RUN).rows == ()
    # A column without a figure is left out.
    alone = msgspec.structs.replace(HOLDS, observations=(Observation("sum", "6"),))
    assert [column.name for column in evidence_table(alone).columns] == [names[0], names[2]]


def test_of_a_claim_that_does_not_hold_the_result_is_said_and_not_that_it_is_untrue() -> None:
    row = msgspec.structs.replace(OUTDATED, verdict="does_not_hold")
    board = msgspec.structs.replace(BOARD, rows=(row,))
    expected = "does not hold, as this result shows: sum: 7 (PyTorch tape); and 1 more."
    assert expected in claim_shown(board, row)
    assert verdict_sentence(row) == expected.removesuffix(".")
    page = board_pages(board)["1.md"].replace("\\", "")
    assert "Not as stated" not in page
    assert "not true" not in page


def test_a_line_of_evidence_is_cut_between_words() -> None:
    long = Observation("sum", "word " * 200, ("torch-tape",), expected=False)
    row = msgspec.structs.replace(HOLDS, observations=(long,))
    assert "word …" in on_terminal(board_blocks(msgspec.structs.replace(BOARD, rows=(row,))))
    assert against(row).endswith("word …")


FIGURES = {
    "losses": [0.5, 0.25, 0.125, 0.0625, 0.03125],
    "as meant": {"weight": [[1, 2, 3], [4, 5, 6]], "is equal": True},
    "states": [{"weight": [1.0], "bias": [2.0]}] * 5,
    "code": "print(1)\n",
    "nested": [[[4, 6, 8]], 20],
}


def test_figures_are_shown_in_short_and_equal_ones_once() -> None:
    measured = Measured(outcome="ok", figures=FIGURES)
    names = ("topic.loop.torch", "topic.step.torch")
    row = msgspec.structs.replace(HOLDS, measured=names, printed=(), meant=())
    board = msgspec.structs.replace(BOARD, rows=(row,), measured=dict.fromkeys(names, measured))
    shown = claim_shown(board, row)
    _, _, figures = shown.partition("Measurements\n")
    assert "Measured on 2026-01-01 with mindspore 2.10.0" in figures
    assert "`python -m explorer claims 1 --json` prints all figures" in figures
    assert figures.count("topic.loop, topic.step (PyTorch)\n") == 1
    for line in (
        "losses              5 values: 0.5, 0.25, 0.125, 0.0625, …",
        "as meant, weight    2 × 3 values: 1, 2, 3, 4, …",
        "as meant, is equal  yes",
        "states              5 records of weight, bias",
        "nested              4 values: 4, 6, 8, 20",
    ):
        assert line in figures
    assert "print(1)" not in figures


def test_of_many_measurements_and_figures_the_first_are_shown_and_the_others_counted() -> None:
    names = tuple(f"topic.loop{n}.torch" for n in range(MOST_SECTIONS + 2))
    measured = {name: Measured(outcome="ok", figures={"name": name}) for name in names}
    row = msgspec.structs.replace(HOLDS, measured=names, printed=(), meant=())
    shown = claim_shown(msgspec.structs.replace(BOARD, rows=(row,), measured=measured), row)
    assert f"topic.loop{MOST_SECTIONS - 1} (PyTorch)" in shown
    assert f"topic.loop{MOST_SECTIONS} (PyTorch)" not in shown
    assert "and 2 more" in shown
    figures = {f"figure {n}": n for n in range(MOST_ROWS + 3)}
    measured = {"one": Measured(outcome="ok", figures=figures)}
    shown = claim_shown(msgspec.structs.replace(BOARD, measured=measured), HOLDS)
    assert f"figure {MOST_ROWS - 1} " in shown
    assert f"figure {MOST_ROWS} " not in shown
    assert "and 3 more" in shown


def test_a_measurement_without_figures_says_how_it_ended() -> None:
    names = ("topic.loop.torch", "topic.loop.mindspore-tape")
    outcomes = {names[0]: Measured(outcome="crashed"), names[1]: Measured(outcome="ok")}
    row = msgspec.structs.replace(HOLDS, measured=names, printed=(), meant=())
    board = msgspec.structs.replace(BOARD, rows=(row,), measured=outcomes)
    shown = claim_shown(board, row)
    assert "topic.loop (PyTorch): crashed\n" in shown
    assert "topic.loop (MindSpore tape)\n" in shown


def test_what_is_not_as_stated_is_said_beside_the_verdict() -> None:
    assert against(OUTDATED) == "sum: 7 (PyTorch tape); and 1 more"
    assert against(HOLDS) == against(NOT_RUN) == ""
    board = msgspec.structs.replace(BOARD, rows=(OUTDATED,))
    shown = claim_shown(board, OUTDATED)
    assert "Not as stated: sum: 7 (PyTorch tape); and 1 more" in board_html(board)
    for text in (shown, board_pages(board)["1.md"].replace("\\", "")):
        assert text.index("Not as stated:") < text.index("as stated", text.index("1 more"))


def test_the_document_has_the_observations_beside_their_text() -> None:
    (row,) = board_document(msgspec.structs.replace(BOARD, rows=(OUTDATED,)))["rows"]
    assert row["observations"][1] == {
        "what": "sum",
        "value": "7",
        "who": ["torch-tape"],
        "expected": False,
    }
    assert row["observations"][3] == {"what": "an aside"}


@pytest.mark.parametrize("verdict", COUNT_FORMS)
def test_a_count_of_claims_is_a_sentence_in_singular_and_in_plural(
    verdict: ClaimVerdict | None,
) -> None:
    row = msgspec.structs.replace(HOLDS, verdict=verdict)
    one = counts(msgspec.structs.replace(BOARD, rows=(row,)))
    two = counts(msgspec.structs.replace(BOARD, rows=(row, row)))
    assert one.startswith("1 claim: 1 ")
    assert two.startswith("2 claims: 2 ")
    first, second = one.split()[3], two.split()[3]
    verbs = {"holds": "hold", "is": "are", "does": "do", "depends": "depend", "was": "were"}
    assert second == verbs.get(first, "cannot")


def test_nothing_but_a_claim_that_holds_has_the_colour_of_good() -> None:
    good: Tone = "good"
    assert [verdict for verdict, tone in TONES.items() if tone == good] == ["holds"]
