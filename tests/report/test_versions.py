"""The board over versions: claims that changed are shown, version by version; the others are counted."""

from explorer.blocks.markdown import page
from explorer.model.claim import Tried, VersionsBoard, VersionsRow
from explorer.report.claims.versions import versions_blocks, versions_document

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
    ),
)


def test_claims_that_changed_are_shown_on_every_version_of_their_framework() -> None:
    shown = page(versions_blocks(BOARD))
    assert "MindSpore 2.8.0, 2.10.0: claims with another verdict on some version: 1 of 3" in shown
    assert "| 2 | It changes. | holds | outdated |" in shown
    assert "It stays." not in shown
    assert "PyTorch 2.6.0: claims with another verdict on some version: 0 of 3" in shown
    assert "Measured on 2026" in shown


def test_a_claim_that_could_not_be_run_has_not_changed() -> None:
    assert "It is not run." not in page(versions_blocks(BOARD))


def test_a_document_has_every_verdict() -> None:
    rows = versions_document(BOARD)["rows"]
    assert list(rows[1]["verdicts"]) == ["holds", "outdated", "outdated"]
    assert rows[2]["verdicts"][0] is None
