"""A pipe by which a process ends with the one that started it, whatever it is doing.

A thread that waits for the end of a pipe cannot run while other code holds Python's lock, such as a
huge power or a regular expression without end: here the kernel itself sends the signal.
"""

import fcntl
import os
import signal

VARIABLE = "EXPLORER_LIFELINE"
"""The variable that names the file descriptor of the pipe's end in the process that is started."""


def hold() -> None:
    """Have this process and its group killed when the other end of the pipe is closed (Linux)."""
    descriptor = os.environ.pop(VARIABLE, "")
    if not descriptor or not hasattr(fcntl, "F_SETSIG"):
        return
    pipe = int(descriptor)
    os.set_inheritable(pipe, False)
    # To the group: what a net has forked is in it too, and would live on.
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
