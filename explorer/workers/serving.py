"""The worker's own side, run as ``python -m explorer.workers.serving``: takes calls and answers."""

import os
import signal
import sys
import threading
import traceback
import typing
from typing import Any, BinaryIO

import msgspec

from explorer.model.errors import RefusedNetError, UsageError
from explorer.model.failures import Failure
from explorer.workers.garbage_collection import MANY, imported, settle
from explorer.workers.protocol import HEADER, LIFELINE, Answer, Call, write


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer calls one after another, until ``requests`` ends.

    The process ends then, even in the middle of a call: the thread that listens sees it at once.
    """
    waiting: list[bytes] = []
    arrived = threading.Semaphore(0)

    def listen() -> None:
        """Take calls off the pipe while the main thread is busy with an earlier one."""
        while header := requests.read(HEADER.size):
            waiting.append(requests.read(HEADER.unpack(header)[0]))
            arrived.release()
        os._exit(0)  # the parent is gone, and with it whoever wanted the answer

    threading.Thread(target=listen, daemon=True).start()
    folder = os.getcwd()
    settled = len(sys.modules)
    while True:
        arrived.acquire()
        call = msgspec.msgpack.decode(waiting.pop(0), type=Call)
        _stand_in(folder)
        write(replies, _answer(call))
        if len(sys.modules) >= settled + MANY:  # a call may import more while it runs
            settle()
            settled = len(sys.modules)


def _answer(call: Call) -> Answer:
    module, _, name = call.target.partition(":")
    try:
        function = getattr(imported(module), name)
        # The function's own annotation says which record the argument is to become.
        hints = typing.get_type_hints(function)
        hints.pop("return", None)
        (argument_type,) = hints.values()
        result: Any = function(msgspec.msgpack.decode(call.argument, type=argument_type))
        return Answer(msgspec.msgpack.encode(result))
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package in sys.modules:  # it is there, and its version lacks what is imported
            return Answer(fault=traceback.format_exc())
        return Answer(missing=str(error))
    except RefusedNetError as error:
        return Answer(refused=error.failure)
    except UsageError as error:
        return Answer(refused=Failure(UsageError.__name__, str(error)))
    except Exception:
        return Answer(fault=traceback.format_exc())


def _stand_in(folder: str) -> None:
    """Make the worker's own folder again where a net has removed the one that it was in."""
    # Without one, Dynamo for instance cannot be imported (torch 2.13).
    try:
        os.getcwd()
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)


def hold_lifeline() -> None:
    """Have the kernel kill this process and its group when the other end of the pipe closes (Linux).

    A thread that waits for the end of a pipe cannot run while other code holds Python's lock, such
    as a huge power or a regular expression without end.
    """
    descriptor = os.environ.pop(LIFELINE, "")
    try:
        import fcntl  # here, because Windows has no such module
    except ImportError:
        return
    if not descriptor or not hasattr(fcntl, "F_SETSIG"):
        return
    pipe = int(descriptor)
    os.set_inheritable(pipe, False)
    # To the group: what a net has forked is in it too, and would live on.
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def main() -> None:
    """Take the standard streams for the protocol; what a framework prints goes to stderr instead."""
    hold_lifeline()
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    serve(requests, replies)


if __name__ == "__main__":
    main()
