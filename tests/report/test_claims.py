"""The board of claims in its formats."""

import json

from explorer.model.claim import Board, ClaimRow
from explorer.model.measurement import Measured
from explorer.report.claims.html import board_html
from explorer.report.claims.json import board_document
from explorer.report.claims.markdown import board_markdown
from explorer.report.claims.terminal import show_board, show_claim
from tests.support.consoles import printed

EVIDENCE = "<script>alert(1)</script> | `x`"

HOLDS = ClaimRow(
    id=1,
    heading="gradients",
    statement="A gradient is a gradient.",
    guides=("004",),
    would="So it is.",
    verdict="holds",
    evidence=EVIDENCE,
    advice="Go on.",
    measured=("one",),
)
NOT_RUN = ClaimRow(
    id=44,
    heading="operators",
    statement="transpose permutes.",
    guides=("000",),
    would="It does.",
    verdict=None,
    evidence="could not be run: MissingFramework",
    advice="",
    measured=("one",),
)
BOARD = Board(
    date="2026-01-01",
    versions={"mindspore": "2.10.0", "torch": "2.13.0"},
    rows=(NOT_RUN, HOLDS),
    measured={
        "one": Measured(outcome="ok", figures={"a": 1}, code="def one(ask):\n    return 1\n")
    },
)


def test_the_terminal_has_a_line_of_evidence_for_each_row() -> None:
    shown = printed(lambda console: show_board(BOARD, console))
    assert "2 claims: 1 holds, 1 not run" in shown
    assert EVIDENCE in shown


def test_rows_stand_in_the_order_of_their_headings() -> None:
    shown = printed(lambda console: show_board(BOARD, console))
    assert shown.index("gradients") < shown.index(" 1 ") < shown.index("operators")


def test_one_claim_in_full_shows_the_code_that_was_run() -> None:
    shown = printed(lambda console: show_claim(BOARD, HOLDS, console))
    assert "def one(ask):" in shown
    assert "So it is." in shown
    assert "true on the installed versions" in shown


def test_pages_escape_what_frameworks_say() -> None:
    assert "<script>" not in board_html(BOARD)
    assert "\\<script\\>" in board_markdown(BOARD)
    assert "\\|" in board_markdown(BOARD)


def test_the_page_says_versions_and_date() -> None:
    page = board_markdown(BOARD)
    assert "2026-01-01" in page
    assert "mindspore 2.10.0" in page


def test_the_document_is_strict_json_and_calls_headings_topics() -> None:
    document = json.loads(json.dumps(board_document(BOARD), allow_nan=False))
    assert [row["verdict"] for row in document["rows"]] == [None, "holds"]
    assert [row["topic"] for row in document["rows"]] == ["operators", "gradients"]
