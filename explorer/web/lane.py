"""A lane: workers that questions take turns at, and that are stopped when nobody wants the answer."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from explorer.web.asking import Asking, StoppedError
from explorer.workers.workers import Workers

LOOK_SECONDS = 0.2
"""The interval at which a question looks whether its turn has come, or whether it was stopped."""


class Lane:
    """Workers, and the row of the questions that want them: first come, first served."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._row: list[Asking[Any]] = []
        self._moved = threading.Condition()

    @contextmanager
    def turn(self, asking: Asking[Any]) -> Iterator[Workers]:
        """The workers, once it is a question's turn; whoever stops it then ends them.

        Raises StoppedError for one that nobody waits for any more.
        """
        with self._moved:
            self._row.append(asking)
        try:
            self._wait(asking)
            asking.waits = False
            with self._watched(asking):
                yield self.workers
        finally:
            with self._moved:
                self._row.remove(asking)
                self._moved.notify_all()

    def _wait(self, asking: Asking[Any]) -> None:
        with self._moved:
            while self._row[0] is not asking:
                self._moved.wait(LOOK_SECONDS)
                # Whoever has gone on to another page keeps no place in the row.
                if asking.stopped.is_set() or not asking.is_watched():
                    raise StoppedError("left")

    @contextmanager
    def _watched(self, asking: Asking[Any]) -> Iterator[None]:
        """End the workers when the question is stopped, so that it need not finish a compilation."""
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(asking, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()  # it may not end the workers of the next question

    def _watch(self, asking: Asking[Any], done: threading.Event) -> None:
        while not done.wait(LOOK_SECONDS):
            # What nobody watches goes on, for whoever comes back, as long as no other waits for it.
            if len(self._row) > 1 and not asking.is_watched():
                asking.stopped.set()
            if asking.stopped.is_set():
                self.workers.close()
