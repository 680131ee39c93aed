"""Failures as records: a framework's exception, cut down to what it says of the user's net."""

import inspect
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from explorer.engines.source_lines import users_name
from explorer.model.errors import RecordedError, RefusedNetError
from explorer.model.failures import Failure, FailureKind
from explorer.scenario.own_nets import packages_of

LONGEST = 600
"""The greatest number of characters of a message that are kept."""

FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:'\"]+/)+")
"""The folders of an absolute path: they say where something is installed, which is of no use."""

LineSource = Literal["message", "traceback"]
"""The two places that can name a line of the user's."""


class Statement(NamedTuple):
    """What a framework's message says of the user's net: the message proper, and its meaning.

    The fields are those of a Failure.
    """

    message: str
    kind: FailureKind | None = None
    details: tuple[str, ...] = ()
    left_out: int = 0


def failure(
    error: BaseException,
    scenario: str,
    stated: Callable[[str], Statement],
    prefer: LineSource,
) -> Failure:
    """The record of an exception: its type, its message, and the user's line that it names.

    The message is what is ``stated`` by the whole text: it keeps its line breaks, loses the
    folders of paths, and has at most LONGEST characters. The user's lines are those of the file
    ``scenario``, and of the packages that its nets come from. Where the message and the traceback both
    name such lines, those of ``prefer`` count, and of them the innermost.
    """
    # The place is looked for in the whole text: a stack names it where the message proper does not.
    text = str(error)
    path = Path(scenario).resolve()
    in_message = list(_users(_named(text, path), path))
    in_traceback = list(_users(_frames(error), path))
    # Both have the innermost line last.
    lines = in_message or in_traceback
    if prefer == "traceback":
        lines = in_traceback or in_message
    source = lines[-1] if lines else ""
    if isinstance(error, RecordedError):
        return msgspec.structs.replace(error.failure, source=source)
    message, kind, details, left_out = stated(text)
    message = FOLDERS.sub("", message).strip()[:LONGEST]
    return Failure(type(error).__name__, message, source, kind, details, left_out)


def _named(text: str, scenario: Path) -> list[tuple[str, str]]:
    """The files and lines that a message names: "/net.py:3", 'File "/net.py", line 3'."""
    # Of any other file than the scenario's, it is not known where a folder with blanks ends.
    file = rf"({re.escape(str(scenario))}|/[^\s:'\"]+\.py)"
    return re.findall(file + r"(?::|\", line )(\d+)", text)


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """The files and lines that an exception passed through, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)
    return [(frame.filename, str(frame.lineno)) for frame in frames]


def _users(lines: list[tuple[str, str]], scenario: Path) -> Iterator[str]:
    """Those of the lines that are the user's, as they are shown."""
    packages = packages_of(scenario)
    for file, line in lines:
        if file == str(scenario):
            yield f"{scenario.name}:{line}"
        elif packages and Path(file).suffix == ".py":
            shown = users_name(file)
            if shown.partition("/")[0].removesuffix(".py") in packages:
                yield f"{shown}:{line}"


def refuse_keyword_only(forward: Callable[..., Any]) -> None:
    """Raise UsageError where a forward has an argument that no position reaches, and no default."""
    try:
        parameters = inspect.signature(forward).parameters.values()
    except (TypeError, ValueError):
        return  # a callable of compiled code may have none
    for parameter in parameters:
        is_required = parameter.default is parameter.empty
        if parameter.kind is parameter.KEYWORD_ONLY and is_required:
            raise RefusedNetError("keyword_only", forward.__qualname__, parameter.name)
