"""A text of Python in which expressions are found by their lines, and written otherwise.

A change puts one text in the place of another: comments, quotes, indents and line ends stay as they are.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from explorer.model.errors import UsageError
from explorer.text.language import _

MARK = "\ufeff"
"""What some editors put at the head of a text in UTF-8."""


class Change(NamedTuple):
    """``text`` in the place of what stands between two offsets, in characters."""

    start: int
    end: int
    text: str


Changes = tuple[Change, ...]
"""Changes that are made together; none of them overlap."""


class Source:
    """The text of a file, and its syntax tree; raises SyntaxError where that is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Python does not count the mark that a text in UTF-8 may begin with.
        begin = len(text) - len(text.removeprefix(MARK))
        self.tree = ast.parse(text[begin:])
        # As Python counts lines: other separators of Unicode's end none.
        ends = [match.end() for match in re.finditer(r"\r\n|\r|\n", text)]
        self._starts = [begin, *ends, len(text)]

    @classmethod
    def of(cls, path: Path) -> "Source":
        """What a file says; UsageError where that is no text of Python in UTF-8."""
        try:
            return cls(path.read_bytes().decode("utf-8"))
        except (UnicodeDecodeError, SyntaxError) as error:
            text = _("{file} cannot be mended: it is no text of Python in UTF-8; save it as that")
            raise UsageError(text.format(file=path)) from error

    def line(self, number: int) -> str:
        """A line by its number, from 1."""
        return self.text[self._starts[number - 1] : self._starts[number]]

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """The offsets between which a node stands."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        ends = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        start, end = (self._offset(line, column) for line, column in ends)
        return start, end

    def _offset(self, line: int, column: int) -> int:
        """The offset of a column, which Python counts in bytes."""
        before = self.line(line).encode()[:column].decode()
        return self._starts[line - 1] + len(before)

    def says(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def changed(self, changes: Iterable[Change]) -> str:
        """The text with some changes."""
        text = self.text
        for start, end, new in sorted(changes, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def put(self, node: ast.expr | ast.stmt, text: str) -> Change:
        """A text in the place of a node."""
        return Change(*self.span(node), text)

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The names by which the text has what it imports, but for NumPy."""
        nodes = (it for it in ast.walk(self.tree) if isinstance(it, ast.Import | ast.ImportFrom))
        names = [alias.asname or alias.name for node in nodes for alias in node.names]
        return tuple(dict.fromkeys(it for it in names if it not in ("np", "numpy")))

    # What stands where

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement that goes over a line."""
        over = [it for it in self._statements if it.lineno <= line <= (it.end_lineno or it.lineno)]
        return min(over, key=lambda it: (it.end_lineno or 0) - it.lineno, default=None)

    def function_at(self, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function that goes over a line."""
        functions = (
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        over = [it for it in functions if it.lineno <= line <= (it.end_lineno or 0)]
        return over[-1] if over else None  # outer ones are walked first

    def functions(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """The functions that stand in no other, by name, with the offsets between which each stands."""
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name, self.span(node)

    def expressions(self, statement: ast.stmt) -> Iterator[ast.expr]:
        """The expressions of a statement, outer ones first, without those of statements inside of it."""
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, ast.expr):
                yield node
            inner = ast.iter_child_nodes(node)
            waiting += [it for it in inner if not isinstance(it, ast.stmt)]

    def calls(self) -> Iterator[ast.Call]:
        """All calls, in the order of the text."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        yield from sorted(found, key=lambda it: (it.lineno, it.col_offset))


def last_name(node: ast.expr) -> str:
    """The last name of a dotted one: "relu" of ``torch.relu`` and of ``x.relu``; "" of anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_read(node: ast.expr) -> bool:
    """Whether a name or an attribute is read where it stands."""
    return isinstance(getattr(node, "ctx", None), ast.Load)
