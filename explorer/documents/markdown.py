"""Directives between marker comments of a Markdown file, and the pictures beside the file."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from explorer.blocks.markdown import THEMES, file_of, markdown
from explorer.blocks.records import Block, Figure
from explorer.documents.contents import themed
from explorer.documents.directives import Directive, directive, fences
from explorer.model.errors import ExplorerError, UsageError
from explorer.text.language import _
from explorer.text.reasons import reason

START = re.compile(r"^[ \t]*<!--\s*explorer:\s*(?P<words>.*?)\s*-->", re.MULTILINE)
END = "<!-- /explorer -->"

Contents = Callable[[Directive], tuple[Block, ...]]
"""Makes the blocks of a directive."""


class Embedded(msgspec.Struct, frozen=True):
    """A document as it should be: its text, and the files beside it by their paths."""

    text: str
    files: dict[Path, bytes]


def embedded(path: Path, contents: Contents) -> Embedded:
    """The document at ``path`` with every block filled in by ``contents``.

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
            why = _("this block begins inside another block; end that one first")
            refused.append(_located(path, text, mark, why))
            continue
        end = text.find(END, mark.end())
        if end < 0:
            why = _("the block has no end; add {end} after it").format(end=END)
            refused.append(_located(path, text, mark, why))
            break
        try:
            shown = parsed(mark["words"], path.parent)
            written_out = rendered(contents(shown), files, path.parent)
        except ExplorerError as error:
            refused.append(_located(path, text, mark, str(error)))
            written_out = ""
        written += [text[position : mark.end()], "\n", written_out, "\n"]
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
        words = _("{path}: the document cannot be read: {reason}")
        raise UsageError(words, path=path, reason=reason(error)) from error


def _marks(text: str) -> Iterator[re.Match[str]]:
    """The marks that begin a block; one in a fenced code block is shown and begins none."""
    shown = fences(text)
    for mark in START.finditer(text):
        if not any(fence.start <= mark.start() < fence.end for fence in shown):
            yield mark


def _located(path: Path, text: str, mark: re.Match[str], message: str) -> str:
    line = text.count("\n", 0, mark.start()) + 1
    return f"{path}:{line}: {message}"


def parsed(words: str, folder: Path) -> Directive:
    """A block of the words in its mark: a kind, a subject, and options as NAME=VALUE."""
    try:
        kind, *rest = shlex.split(words) or [""]
    except ValueError as error:
        why = _("{words!r} cannot be read as a block: {error}")
        raise UsageError(why, words=words, error=error) from error
    options = dict(word.split("=", 1) for word in rest if "=" in word)
    subjects = [word for word in rest if "=" not in word]
    if len(subjects) > 1:
        why = _(
            "{kind} takes one subject, got {n}: {subjects}; put quotes around an option that contains"
            " spaces"
        )
        raise UsageError(why, kind=kind, n=len(subjects), subjects=", ".join(subjects))
    return directive(kind, "".join(subjects), options, folder)


def rendered(blocks: tuple[Block, ...], files: dict[Path, bytes], folder: Path) -> str:
    """Blocks as Markdown; the files that pictures need are added to ``files``."""
    for block in blocks:
        if isinstance(block, Figure):
            for theme in THEMES:
                path = folder / file_of(block, theme)
                files[path] = themed(block.files[0].decode(), theme).encode()
    return f"\n{markdown(blocks)}\n"
