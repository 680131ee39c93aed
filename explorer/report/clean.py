"""Foreign text made harmless for any face: what a scenario or a framework says is data, and shows as what it is."""

import re
import unicodedata

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that move the cursor, turn the direction of reading, or cannot be encoded."""

STACK = re.compile(r"\n-{20,}\n- (?:C\+\+ Call Stack|The Traceback of Net Construct Code)")
"""Where MindSpore 2.10 ends its message and appends its own sources."""


ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""Where something lay in memory: of no use to a reader, and another one in every run."""


def clean(text: str, keep: str = "") -> str:
    """``text`` with every control and direction character spelled out (ESC as ``\\x1b``), save those in ``keep``."""
    return "".join(char if char in keep or unicodedata.category(char) not in UNSEEN else _spelled(char) for char in text)


def one_line(text: str, limit: int = 400) -> str:
    """The message proper, cleaned, on one line of at most ``limit`` characters, without addresses and runs of white space."""
    line = clean(ADDRESS.sub("0x…", " ".join(STACK.split(text, maxsplit=1)[0].split())))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
