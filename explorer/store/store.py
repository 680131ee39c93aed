"""The store: one file a result, written whole, checked when it is read, the oldest dropped first."""

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

import msgspec
from filelock import FileLock

from explorer.folders import COMPILED, STORE, caches
from explorer.model.errors import UsageError
from explorer.store.keys import Key
from explorer.text.language import _
from explorer.text.reasons import reason

Record = TypeVar("Record")

LIMIT = "EXPLORER_STORE_MB"
"""The variable that says how many megabytes the store may hold."""

DEFAULT_MB = 2000.0
MEGABYTE = 10**6

FULL = 0.95
"""The part of its limit to which the store is brought once it is above."""

MAGIC = b"autodiff-explorer result 2\n"
"""The first line of every file; the second is its header, and the rest the compressed record."""

COMPRESSION = 1
"""The level of zlib: higher ones take longer than the disk."""

ENDING = ".result"
UNFINISHED = ".unfinished"

REPLIES = "replies"
"""The folder of what workers replied: of one report there may be hundreds, and nobody asks by name."""

REPLY = "reply"
"""The kind of what a worker replied."""

LOCKS = "locks"
"""The folder with one empty file for each result that somebody has computed."""


class Header(msgspec.Struct, frozen=True):
    """What a file says of the record that it holds: its key, the time of writing, its digest."""

    key: Key
    made: str
    sha256: str


class Entry(msgspec.Struct, frozen=True):
    """One result in the store, described without reading all of it.

    ``made`` is when it was computed and ``used`` when it was last read, both in ISO 8601, UTC;
    ``size`` is in bytes. ``name`` is "damaged" where the file cannot be read. Replies have no name.
    """

    kind: str
    name: str
    made: str
    used: str
    size: int


def to_stderr(message: str) -> None:
    """Print a message to the user on stderr, apart from results on standard output."""
    print(f"explorer: {message}", file=sys.stderr)


