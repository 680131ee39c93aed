"""Markdown that any viewer sets: tables, and foreign text whose special characters are escaped."""

import re
import textwrap
from collections.abc import Iterable, Sequence

# All of them, wherever they stand: what is harmless in one place starts a list in another.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&-])")
"""Characters that mean something to a dialect of Markdown, or to the HTML that it may hold."""

# Nothing that could end the span, a table's cell or a line, and nothing of HTML.
CODE = re.compile(r"(`[\w .,:;()\[\]=+*/'\"-]+`)")
"""Code between backticks that every dialect shows as it stands."""


def escape(text: str) -> str:
    """Text that Markdown shows as it is, also in a table's cell; plain code in backticks is code."""
    pieces = CODE.split(text.replace("\n", " "))
    # What the pattern matched stands at the odd places.
    pieces[::2] = [SPECIAL.sub(r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of escaped cells under column names, which are written as they are."""
    lines = [_line(columns), _line(["---"] * len(columns))]
    for row in rows:
        cells = map(escape, row)
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def code_block(code: str) -> str:
    """Python code as it stands, indented so that nothing in it can end the block."""
    return textwrap.indent(code.rstrip(), "    ")


def fenced(code: str, language: str = "python") -> str:
    """Code between fences that are longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def page(parts: Iterable[str]) -> str:
    """A page of paragraphs, headings and tables; empty parts are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
