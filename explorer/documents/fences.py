"""The fenced code blocks of a Markdown text, as CommonMark reads them."""

import re

import msgspec

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$")


class Fence(msgspec.Struct, frozen=True):
    """A fenced block: the words behind the fence, the lines in it, and where in the text it stands.

    From ``start`` up to ``end``, fences included; ``line`` counts from 1.
    """

    info: str
    content: str
    start: int
    end: int
    line: int


def fences(text: str) -> list[Fence]:
    """The blocks of a text; one inside another is part of its content. One without an end is none."""
    found = []
    opening: re.Match[str] | None = None
    start = position = first_line = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        match = FENCE.match(line.rstrip("\r\n"))
        if match and opening is None:
            opening, start, first_line = match, position, number
        elif match and opening and _closes(match, opening):
            content = text[start + text[start:].index("\n") + 1 : position]
            end = position + len(line.rstrip("\r\n"))
            found.append(Fence(opening["info"].strip(), content, start, end, first_line))
            opening = None
        position += len(line)
    return found


def _closes(match: re.Match[str], opening: re.Match[str]) -> bool:
    """Whether a fence is of the same kind as the one that opened, no shorter, and has no words."""
    return match["fence"].startswith(opening["fence"]) and not match["info"].strip()
