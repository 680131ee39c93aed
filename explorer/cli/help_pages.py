"""Help in the reader's language: Typer's own page in English, the same page translated otherwise."""

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from typer.core import TyperCommand, TyperGroup

from explorer.cli.options import ENGINES_HERE, unlisted
from explorer.model.engines import ENGINES
from explorer.text.language import ENGLISH, _, code, later, named

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter

HELP = later("Show this message and exit.")
"""What Typer (0.29) says of its option --help."""

USAGE = (
    ("[OPTIONS]", later("[OPTIONS]")),
    ("COMMAND [ARGS]...", later("COMMAND [ARGS]...")),
)
"""The parts of a usage line that are words of Typer's, not names of ours."""

TYPE = re.compile(r" <.*>$")
"""The type that Typer adds to the name of an argument."""

FACTS = re.compile(r"  \[((?:default: |required).*)\]$")
"""What Typer adds to the help of an option: its default, and whether it is required."""

WIDEST_NAME = 30
"""The greatest width of a name with its explanation beside it, as in Typer."""

GAP = 2
"""Columns between a name and its explanation, and before each line of a section."""


class HelpfulCommand(TyperCommand):
    """A command whose help is in the reader's language."""

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the help page."""
        if code() == ENGLISH:
            super().format_help(ctx, formatter)
        else:
            formatter.write("\n".join(_page(self, ctx, formatter.width)) + "\n")


class HelpfulGroup(TyperGroup):
    """All commands, with a help page in the reader's language."""

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the help page."""
        if code() == ENGLISH:
            super().format_help(ctx, formatter)
        else:
            formatter.write("\n".join(_page(self, ctx, formatter.width)) + "\n")


def _page(command: "Command", context: "Context", width: int) -> Iterator[str]:
    """The lines of a help page, at most ``width`` columns wide."""
    yield from _usage(command, context, width)
    for paragraph in (command.help or "").split("\n\n"):
        yield ""
        yield from _indented(wrapped(_(paragraph), width - GAP), GAP)
    arguments: list[tuple[str, str]] = []
    options: list[tuple[str, str]] = []
    for parameter in command.get_params(context):
        rows = arguments if parameter.param_type_name == "argument" else options
        rows.append(_row(parameter, context))
    yield from _section(_("Arguments"), arguments, width)
    yield from _section(_("Options"), options, width)
    if isinstance(command, TyperGroup):
        yield from _section(_("Commands"), _summaries(command, context), width)
    if command.epilog:
        yield ""
        yield from _indented(wrapped(_(command.epilog), width - GAP), GAP)


def _usage(command: "Command", context: "Context", width: int) -> Iterator[str]:
    pieces = " ".join(command.collect_usage_pieces(context))
    for english, key in USAGE:
        pieces = pieces.replace(english, _(key))
    begin = _("Usage: {command}").format(command=context.command_path) + " "
    first, *others = wrapped(pieces, width - columns(begin)) or [""]
    yield begin + first
    yield from _indented(others, columns(begin))


def _row(parameter: "Parameter", context: "Context") -> tuple[str, str]:
    """The name of an argument or an option, and its explanation."""
    name, text = parameter.get_help_record(context) or ("", "")
    facts = FACTS.search(text)
    explanation = _(unlisted(text[: facts.start()] if facts else text))
    explanation = explanation.replace(ENGINES_HERE, named([*ENGINES]))
    for fact in facts[1].split("; ") if facts else ():
        value = fact.removeprefix("default: ")
        if value == fact:
            explanation += _(" [required]")
        else:
            explanation += _(" [default: {value}]").format(value=value)
    return TYPE.sub("", name), explanation


def _summaries(group: TyperGroup, context: "Context") -> list[tuple[str, str]]:
    """Each command with the first paragraph of its help."""
    rows: list[tuple[str, str]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        summary = (command.help or "") if command else ""
        rows.append((name, _(summary.partition("\n\n")[0])))
    return rows


def _section(heading: str, rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    """A heading, and below it two columns."""
    if not rows:
        return
    yield ""
    yield _("{heading}:").format(heading=heading)
    widest = max(columns(name) for name, explanation in rows)
    start = GAP + min(widest, WIDEST_NAME) + GAP
    for name, explanation in rows:
        lines = _indented(wrapped(explanation, width - start), start)
        line = " " * GAP + name
        if columns(line) + GAP <= start:
            line += " " * (start - columns(line)) + next(lines, "").lstrip()
        yield line
        yield from lines


def _indented(lines: list[str], indent: int) -> Iterator[str]:
    for line in lines:
        yield " " * indent + line


# Text in columns: a Chinese character takes two

WIDE = ("W", "F")
"""The East Asian widths of characters that take two columns."""

NOT_FIRST = frozenset("，。、；：？！）】》”’…])")
"""Punctuation that begins no line."""

NOT_LAST = frozenset("（【《“‘[(")
"""Punctuation that ends no line."""

PIECE = re.compile(r"[⺀-\uffff…“”‘’]|[^\s⺀-\uffff…“”‘’]+|\s+")
"""What a line is not broken in: a Chinese character, a word of letters, a space."""


def columns(text: str) -> int:
    """The columns that a text takes on a terminal."""
    return len(text) + sum(unicodedata.east_asian_width(letter) in WIDE for letter in text)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text in Chinese, each at most ``width`` columns wide."""
    pieces: list[str] = []
    for piece in PIECE.findall(text):
        previous = pieces[-1][-1] if pieces else " "
        if pieces and not previous.isspace() and (piece in NOT_FIRST or previous in NOT_LAST):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    lines = [""]
    for piece in pieces:
        if columns(lines[-1] + piece.rstrip()) > width and lines[-1]:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        if lines[-1] or not piece.isspace():
            lines[-1] += piece
    return [line for line in lines if line]
