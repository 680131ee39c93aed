"""The memory of processes that share some of it."""

import psutil


def proportional(process: psutil.Process) -> int:
    """The bytes of memory that a process holds, shared ones in equal parts; 0 of one that is gone.

    Workers share what was imported before they were forked (Linux).
    """
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0
