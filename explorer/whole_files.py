"""Files that are written whole or not at all."""

import os
import tempfile
from pathlib import Path


def put_whole(path: Path, content: bytes) -> None:
    """Write ``content`` beside ``path`` and rename it there, so that ``path`` never holds half; OSError."""
    # In the same folder: a file can be renamed only within one file system.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that nobody else may read; this one gets what open() would give it.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _umask() -> int:
    # The system tells the mask only to whoever sets another one.
    mask = os.umask(0)
    os.umask(mask)
    return mask
