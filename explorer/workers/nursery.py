"""A process that imports modules once, as its parent sees it: workers are forked from it."""

import contextlib
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import psutil

from explorer.model.environments import Environment
from explorer.workers.children import Started, Streams, kill_group
from explorer.workers.environments import nursery_environment
from explorer.workers.protocol import BORN, HEADER, NEWS, Birth

LOOKING_SECONDS = 0.01
"""Seconds between two looks at whether a worker has ended."""


class Nursery:
    """A process that has imported some modules, or is about to; it starts once it is needed.

    Workers that are forked from it need not import them: a framework takes more than a second. Safe
    to share between threads.
    """

    def __init__(self, home: Environment, *modules: str) -> None:
        """A process in the environment ``home``."""
        self._home = home
        self._modules = modules
        self._lock = threading.Lock()
        self._process: NurseryProcess | None = None

    def fork(
        self, environment: Mapping[str, str], folder: Path, streams: Streams, its_lifeline: int
    ) -> "Forked":
        """A worker in a folder, which is there once all is imported.

        The caller closes the descriptors. Raises OSError where no process can be started.
        """
        birth = msgspec.msgpack.encode(Birth(dict(environment), str(folder)))
        news, sender = os.pipe()
        try:
            with self._lock:
                process = self._requested(birth, (*streams, its_lifeline, sender))
        except BaseException:  # Ctrl-C too
            os.close(news)
            raise
        finally:
            os.close(sender)
        return Forked(news, process)

    def stop(self) -> None:
        """End the process: workers that it has forked live on, others never come."""
        with self._lock:
            self._stop()

    def _requested(self, birth: bytes, descriptors: tuple[int, ...]) -> "NurseryProcess":
        """The process that forks the worker; a new one if the last is gone."""
        if self._process and not self._process.child.is_gone():
            with contextlib.suppress(BrokenPipeError):  # gone in this moment
                self._process.request(birth, descriptors)
                return self._process
        self._stop()
        self._process = NurseryProcess(self._home, self._modules)
        self._process.request(birth, descriptors)
        return self._process

    def _stop(self) -> None:
        if self._process:
            self._process.stop()
            self._process = None


class Nurseries:
    """The nurseries of one crew of workers, or of several: one for each environment and modules."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[object, ...], Nursery] = {}

    def at(self, home: Environment, versions: object, modules: tuple[str, ...]) -> Nursery:
        """The nursery in an environment of which the packages have some ``versions``."""
        with self._lock:
            return self._known.setdefault((home, versions, modules), Nursery(home, *modules))

    def stop(self) -> None:
        """End all of them."""
        for nursery in self._known.values():
            nursery.stop()


class NurseryProcess:
    """One process of a nursery: its folder, and the socket that requests for workers go through."""

    def __init__(self, home: Environment, modules: Iterable[str]) -> None:
        with contextlib.ExitStack() as opened, contextlib.ExitStack() as its:
            self._scratch = Path(tempfile.mkdtemp(prefix="explorer-"))
            opened.callback(shutil.rmtree, self._scratch, ignore_errors=True)
            self._control, its_control = socket.socketpair()
            opened.callback(self._control.close)
            its.callback(its_control.close)
            its_lifeline, kept = os.pipe()
            opened.callback(os.close, kept)
            its.callback(os.close, its_lifeline)
            errors = its.enter_context((self._scratch / "stderr").open("ab")).fileno()
            self.child = Started(
                ("explorer.workers.forking", *modules),
                nursery_environment(self._scratch, home),
                self._scratch,
                (its_control.fileno(), errors, errors),
                its_lifeline,
                home.python,
            )
            self._opened = opened.pop_all()

    def request(self, birth: bytes, descriptors: tuple[int, ...]) -> None:
        """Request a worker with these open files."""
        socket.send_fds(self._control, [HEADER.pack(len(birth))], descriptors)
        self._control.sendall(birth)

    def last_words(self, most: int) -> str:
        """The end of its stderr, ``most`` bytes of it: why a worker never came."""
        try:
            return (self._scratch / "stderr").read_bytes()[-most:].decode(errors="replace").strip()
        except OSError:
            return ""

    def stop(self) -> None:
        """Kill the process and remove its folder."""
        self.child.kill()
        self.child.end()
        self._opened.close()


class Forked:
    """A Child that a nursery has forked, or will fork once its modules are imported."""

    def __init__(self, news: int, nursery: NurseryProcess) -> None:
        os.set_blocking(news, False)
        self._news = news
        self._nursery = nursery
        self._pid = 0
        self._code: int | None = None
        self._has_ended = False
        self._is_open = True
        # Whoever stops a worker looks at it while another thread waits for its answer.
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        """Its id; 0 as long as it is not there yet."""
        self._hear()
        return self._pid

    def is_gone(self) -> bool:
        """Whether it has ended; one that will never be there counts too."""
        self._hear()
        if not self._has_ended and not self._is_open and not self._lives():
            self._has_ended = True
        return self._has_ended

    def end(self, seconds: float | None = None) -> int | None:
        """Its exit code once it has ended, None if unknown; TimeoutError if it lives on."""
        latest = None if seconds is None else time.monotonic() + seconds
        while not self.is_gone():
            if latest is not None and time.monotonic() > latest:
                raise TimeoutError
            time.sleep(LOOKING_SECONDS)
        return self._code

    def kill(self) -> None:
        """Kill it with all that it has started."""
        if self.pid:
            kill_group(self._pid)  # after its end too: what it has forked may live on
        else:
            # An import without end may be the reason why it is not there.
            self._nursery.child.kill()

    def last_words(self, most: int) -> str:
        """The end of its nursery's stderr, where it was never born; else its own has everything."""
        return "" if self.pid else self._nursery.last_words(most)

    def _hear(self) -> None:
        """Read the messages about it that have arrived."""
        with self._lock, contextlib.suppress(BlockingIOError):
            while self._is_open:
                message = os.read(self._news, NEWS.size)
                if not message:
                    self._is_open = False  # it has ended, or its nursery
                    os.close(self._news)
                    return
                what, number = NEWS.unpack(message)
                if what == BORN:
                    self._pid = number
                else:
                    self._code = number
                    self._has_ended = True

    def _lives(self) -> bool:
        try:
            # A parent that has taken the place of the nursery may leave it as a zombie.
            return bool(self._pid) and psutil.Process(self._pid).status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False
