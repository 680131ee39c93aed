"""The lines of an IR text, and the errors that say where in it something is wrong."""

import re

from explorer.model.errors import ExplorerError

PAIR = re.compile(r"([A-Za-z_][^:]*): (.*)")
"""A line ``name: text``."""


class IRSyntaxError(ExplorerError):
    """An IR text that cannot be read.

    It says where (``line`` and ``column`` from 1), what was ``found`` there, and what is
    ``allowed`` there.
    """

    def __init__(self, file: str, line: int, column: int, found: str, allowed: str) -> None:
        super().__init__(
            f"{file}:{line}:{column}: expected {allowed}, found {found}"
            " (this reader is for the IR of MindSpore 2.10)"
        )
        self.file = file
        self.line = line
        self.column = column
        self.found = found
        self.allowed = allowed


class Fault(Exception):  # noqa: N818 - never leaves this package, whose lines make an IRSyntaxError of it
    """Something that cannot be read at an offset of the text in hand."""

    def __init__(self, offset: int, allowed: str, found: str = "") -> None:
        super().__init__(allowed)
        self.offset = offset
        self.allowed = allowed
        self.found = found

    def moved(self, by: int) -> "Fault":
        """The same fault in a text that holds this one ``by`` characters further on."""
        return Fault(self.offset + by, self.allowed, self.found)


_BRACKETS = re.compile(r"[(\[{]|[)\]}]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


def is_balanced(text: str) -> bool:
    """Whether every bracket of a text is closed in it: text that is unknown, and not damaged."""
    closers: list[str] = []
    for bracket in _BRACKETS.findall(text):
        if bracket in _CLOSERS:
            closers.append(_CLOSERS[bracket])
        elif not closers or closers.pop() != bracket:
            return False
    return not closers


class Lines:
    """The lines of one file and the position of the reader in them."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.lines = text.split("\n")  # splitlines knows separators that quoted source may hold
        self.at = 0

    def peek(self) -> str | None:
        """The line at the position, None at the end of the file."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    def skip_blank(self) -> None:
        """Moves to the next line that has text."""
        while self.at < len(self.lines) and not self.lines[self.at]:
            self.at += 1

    def expect(self, pattern: re.Pattern[str], allowed: str) -> re.Match[str]:
        """Reads past the next line that has text, which the whole ``pattern`` must fit."""
        self.skip_blank()
        match = pattern.fullmatch(self.peek() or "")
        if match is None:
            raise self.error(allowed)
        self.at += 1
        return match

    def skip_unknown(self, known: re.Pattern[str]) -> tuple[str, ...]:
        """Reads past comments and blocks before the next line that ``known`` fits; these lines.

        Nothing is read past where no such line follows.
        """
        self.skip_blank()
        start, in_block = self.at, False
        for at in range(start, len(self.lines)):
            line = self.lines[at]
            if not in_block and known.fullmatch(line):
                self.at = at
                return tuple(line for line in self.lines[start:at] if line)
            if line.endswith(" {"):
                in_block = True
            elif line == "}":
                in_block = False
            elif line and not in_block and not line.startswith("#"):
                break
        return ()

    def error(self, allowed: str, column: int = 1) -> IRSyntaxError:
        """The error that this line is another one than expected."""
        last = len(self.lines) - 1
        if self.at > last or (self.at == last and not self.lines[last]):
            end = len(self.lines[last]) + 1
            return IRSyntaxError(self.file, last + 1, end, "the end of the file", allowed)
        quoted = _quoted(self.lines[self.at], column - 1)
        return IRSyntaxError(self.file, self.at + 1, column, quoted, allowed)

    def error_in(self, start: int, text: str, fault: Fault) -> IRSyntaxError:
        """The error that a fault is, in a text whose first line is line ``start`` (from 0)."""
        before = text[: fault.offset]
        line = start + before.count("\n")
        column = fault.offset - (before.rfind("\n") + 1) + 1
        found = fault.found or _quoted(text, fault.offset)
        return IRSyntaxError(self.file, line + 1, column, found, fault.allowed)


def _quoted(text: str, offset: int) -> str:
    """The text at an offset as a message quotes it."""
    rest = text[offset : offset + 40].split("\n")[0]
    return repr(rest) if rest else "the end of the line"
