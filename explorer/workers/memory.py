"""How much memory a worker may use, and how much it uses."""

import os
from functools import cache
from pathlib import Path

import psutil

from explorer.model.errors import UsageError
from explorer.text.language import _

LIMIT = "EXPLORER_WORKER_MB"
"""The environment variable with the number of megabytes that each worker may use."""

SHARE = 0.5
"""The share of the machine's memory that a worker may use if the variable is not set."""

MEGABYTE = 10**6

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""What a container may use: a number of bytes, or "max"."""


def limit() -> int:
    """The bytes that a worker may use; UsageError if the variable is not a number."""
    text = os.environ.get(LIMIT, "")
    if not text:
        return int(SHARE * _memory())
    try:
        megabytes = float(text)
    except ValueError:
        megabytes = 0.0
    if not 0 < megabytes < float("inf"):
        message = _("{variable} must be a positive number of megabytes, got {value}")
        raise UsageError(message.format(variable=LIMIT, value=repr(text)))
    return int(megabytes * MEGABYTE)


@cache
def _memory() -> int:
    """The memory of the machine in bytes, or of the container where that has less."""
    machine = psutil.virtual_memory().total
    try:
        return min(machine, int(CONTAINER.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit
        return int(machine)


def used(pid: int) -> int:
    """The bytes of memory that a process holds; 0 of one that is gone."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
