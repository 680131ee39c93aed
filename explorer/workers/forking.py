"""A nursery's own side, run as ``python -m explorer.workers.forking MODULE …``: forks workers."""

import contextlib
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Iterable

import msgspec

from explorer.workers import serving
from explorer.workers.garbage_collection import imported
from explorer.workers.protocol import BORN, ENDED, HEADER, LIFELINE, NEWS, Birth

DESCRIPTORS = 5
"""The open files of a worker: its three streams, its lifeline, and where news of it go."""


def await_birth(control: socket.socket) -> None:
    """Fork a worker at each request; returns in the workers alone, and ends with ``control``."""
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # that one has ended wakes select()
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    news: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            woken.recv(1024)
            _send_ended(news)
        if control not in ready:
            continue
        header, descriptors, _, _ = socket.recv_fds(control, HEADER.size, DESCRIPTORS)
        if not header:
            os._exit(0)  # whoever needed workers is gone
        birth = _read(control, HEADER.unpack(header)[0])
        pid = os.fork()
        if not pid:
            _leave((control, woken, waker), news.values())
            begin(msgspec.msgpack.decode(birth, type=Birth), descriptors)
            return
        news[pid] = descriptors.pop()
        for descriptor in descriptors:
            os.close(descriptor)


def _leave(ends: Iterable[socket.socket], descriptors: Iterable[int]) -> None:
    """Let go, in a process just forked, of what is the nursery's alone."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for end in ends:
        end.close()
    for descriptor in descriptors:
        os.close(descriptor)


def _read(control: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = control.recv(size - len(parts))
        if not part:
            os._exit(0)
        parts += part
    return bytes(parts)


def _send_ended(news: dict[int, int]) -> None:
    """Send the exit codes of the workers that have ended."""
    for pid in list(news):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            descriptor = news.pop(pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(descriptor, NEWS.pack(ENDED, os.waitstatus_to_exitcode(status)))
            os.close(descriptor)


def begin(birth: Birth, descriptors: list[int]) -> None:
    """Make this process, just forked, what one is that was started for a worker."""
    os.setsid()
    *streams, its_lifeline, sender = descriptors
    for stream, descriptor in enumerate(streams):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(birth.environment)
    os.environ[LIFELINE] = str(its_lifeline)
    os.chdir(birth.folder)
    tempfile.tempdir = None  # it was that of the nursery
    # So that not all workers draw the same. (Where NumPy is missing, a framework is too, and the worker
    # says so.)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    os.write(sender, NEWS.pack(BORN, os.getpid()))
    os.close(sender)


def main() -> None:
    """Import the modules, then fork a worker at each request."""
    serving.hold_lifeline()
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    with contextlib.suppress(ImportError):  # the worker that needs it says what is missing
        for module in sys.argv[1:]:
            imported(module)
    await_birth(control)
    serving.main()


if __name__ == "__main__":
    main()
