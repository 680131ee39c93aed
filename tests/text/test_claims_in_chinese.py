"""What the shipped claims say in Chinese: all of it, with the same code and the same numbers."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache

import msgspec
import pytest

from explorer.api import notebook
from explorer.api.results import Claims
from explorer.blocks.markdown import escape
from explorer.documents import contents
from explorer.documents.directives import Directive
from explorer.model.claim import Board, Observation
from explorer.report.claims.pages import (
    INDEX,
    board_blocks,
    board_html,
    board_markdown,
    board_pages,
    claim_blocks,
)
from explorer.report.claims.wording import board_as_read, row_as_read
from explorer.report.recorded.results import recorded_board
from explorer.report.schemas import board_document
from explorer.shipped import PACKAGE
from explorer.text.language import ENGLISH, said_in
from explorer.topics import claims
from explorer.words.claims import advice_text
from explorer.words.parties import party_names
from tests.support.catalogues import translations
from tests.support.consoles import on_terminal
from tests.support.pages import opened, said
from tests.support.sample_board import BOARD

DOMAIN = "topics"

CHINESE = re.compile(r"[一-鿿]")

WORDS = re.compile(r"(?<![\w.])[a-z]{2,} (?:[a-z]{2,}\b|\d)|(?<![\w.])[A-Z][a-z]+ [a-z]{2,}\b")
"""What prose has, and code has not: two words in a row."""


@cache
def recorded() -> Board:
    board = recorded_board(claims().values())
    assert board is not None
    return board


def stated() -> set[str]:
    """The statements, and what would be true."""
    return {text for claim in claims().values() for text in (claim.statement, claim.would)}


def measured() -> set[str]:
    """What was measured, but for messages: of those the catalogue has the templates."""
    found: set[str] = set()
    for row in recorded().rows:
        whats = [observation.what for observation in row.observations]
        found.update(what for what in whats if isinstance(what, str))
    return found


def advice() -> set[str]:
    rows = [row for row in recorded().rows if row.verdict]
    return {advice_text(row) for row in rows if isinstance(row.advice, str)}


def written() -> Iterator[str]:
    """The texts in the modules that judge claims: among them is the advice of all other verdicts."""
    for module in [
        *(PACKAGE / "topics").glob("*/*.py"),
        *(PACKAGE / "words" / "topics").glob("*.py"),
    ]:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_statement_and_all_advice_is_in_chinese() -> None:
    translated = translations(DOMAIN)
    needed = stated() | advice()
    assert sorted(needed - set(translated)) == []
    assert [text for text in needed if not CHINESE.search(translated[text])] == []


def test_what_was_measured_is_in_chinese_unless_it_is_code() -> None:
    translated = translations(DOMAIN)
    left = measured() - set(translated)
    assert [text for text in left if WORDS.search(text)] == []
    assert [text for text in measured() - left if not CHINESE.search(translated[text])] == []


@pytest.mark.slow
def test_no_text_is_left_over_that_no_claim_has() -> None:
    assert (
        sorted(set(translations(DOMAIN)) - stated() - advice() - measured() - set(written())) == []
    )


def shipped_board() -> Board:
    """A board of one shipped claim with an observation, not as stated."""
    row = next(row for row in recorded().rows if row.id == 7)
    seen = Observation("scaled loss", "1024", ("torch-tape",), expected=False)
    changed = {"verdict": "holds", "measured": ("one",), "observations": (seen,)}
    row = msgspec.structs.replace(row, printed=(), meant=(), sections={}, **changed)
    return msgspec.structs.replace(BOARD, rows=(row,))


SAID = "返回所有输出之和的梯度"
"""Words of claim 7."""


def test_faces_say_it_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    board = shipped_board()
    (row,) = board.rows
    monkeypatch.setattr(contents, "claims", lambda *_, **__: Claims(board))
    with said_in("zh"):
        pages = board_pages(board)
        faces = {
            "board": on_terminal(board_blocks(board)),
            "claim": on_terminal(claim_blocks(board, row)),
            "HTML": board_html(board),
            "Markdown": board_markdown(board),
            "index": pages[INDEX],
            "page": pages["7.md"],
            "document": " ".join(
                map(str, contents.contents(Directive("gradient-claim", "7", {"code": "no"})))
            ),
            "notebook": notebook.claims(board),
        }
    for name, face in faces.items():
        text = "".join(face.split())
        assert SAID in text, name
        assert "成立" in text, name
        assert "returns the gradient" not in face, name
    assert "若论断成立" in faces["claim"]
    assert "无需解包" in faces["HTML"]
    assert "与论断不符：缩放后的损失" in faces["HTML"]
    assert '<html lang="zh">' in faces["HTML"]
    assert "## 建议" in faces["page"]
    assert "缩放后的损失：1024（PyTorch 动态图）" in faces["Markdown"]
    assert escape("两种方式都返回 dx") in faces["page"]


def chinese_page() -> None:
    from explorer.text.language import said_in
    from explorer.web.claims_page import show_board
    from tests.text.test_claims_in_chinese import shipped_board

    with said_in("zh"):
        show_board(shipped_board())


@pytest.mark.slow
def test_the_app_says_it_in_chinese() -> None:
    page = opened(chinese_page, claim="7")
    assert not page.exception
    text = said(page)
    for part in (SAID, "1 条论断：成立 1", "缩放后的损失", "PyTorch 动态图", "无需解包"):
        assert part in text
    assert "returns the gradient" not in text
    (table,) = page.dataframe
    assert SAID in table.value["statement"][0]


def test_the_document_for_programs_and_what_is_recorded_are_english() -> None:
    board = shipped_board()
    english = board_document(board)
    with said_in("zh"):
        assert board_document(board) == english
    assert not CHINESE.search(json.dumps(english, ensure_ascii=False))
    # What is recorded is English whoever reads, and in English a row is as it was recorded.
    with said_in("zh"):
        assert recorded_board(claims().values()) == recorded()
        # What nobody has put into Chinese is as it was written.
        assert row_as_read(BOARD.rows[0]) == BOARD.rows[0]
    with said_in(ENGLISH):
        assert board_as_read(recorded()) == recorded()


def test_parties_have_chinese_names() -> None:
    with said_in("zh"):
        assert party_names(["torch-tape", "mindspore-tape", "mindspore-graph"]) == (
            "MindSpore 静态图与动态图、PyTorch 动态图"
        )
        assert party_names(["keras", "mindspore"]) == "MindSpore 和 Keras"
