"""Measures and fits label text, so that no label leaves its box in any usual sans-serif font."""

import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import Final

ASCII: Final = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635,
    634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
)  # fmt: skip
"""Advance widths of DejaVu Sans for the printable ASCII characters, in thousandths of an em: the
widest font of FAMILIES.
"""

OTHERS: Final = {
    "‖": 500,
    "μ": 636,
    "·": 318,
    "…": 1000,
    "∂": 617,
    "×": 838,
    "▸": 502,
    "◂": 502,
    "→": 1000,
    "–": 656,
    "∞": 1029,
}
"""The wider advance of DejaVu Sans and Roboto for the signs that labels of ours use."""

WIDEST: Final = 1450
"""Taken for every other character; the widest letter of DejaVu Sans is 1422."""

FAMILIES: Final = "Roboto, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"


def advance(character: str) -> int:
    """The advance width of one character, in thousandths of an em; never too small."""
    code = ord(character)
    if 32 <= code < 127:
        return ASCII[code - 32]
    if unicodedata.combining(character):
        return 0
    return OTHERS.get(character, WIDEST)


def measure(text: str, size: float) -> float:
    """The greatest width of a text at a font size, in the size's unit."""
    return sum(map(advance, text)) * size / 1000


def fit(text: str, size: float, width: float) -> str:
    """The text, or its beginning and an ellipsis, so that it measures at most ``width``."""
    if measure(text, size) <= width:
        return text
    room = width * 1000 / size - OTHERS["…"]
    used = list(accumulate(map(advance, text)))
    return text[: bisect_right(used, room)].rstrip() + "…"


def clean(text: str) -> str:
    """The text with every character that XML forbids, or that would break a line, replaced by a
    visible sign.
    """
    return "".join(character if _allowed(character) else "�" for character in text)


def _allowed(character: str) -> bool:
    code = ord(character)
    if code < 32 or 0x7F <= code <= 0x9F or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return False
    return (
        not (0xD800 <= code <= 0xDFFF)
        and (code & 0xFFFE) != 0xFFFE
        and code not in (0x2028, 0x2029)
    )
