"""The board over versions: claims that changed are shown, version by version; the others are counted."""

import msgspec

from explorer.blocks.markdown import page
from explorer.model.claim import Tried, VersionsBoard, VersionsRow
from explorer.report.claims.versions import versions_blocks, versions_document
from explorer.text.language import said_in
from explorer.topics import claims

TRIED = (
    Tried("mindspore", "2.8.0", "ms28"),
    Tried("mindspore", "2.10.0", ""),
    Tried("torch", "2.6.0", "torch26"),
)

BOARD = VersionsBoard(
    date="2026-11-27",
    beside={"mindspore": "2.10.0"},
    tried=TRIED,
    rows=(
        VersionsRow(1, "It stays.", ("holds", "holds", "holds")),
        VersionsRow(2, "It changes.", ("holds", "outdated", "outdated")),
        VersionsRow(3, "It is not run.", (None, "holds", "holds")),
        VersionsRow(4, "It lacks a package.", ("not_runnable_here", "holds", "holds")),
    ),
)


def test_claims_that_changed_are_shown_on_every_version_of_their_framework() -> None:
    shown = page(versions_blocks(BOARD))
    assert "MindSpore 2.8.0, 2.10.0: verdicts change between versions \\(claims: 1 of 4\\)" in shown
    assert "| 2 | It changes. | holds | outdated |" in shown
    assert "It stays." not in shown
    assert "PyTorch: 2.6.0 is the only version here" in shown
    assert "default version of the other: MindSpore 2.10.0." in shown


def test_a_claim_that_could_not_be_run_has_not_changed() -> None:
    shown = page(versions_blocks(BOARD))
    assert "It is not run." not in shown
    assert "It lacks a package." not in shown
    assert "Could not be run on every version: 3, 4." in shown


def test_where_no_verdict_changes_the_board_says_so() -> None:
    board = msgspec.structs.replace(BOARD, rows=BOARD.rows[:1])
    shown = page(versions_blocks(board))
    assert (
        "MindSpore 2.8.0, 2.10.0: the verdicts are the same on all versions \\(claims: 1\\)"
        in shown
    )
    assert "Could not be run" not in shown


def test_a_document_has_every_verdict() -> None:
    rows = versions_document(BOARD)["rows"]
    assert list(rows[1]["verdicts"]) == ["holds", "outdated", "outdated"]
    assert rows[2]["verdicts"][0] is None


def test_statements_are_in_the_reader_s_language() -> None:
    statement = next(iter(claims().values())).statement
    row = VersionsRow(1, statement, ("holds", "outdated", "outdated"))
    with said_in("zh"):
        shown = page(versions_blocks(msgspec.structs.replace(BOARD, rows=(row,))))
    assert statement not in shown
    assert "判定随版本变化" in shown
