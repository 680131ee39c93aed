"""Attempts whose message, if they raise, ends with its first statement: no advice, and no names that are new at every run."""

import re
from collections.abc import Callable
from typing import Any

from explorer.studies.attempts import attempt

ENDS = re.compile(r"\.? ?node:|, Please|[.!]? - [CFT]|\. Dynamo does not| Explanation: | Arguments received")
DECORATION = re.compile(r"\x1b\[\d*m|^- ")
"""Colours of a terminal, and what is left of a heading."""


def tried(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What ``function`` returns, or {"raised": type, "message": its first statement} of what it raised."""
    found = attempt(function, *arguments, **options)
    if isinstance(found, dict) and "raised" in found:
        return {**found, "message": ENDS.split(DECORATION.sub("", found["message"]))[0]}
    return found


def written(source: str) -> str:
    """The body of a function on one line: what it returns, or its statements."""
    lines = [line.strip() for line in source.splitlines()[1:] if line.strip()]
    return lines[0].removeprefix("return ") if len(lines) == 1 else "; ".join(lines).replace(":;", ":")
