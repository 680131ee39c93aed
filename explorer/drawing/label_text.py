"""Measures and fits label text, so that no label leaves its box in any usual sans-serif font."""

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Final

EM: Final = 1000
"""The units of an advance width in one em, which is the font size."""

ASCII: Final = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698,
    770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732,
    684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635,
    634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,
    525, 636, 337, 636, 838,
)  # fmt: skip
"""Advance widths of the printable ASCII characters, from the space on.

They are those of DejaVu Sans, the widest font of the drawings.
"""

SIGNS: Final = {
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
"""Advance widths of the other signs in labels: the wider of DejaVu Sans and Roboto."""

CHINESE: Final = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff60]")
"""Chinese signs with their punctuation: every font gives them one em."""

WIDEST: Final = 1450
"""The advance width of every other character; the widest letter of DejaVu Sans has 1422."""

LEAST_FILLED: Final = 0.7
"""A name is cut behind a dot where what is left fills at least this share of its room."""

HEAD_SHARE: Final = 0.35
"""How much of its width a name that is cut in its middle keeps for its beginning."""

_PLANE_ENDS = "".join(
    chr(plane * 0x10000 + 0xFFFE) + chr(plane * 0x10000 + 0xFFFF) for plane in range(17)
)

# Control characters; the breaks of lines and paragraphs and the marks that turn the direction of
# reading; lone surrogates; and the two characters at each plane's end, which XML forbids.
_FORBIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff{_PLANE_ENDS}]")


@lru_cache(maxsize=4096)
def advance(character: str) -> int:
    """The advance width of one character, in thousandths of an em; never too small."""
    code = ord(character)
    if 32 <= code < 127:
        return ASCII[code - 32]
    if unicodedata.combining(character):
        return 0  # it stands above or below the character before it
    if CHINESE.match(character):
        return EM
    return SIGNS.get(character, WIDEST)


def measure(text: str, size: float) -> float:
    """An upper bound of the width of a text at a font size, in the unit of the size."""
    return sum(map(advance, text)) * size / EM


def fit(text: str, size: float, width: float) -> str:
    """The text, or its beginning and an ellipsis, so that it measures at most ``width``.

    ``width`` is in the unit of ``size``. Where not even the ellipsis fits, it alone is left.
    """
    if measure(text, size) <= width:
        return text
    room = width * EM / size - SIGNS["…"]
    used = list(accumulate(map(advance, text)))
    return text[: bisect_right(used, room)].rstrip() + "…"


def fit_name(name: str, size: float, width: float, head: str = "") -> str:
    """A dotted name, or an ellipsis and its end, so that it measures at most ``width``.

    Names of modules and parameters begin alike and end apart. It is cut behind a dot where that
    leaves most of the room filled. ``head`` is what it begins with and keeps: the d of a gradient.
    """
    if measure(name, size) <= width:
        return name
    room = width - measure(head + "…", size)
    rest = name.removeprefix(head)
    used = list(accumulate(map(advance, reversed(rest))))
    end = rest[len(rest) - bisect_right(used, room * EM / size) :]
    _, dot, behind_dot = end.partition(".")
    if dot and measure(behind_dot, size) >= LEAST_FILLED * room:
        end = behind_dot
    return fit(f"{head}…{end}", size, width)


def fit_between(name: str, size: float, width: float) -> str:
    """A name, or its beginning and its end with an ellipsis between, at most ``width`` wide."""
    if measure(name, size) <= width:
        return name
    beginning = fit(name, size, HEAD_SHARE * width)
    return fit_name(name, size, width, head=beginning.removesuffix("…"))


def printable(text: str) -> str:
    """The text with U+FFFD for every character that XML forbids or that acts on the text around it.

    Those are the control characters, and the ones that break a line or turn the direction of
    reading.
    """
    return _FORBIDDEN.sub("�", text)
