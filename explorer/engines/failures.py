"""Failures as records: a framework's exception, cut down to what it says of the user's net."""

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from explorer.model.results import Failure

LONGEST = 600
"""The greatest number of characters of a message that are kept."""

FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:'\"]+/)+")
"""The folders of an absolute path: they say where something is installed, which is of no use."""

UNREACHED_DRAW = (
    "SAME_DROPOUT gives masks to the layers nn.Dropout, nn.Dropout1d, nn.Dropout2d and nn.Dropout3d,"
    " and {framework}'s net draws random numbers by {operator} as well; use such a layer there, or"
    " let the numbers be an input and name it in CONSTANTS. Without SAME_DROPOUT = True,"
    " what depends on random numbers is not compared by value"
)
"""The refusal of a net with SAME_DROPOUT that draws all the same."""

LineSource = Literal["message", "traceback"]
"""The two places that can name a line of the user's."""


def failure(
    error: BaseException, scenario: str, proper: Callable[[str], str], prefer: LineSource
) -> Failure:
    """The record of an exception: its type, its message, and the scenario's line that it names.

    The message is what ``proper`` makes of the whole text: it keeps its line breaks, loses the
    folders of paths, and has at most LONGEST characters. Where the message and the traceback both name lines
    of the file ``scenario``, those of ``prefer`` count, and of them the innermost.
    """
    # The place is looked for in the whole text: a stack names it where the message proper does not.
    text = str(error)
    path = Path(scenario).resolve()
    message = FOLDERS.sub("", proper(text)).strip()

    in_message = re.findall(re.escape(str(path)) + r"(?::|\", line )(\d+)", text)
    in_traceback = _traceback_lines(error, path)
    # Both have the innermost line last.
    lines = in_message or in_traceback
    if prefer == "traceback":
        lines = in_traceback or in_message
    source = f"{path.name}:{lines[-1]}" if lines else ""
    return Failure(type(error).__name__, message[:LONGEST], source)


def _traceback_lines(error: BaseException, path: Path) -> list[str]:
    """The lines of a file that an exception passed through, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)
    return [str(frame.lineno) for frame in frames if frame.filename == str(path)]
