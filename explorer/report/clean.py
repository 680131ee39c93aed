"""Foreign text made harmless for any face: what a scenario or a framework says is data, and shows as what it is."""

import re
import unicodedata

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that move the cursor, turn the direction of reading, or cannot be encoded."""

STACK = re.compile(r"\n-{20,}\n- (?:C\+\+ Call Stack|The Traceback of Net Construct Code)")
"""Where MindSpore 2.10 ends its message and appends its own sources."""


def clean(text: str, keep: str = "") -> str:
    """``text`` with every control and direction character spelled out (ESC as ``\\x1b``), save those in ``keep``."""
    return "".join(char if char in keep or unicodedata.category(char) not in UNSEEN else _spelled(char) for char in text)


def one_line(text: str, limit: int = 400) -> str:
    """The message proper on one line of at most ``limit`` characters, cleaned; white space runs become one space."""
    line = clean(" ".join(STACK.split(text, maxsplit=1)[0].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
