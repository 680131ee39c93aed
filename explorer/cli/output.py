"""Plain lines, documents and files, written without loading Rich."""

import sys
from pathlib import Path

from explorer.report.files import prepare_folder, put_file
from explorer.report.json import Document, encode
from explorer.store.store import to_stderr
from explorer.text.language import _
from explorer.text.messages import one_line


def print_document(document: Document) -> None:
    """Print one JSON document and nothing else."""
    sys.stdout.buffer.write(encode(document))  # UTF-8, whatever the terminal's encoding


def print_written(path: Path) -> None:
    """Print that a file was written."""
    print(_("wrote {file}").format(file=one_line(str(path))))


def write_file(path: Path, content: bytes, *, is_quiet: bool = False) -> None:
    """Write a file and print its name; ``is_quiet`` if only a document is to be printed."""
    put_file(path, content)
    if not is_quiet:
        print_written(path)


def print_stored(stored: int, total: int) -> None:
    """Print on stderr how many of the measurements shown were not made just now."""
    if stored and stored >= total:
        to_stderr(_("stored result shown; --fresh runs it again"))
    elif stored:
        text = _("{n} of {total} measurements are stored ones; --fresh runs all again")
        to_stderr(text.format(n=stored, total=total))


def prepared(folder: Path | None) -> Path | None:
    """The folder that an option names, ready to be written to before a long run starts."""
    return None if folder is None else prepare_folder(folder)
