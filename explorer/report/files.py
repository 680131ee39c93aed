"""Output folders, into which files are written whole or not at all."""

import tempfile
from pathlib import Path

from explorer.model.errors import UsageError
from explorer.text.language import _
from explorer.text.reasons import reason
from explorer.whole_files import put_whole


def prepare_folder(folder: Path) -> Path:
    """The folder, made if need be and seen to take a file; UsageError says why it does not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(folder, error) from error
    return check_folder(folder)


def check_folder(folder: Path) -> Path:
    """The folder, seen to be there and to take a file; UsageError says why it does not."""
    if not folder.exists():
        text = _("there is no folder {folder}; make it first, or name another one")
        raise UsageError(text.format(folder=repr(str(folder))))
    try:
        # Permission bits do not tell: root may write anywhere, and nobody to a read-only disk.
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise _refusal(folder, error) from error


def _refusal(folder: Path, error: OSError) -> UsageError:
    text = _("nothing can be written to {folder}: {reason}; give another folder")
    return UsageError(text.format(folder=repr(str(folder)), reason=reason(error)))


def put_file(path: Path, content: bytes) -> Path:
    """Write ``content`` to ``path``, which never holds half of it; UsageError says why it cannot."""
    try:
        put_whole(path, content)
    except OSError as error:
        text = _("{file} cannot be written: {reason}")
        text = text.format(file=repr(str(path)), reason=reason(error))
        raise UsageError(text) from error
    return path
