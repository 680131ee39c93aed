"""The ``embed`` command: fills the blocks of Markdown files, or lists files that are out of date."""

import functools
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.options import EmbedOptions
from explorer.cli.output import write_file
from explorer.documents.contents import Way, contents
from explorer.documents.markdown import Contents, Embedded, embedded
from explorer.model.errors import UsageError
from explorer.report.files import prepare_folder
from explorer.store.store import to_stderr
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.text.program_name import program


def embed(options: EmbedOptions) -> int:
    """Fill every block of the files; with ``check`` write nothing, and exit with 1 if one is stale.

    All blocks are run before the first file is written. Raises UsageError with all that is
    wrong in them.
    """
    filled = functools.partial(contents, way=Way(fresh=options.fresh))
    documents: dict[Path, Embedded] = {}
    refused: list[str] = []
    for path in options.files:
        document = _document(path, filled)
        if isinstance(document, UsageError):
            refused.append(str(document))
        else:
            documents[path] = document
    if refused:
        raise UsageError("\n".join(refused))
    stale: list[Path] = []
    for file, document in documents.items():
        stale.extend(_stale(file, document))
    if options.check:
        text = _("out of date: {file}; run `{program} embed` to update it")
        for path in stale:
            to_stderr(text.format(file=one_line(str(path)), program=program()))
        return exit_codes.DIFFERENT if stale else exit_codes.AS_EXPECTED
    for file, document in documents.items():
        # The pictures first: a text must not show what is not there.
        for path, content in (*document.files.items(), (file, document.text.encode())):
            if path in stale:
                prepare_folder(path.parent)
                write_file(path, content)
    return exit_codes.AS_EXPECTED


def _document(path: Path, filled: Contents) -> Embedded | UsageError:
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
