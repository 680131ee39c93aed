"""Why a call of the operating system failed, in the reader's language."""

import errno

from explorer.text.language import _, later

REASONS = {
    errno.ENOENT: later("No such file or directory"),
    errno.EACCES: later("Permission denied"),
    errno.EPERM: later("Operation not permitted"),
    errno.EISDIR: later("Is a directory"),
    errno.ENOTDIR: later("Not a directory"),
    errno.EEXIST: later("File exists"),
    errno.ENOSPC: later("No space left on device"),
    errno.EROFS: later("Read-only file system"),
    errno.ENAMETOOLONG: later("File name too long"),
    errno.ENOMEM: later("Cannot allocate memory"),
    errno.EAGAIN: later("Resource temporarily unavailable"),
    errno.ECONNREFUSED: later("Connection refused"),
}
"""What Linux says of the errors that a user meets; other texts of it stay as they are."""


def reason(error: Exception) -> str:
    """Why a call of the operating system failed, in the reader's language; else the error's text."""
    if isinstance(error, OSError) and error.strerror:
        return _(REASONS.get(error.errno or 0, error.strerror))
    return str(error)
