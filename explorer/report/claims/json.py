"""The board of claims as one strict JSON document."""

import msgspec

from explorer.model.claim import Board
from explorer.report.json import Document
from explorer.text.numbers import plain


def board_document(board: Board) -> Document:
    """The board as plain data, with every figure and the code that found it."""
    document: Document = plain(msgspec.to_builtins(board))
    return document
