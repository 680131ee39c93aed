"""Output folders, into which files are written whole or not at all."""

import os
import tempfile
from pathlib import Path

from explorer.model.errors import UsageError
from explorer.text.language import _
from explorer.text.reasons import reason


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
    """Write ``content`` beside ``path`` and rename it there, so that ``path`` never holds half.

    Raises UsageError if it cannot.
    """
    temporary = ""
    try:
        # In the same folder: a file can be renamed only within one file system.
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes files that nobody else may read; this one gets what open() would give it.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        text = _("{file} cannot be written: {reason}")
        text = text.format(file=repr(str(path)), reason=reason(error))
        raise UsageError(text) from error
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
    return path


def _umask() -> int:
    # The system tells the mask only to whoever sets another one.
    mask = os.umask(0)
    os.umask(mask)
    return mask
