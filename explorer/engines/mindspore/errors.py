"""Failures as records: MindSpore's exceptions, cut down to what they say of the user's net."""

import re
import traceback
from pathlib import Path

from explorer.model.results import Failure

LONGEST = 600
NOISE = re.compile(
    r"\n-{10,}\n- (C\+\+ Call Stack|The Traceback|Framework|The Function Call Stack)|\n-{20,}\n",
    re.S,
)
FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:'\"]+/)+")


def failure(error: BaseException, scenario: str) -> Failure:
    """The record of an exception: its type, its message without stacks and machine paths, and the
    scenario's line it names.
    """
    text = str(error)
    message = FOLDERS.sub("", NOISE.split(text, maxsplit=1)[0]).strip()
    return Failure(
        type(error).__name__, message[:LONGEST], _line(error, text, Path(scenario).resolve())
    )


def _line(error: BaseException, text: str, path: Path) -> str:
    """ "file:line" of the innermost place in the scenario that the message or the traceback names."""
    named = re.findall(re.escape(str(path)) + r"(?::|\", line )(\d+)", text)
    frames = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    lines = named or frames
    return f"{path.name}:{lines[-1]}" if lines else ""
