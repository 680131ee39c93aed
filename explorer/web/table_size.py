"""The size of a table on a page, so that it ends below a whole row."""

ROW_HEIGHT, HEAD_HEIGHT = 35, 38
"""Pixels of a row of a table, and of its head."""


def table_height(rows: int, most: int) -> int:
    """The pixels in which a table shows all its rows, or ``most`` of them where there are more."""
    return HEAD_HEIGHT + ROW_HEIGHT * min(rows, most)
