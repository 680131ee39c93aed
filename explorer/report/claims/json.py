"""The board of claims as one strict JSON document."""

import msgspec

from explorer.model.claim import Board
from explorer.report.json import Document, measured_document
from explorer.text.numbers import plain


def board_document(board: Board) -> Document:
    """The board as plain data, with every figure and the code that found it."""
    # Measurements apart: their graphs hold raw bytes, and take a form of their own.
    document: Document = msgspec.to_builtins(msgspec.structs.replace(board, measured={}))
    document["measured"] = {name: measured_document(part) for name, part in board.measured.items()}
    return dict(plain(document))