class Store:
    """Results on disk by their keys; safe for several processes and threads.

    With ``fresh`` nothing is read from it, and new results replace old ones. ``tell`` is called with
    a message if a file is damaged, or results cannot be stored. Only clear() raises for problems on
    disk: a result that cannot be read or written is computed.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        limit: int | None = None,
        fresh: bool = False,
        tell: Callable[[str], None] = to_stderr,
    ) -> None:
        self.folder = folder or caches()
        self.limit = default_limit() if limit is None else limit
        self.fresh = fresh
        self._report = tell
        self._has_reported = False
        # The bytes that may be written before the size of the store is computed again.
        self._room = 0
        self._used: set[Key] = set()

    def get(self, key: Key, kind: type[Record]) -> Record | None:
        """The record of a key; None if there is none, or it is damaged."""
        if self.fresh:
            return None
        path = self._path(key)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._cannot(error)
            return None
        record = checked(content, key, kind)
        if record is None:
            text = _("the stored result of {kind} {name} is damaged; it is computed again")
            self._report(text.format(kind=key.kind, name=key.name))
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now: others are dropped before it
        self._used.add(key)
        return record

    def used(self, kind: str) -> int:
        """The number of results of a kind that this object has found on disk."""
        return sum(key.kind == kind for key in self._used)

    def put(self, key: Key, record: object) -> None:
        """Store a record, and drop the least recently used results if there are too many."""
        body = zlib.compress(msgspec.msgpack.encode(record), COMPRESSION)
        made = datetime.now(timezone.utc).isoformat(timespec="seconds")
        header = Header(key, made, hashlib.sha256(body).hexdigest())
        content = MAGIC + msgspec.json.encode(header) + b"\n" + body
        try:
            self._write(self._path(key), content)
            self._room -= len(content)
            if self._room < 0:
                self._drop_the_oldest()
        except OSError as error:
            self._cannot(error)

    def remove(self, key: Key) -> None:
        """Remove the record of a key, if there is one."""
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            self._cannot(error)

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                # Not forced to the disk, which takes 3 ms: what a power failure damages is made again.
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _drop_the_oldest(self) -> None:
        """Drop the least recently used results if the store is above its limit."""
        files: list[tuple[float, int, Path]] = []
        for path in self._files():
            with contextlib.suppress(FileNotFoundError):  # another process has dropped it
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        size = sum(size for _, size, _ in files)
        if size > self.limit:
            for _, its_size, path in sorted(files):
                if size <= FULL * self.limit:
                    break
                path.unlink(missing_ok=True)
                size -= its_size
        # Half of what is free: other processes write too.
        self._room = (self.limit - size) // 2

    @contextmanager
    def turn(self, key: Key) -> Iterator[None]:
        """While one process computes a result, others that want the same wait here.

        The system frees the lock of a process that dies.
        """
        folder = self.folder / LOCKS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / key.digest)
            lock.acquire()
        except OSError as error:
            self._cannot(error)
            yield
            return
        try:
            yield
        finally:
            lock.release()

    def entries(self) -> list[Entry]:
        """What the store holds, last used first."""
        entries = []
        for path in self._files():
            with contextlib.suppress(OSError):
                entries.append(_entry(path))
        return sorted(entries, key=lambda entry: entry.used, reverse=True)

    def clear(self) -> int:
        """Remove all results, finished or not, and what JAX has compiled; how many results they were.

        Raises UsageError where they cannot be removed.
        """
        count = 0
        try:
            for path in self._files():
                path.unlink(missing_ok=True)
                count += 1
            for path in self.folder.glob(f"*/*{UNFINISHED}"):
                path.unlink(missing_ok=True)
            shutil.rmtree(self.folder / COMPILED, ignore_errors=True)
        except OSError as error:
            text = _(
                "the store {folder} cannot be cleared: {reason}; check its permissions, or set"
                " {variable} to another folder"
            )
            raise UsageError(self._about(text, error)) from error
        return count

    def _files(self) -> Iterator[Path]:
        return self.folder.glob(f"*/*{ENDING}")

    def _path(self, key: Key) -> Path:
        # No other folder gets more than a few hundred files.
        folder = REPLIES if key.kind == REPLY else key.digest[:2]
        return self.folder / folder / f"{key.digest}{ENDING}"

    def _cannot(self, error: OSError) -> None:
        # Once: a board has hundreds of measurements, each of which would report it.
        if not self._has_reported:
            text = _(
                "results cannot be stored in {folder}: {reason}; set {variable} to another folder"
            )
            self._report(self._about(text, error))
            self._has_reported = True

    def _about(self, text: str, error: OSError) -> str:
        why = reason(error)
        return text.format(folder=repr(str(self.folder)), reason=why, variable=STORE)


def checked(content: bytes, key: Key, kind: type[Record]) -> Record | None:
    """The record in a file's bytes; None unless they are whole, and of this key."""
    line, body = _parted(content)
    header = _header(line)
    if header is None or header.key != key:
        return None
    if header.sha256 != hashlib.sha256(body).hexdigest():
        return None
    try:
        return msgspec.msgpack.decode(zlib.decompress(body), type=kind)
    except (msgspec.MsgspecError, zlib.error):
        return None


def _parted(content: bytes) -> tuple[bytes, bytes]:
    """A file's header and its record; both empty if the file is not from the store."""
    if not content.startswith(MAGIC):
        return b"", b""
    line, _, body = content.removeprefix(MAGIC).partition(b"\n")
    return line, body


def _header(line: bytes) -> Header | None:
    try:
        return msgspec.json.decode(line, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def default_limit() -> int:
    """The bytes that a store may hold; UsageError if the variable is not a number."""
    text = os.environ.get(LIMIT, "")
    if not text:
        return int(DEFAULT_MB * MEGABYTE)
    try:
        limit = float(text)
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        message = _("{variable} must be a number of megabytes from 0 up, got {value}")
        raise UsageError(message.format(variable=LIMIT, value=repr(text)))
    return int(limit * MEGABYTE)


def _entry(path: Path) -> Entry:
    status = path.stat()
    used = datetime.fromtimestamp(status.st_mtime, timezone.utc).isoformat(timespec="seconds")
    if path.parent.name == REPLIES:  # thousands, of which none is opened
        return Entry(REPLY, "", used, used, status.st_size)
    with path.open("rb") as file:
        line, _ = _parted(file.readline() + file.readline())
    header = _header(line)
    if header is None:
        return Entry("damaged", "damaged", used, used, status.st_size)
    return Entry(header.key.kind, header.key.name, header.made, used, status.st_size)
