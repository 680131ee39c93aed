"""The ``embed`` command: fills the blocks of Markdown files, or lists files that are out of date."""

import functools
import sys
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.output import print_written
from explorer.documents.contents import Way, contents
from explorer.documents.markdown import Contents, Embedded, embedded
from explorer.model.errors import UsageError
from explorer.report.files import prepare_folder, put_file
from explorer.text.messages import one_line


def embed(files: list[Path], check: bool, fresh: bool) -> int:
    """Fill every block of ``files``; with ``check`` write nothing, and exit with 1 when one is stale.

    All blocks are run before the first file is written. Raises UsageError with all that is
    wrong in them.
    """
    filled = functools.partial(contents, way=Way(fresh=fresh))
    documents: dict[Path, Embedded] = {}
    refused: list[str] = []
    for path in files:
        document = _embedded(path, filled)
        if isinstance(document, UsageError):
            refused.append(str(document))
        else:
            documents[path] = document
    if refused:
        raise UsageError("\n".join(refused))
    stale = [path for file, document in documents.items() for path in _stale(file, document)]
    if check:
        for path in stale:
            print(
                f"explorer: out of date: {one_line(str(path))}; run `explorer embed` to update it",
                file=sys.stderr,
            )
        return exit_codes.DIFFERENT if stale else exit_codes.AS_EXPECTED
    for file, document in documents.items():
        # The pictures first: a text must not show what is not there.
        for path, content in (*document.files.items(), (file, document.text.encode())):
            if path in stale:
                prepare_folder(path.parent)
                print_written(put_file(path, content))
    return exit_codes.AS_EXPECTED


def _embedded(path: Path, filled: Contents) -> Embedded | UsageError:
    """A document as it should be, or what is wrong with it."""
    try:
        return embedded(path, filled)
    except UsageError as error:
        return error


def _stale(file: Path, document: Embedded) -> list[Path]:
    """The files that are not as they should be."""
    should = {**document.files, file: document.text.encode()}
    return [path for path, content in should.items() if not _has(path, content)]


def _has(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
