"""The board of claims as one strict JSON document."""

import msgspec

from explorer.model.claim import Board, ClaimRow
from explorer.report.json import Document, measured_document
from explorer.text.language import ENGLISH, said_in
from explorer.text.numbers import plain
from explorer.words.claims import advice_text, evidence_text
from explorer.words.messages import as_text


@said_in(ENGLISH)
def board_document(board: Board) -> Document:
    """The board as plain data, with every figure and the code that found it."""
    # Measurements apart: their graphs hold raw bytes, and take a form of their own.
    document: Document = msgspec.to_builtins(msgspec.structs.replace(board, measured={}, rows=()))
    document["rows"] = list(map(_row_document, board.rows))
    document["measured"] = {name: measured_document(part) for name, part in board.measured.items()}
    return dict(plain(document))


def _row_document(row: ClaimRow) -> Document:
    document: Document = msgspec.to_builtins(as_text(row))
    document.pop("not_run", None)
    return {**document, "evidence": evidence_text(row), "advice": advice_text(row)}
