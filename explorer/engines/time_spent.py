"""The time that work has taken, counted so that what else the machine does hardly changes it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

LEAST_SHARE = 0.25
"""The least share of the clock's time that counts: for a net that waits for something else."""


class TimeSpent:
    """The processor time of this thread, in ``seconds``.

    A net that a busy machine leaves a quarter of a core gets as far as on one that is idle, so that
    what is said of it is the same.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what is done meanwhile."""
        began, began_by_clock = time.thread_time(), time.perf_counter()
        try:
            yield
        finally:
            by_clock = time.perf_counter() - began_by_clock
            self.seconds += max(time.thread_time() - began, LEAST_SHARE * by_clock)
