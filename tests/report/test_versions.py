"""The board over versions: claims that changed are shown, version by version; the others are counted."""

from typing import Literal

import msgspec

from explorer.blocks.markdown import page
from explorer.model.claim import Tried, VersionsBoard, VersionsFact, VersionsRow
from explorer.report.claims.versions import claim_on_versions, versions_blocks, versions_document
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
    # One that could not be run has not changed.
    assert "It is not run." not in shown
    assert "It lacks a package." not in shown
    assert "Could not be run on every version: 3, 4." in shown
    unchanged = page(versions_blocks(msgspec.structs.replace(BOARD, rows=BOARD.rows[:1])))
    same = "MindSpore 2.8.0, 2.10.0: the verdicts are the same on all versions \\(claims: 1\\)"
    assert same in unchanged
    assert "Could not be run" not in unchanged


def test_a_claim_has_its_verdicts_with_the_versions_that_have_them() -> None:
    assert list(claim_on_versions(BOARD, 2)) == [
        "MindSpore: holds (2.8.0); outdated (2.10.0)",
        "PyTorch: outdated (2.6.0)",
    ]
    assert list(claim_on_versions(BOARD, 9)) == []
    rows = versions_document(BOARD)["rows"]
    assert list(rows[1]["verdicts"]) == ["holds", "outdated", "outdated"]
    assert rows[2]["verdicts"][0] is None


def _fact(
    kind: Literal["kink", "surprise"], at: str, of: str, values: tuple[str | None, ...]
) -> VersionsFact:
    return VersionsFact(kind=kind, at=at, of=of, values=values)


def test_facts_that_changed_between_versions_of_their_framework_are_shown() -> None:
    facts = (
        _fact("kink", "clamp at its bounds", "MindSpore tape", ("1", "0", None)),
        _fact("surprise", "selu", "MindSpore, tape", ("[1.]", "[1.]", None)),
        _fact("surprise", "new_one", "MindSpore, graph", (None, "[2.]", None)),
        _fact("surprise", "torch_one", "PyTorch", (None, None, "[3.]")),
    )
    shown = page(versions_blocks(msgspec.structs.replace(BOARD, facts=facts)))
    assert "1 of 3 change between versions of MindSpore" in shown
    assert "| clamp at its bounds | MindSpore tape | 1 | 0 |" in shown
    for name in ("selu", "new_one", "torch_one"):
        assert name not in shown
    assert "versions of PyTorch" not in shown
    # A surprise is named by its program, and lacks a value where there is none.
    tried = (*TRIED[:2], Tried("mindspore", "2.11.0", "ms211"))
    fact = _fact("surprise", "selu", "MindSpore, tape", ("[1.]", None, "[2.]"))
    board = msgspec.structs.replace(BOARD, tried=tried, rows=(), facts=(fact,))
    row = "| surprise selu | `MindSpore, tape` | `[1.]` | – | `[2.]` |"
    assert row in page(versions_blocks(board))


def test_statements_are_in_the_reader_s_language() -> None:
    statement = next(iter(claims().values())).statement
    row = VersionsRow(1, statement, ("holds", "outdated", "outdated"))
    with said_in("zh"):
        shown = page(versions_blocks(msgspec.structs.replace(BOARD, rows=(row,))))
    assert statement not in shown
    assert "判定随版本变化" in shown
