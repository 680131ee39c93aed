"""Blocks between marker comments of a Markdown file: their parts, and the pictures beside the file."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from explorer.documents.blocks import Block, block
from explorer.documents.contents import Code, Figure, Paragraph, Part, Table, themed
from explorer.documents.fences import fences
from explorer.model.errors import ExplorerError, UsageError
from explorer.report.markdown import escape, table

START = re.compile(r"^[ \t]*<!--\s*explorer:\s*(?P<words>.*?)\s*-->", re.MULTILINE)
END = "<!-- /explorer -->"

THEMES = ("light", "dark")

Ask = Callable[[Block], tuple[Part, ...]]
"""Asks for the parts of a block."""


class Embedded(msgspec.Struct, frozen=True):
    """A document as it should be: its text, and the files beside it by their paths."""

    text: str
    files: dict[Path, bytes]


def embedded(path: Path, ask: Ask) -> Embedded:
    """The document at ``path`` with every block filled in by ``ask``.

    Raises UsageError for blocks that are not valid, have no end or cannot be run, with a line of file,
    line number and reason for each.
    """
    text = _read(path)
    written: list[str] = []
    refused: list[str] = []
    files: dict[Path, bytes] = {}
    position = 0
    for mark in _marks(text):
        if mark.start() < position:
            refused.append(
                _located(
                    path, text, mark, "this block begins inside another block; end that one first"
                )
            )
            continue
        end = text.find(END, mark.end())
        if end < 0:
            refused.append(_located(path, text, mark, f"the block has no end; add {END} after it"))
            break
        try:
            asked = parsed(mark["words"], path.parent)
            shown = rendered(ask(asked), files, path.parent)
        except ExplorerError as error:
            refused.append(_located(path, text, mark, str(error)))
            shown = ""
        written += [text[position : mark.end()], "\n", shown, "\n"]
        position = end
    if refused:
        raise UsageError("\n".join(refused))
    written.append(text[position:])
    return Embedded("".join(written), files)


def _read(path: Path) -> str:
    try:
        # As it is: a file with other ends of lines keeps them outside its blocks.
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: the document cannot be read: {reason}") from error


def _marks(text: str) -> Iterator[re.Match[str]]:
    """The marks that begin a block; one in a fenced code block is shown and begins none."""
    shown = fences(text)
    for mark in START.finditer(text):
        if not any(fence.start <= mark.start() < fence.end for fence in shown):
            yield mark


def _located(path: Path, text: str, mark: re.Match[str], message: str) -> str:
    line = text.count("\n", 0, mark.start()) + 1
    return f"{path}:{line}: {message}"


def parsed(words: str, folder: Path) -> Block:
    """A block of the words in its mark: a kind, a subject, and options as NAME=VALUE."""
    try:
        kind, *rest = shlex.split(words) or [""]
    except ValueError as error:
        raise UsageError(f"{words!r} cannot be read as a block: {error}") from error
    options = dict(word.split("=", 1) for word in rest if "=" in word)
    subjects = [word for word in rest if "=" not in word]
    if len(subjects) > 1:
        raise UsageError(
            f"{kind} takes one subject, got {len(subjects)}: {', '.join(subjects)};"
            " put quotes around an option that contains spaces"
        )
    return block(kind, "".join(subjects), options, folder)


def rendered(parts: tuple[Part, ...], files: dict[Path, bytes], folder: Path) -> str:
    """Parts as Markdown; the files that pictures need are added to ``files``."""
    texts = []
    for part in parts:
        if isinstance(part, Figure):
            for theme in THEMES:
                path = folder / file_of(part, theme)
                files[path] = themed(part.files[0].decode(), theme).encode()
            texts.append(_picture(part))
        else:
            texts.append(text_of(part))
    return "\n" + "\n\n".join(texts) + "\n"


def text_of(part: Table | Paragraph | Code) -> str:
    """A part without a picture as Markdown."""
    if isinstance(part, Table):
        caption = f"{escape(part.caption)}\n\n" if part.caption else ""
        return caption + table(part.columns, part.rows)
    if isinstance(part, Paragraph):
        return f"**{escape(part.text)}**" if part.is_strong else escape(part.text)
    longest = max((len(run) for run in re.findall(r"`+", part.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{part.language}\n{part.text.rstrip()}\n{fence}"


def file_of(figure: Figure, theme: str) -> str:
    """A picture's file, from the document's folder."""
    return f"{figure.folder}/{figure.name}-{theme}.svg"


def _picture(figure: Figure) -> str:
    """A picture that is light or dark as the page is, which GitHub decides by its own theme."""
    alt = _attribute(figure.alt)
    width = f' width="{figure.width}"' if figure.width else ""
    light, dark = (_attribute(file_of(figure, theme)) for theme in THEMES)
    shown = (
        f'<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'  <img src="{light}" alt="{alt}"{width}>\n</picture>'
    )
    if figure.align:
        shown = f'<p align="{figure.align}">\n{shown}\n</p>'
    return f"{shown}\n\n*{escape(figure.caption)}*" if figure.caption else shown


def _attribute(text: str) -> str:
    for plain, entity in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(plain, entity)
    return text
