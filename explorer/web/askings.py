"""What visitors ask, made once for all of them: from the store at once, else one after the other."""

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from explorer.workers.queue import Progress
from explorer.workers.workers import Workers

Answer = TypeVar("Answer")

KEPT = 32
"""The number of answers that are kept; the one asked for longest ago is dropped first."""

POLL_SECONDS = 0.2
"""The interval at which a page updates its progress bar."""


Stored = Callable[[], Answer | None]
"""Gives an answer that is stored, and starts no worker."""

Make = Callable[[Workers, Progress], Answer]
"""Gives an answer by workers."""


class Asking(Generic[Answer]):
    """One question on its way: how far each stage is, and in the end its answer or its error."""

    def __init__(self) -> None:
        self.stages: dict[str, tuple[int, int]] = {}
        self.finished = threading.Event()
        self.answer: Answer | None = None
        self.error: Exception | None = None

    def step(self, stage: str, done: int, total: int) -> None:
        """Note how far a stage is; called from another thread."""
        self.stages[stage] = (done, total)

    def result(self) -> Answer:
        """The answer, once finished; raises the error that there is in its place."""
        if self.error:
            raise self.error
        assert self.answer is not None
        return self.answer


class Askings:
    """The questions of a server by their keys, safe to share between visitors.

    One that failed is asked again when somebody wants it again.
    """

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._by_key: dict[Hashable, Asking[Any]] = {}
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def ask(self, key: Hashable, stored: Stored[Answer], make: Make[Answer]) -> Asking[Answer]:
        """The question under a key, started if there is none or it failed."""
        with self._lock:
            known = self._by_key.pop(key, None)
            if known and not known.error:
                self._by_key[key] = known  # last in the order in which they are forgotten
                return cast("Asking[Answer]", known)
            asking = self._by_key[key] = Asking[Answer]()
            self._forget_old_ones()
        # Daemonic, so that Ctrl-C does not wait for it; the workers end with the server.
        threading.Thread(target=self._run, args=(stored, make, asking), daemon=True).start()
        return asking

    def _forget_old_ones(self) -> None:
        # One that is still running belongs to somebody who watches it.
        surplus = len(self._by_key) - KEPT
        finished = [key for key, known in self._by_key.items() if known.finished.is_set()]
        for key in finished[: max(0, surplus)]:
            del self._by_key[key]

    def _run(self, stored: Stored[Answer], make: Make[Answer], asking: Asking[Answer]) -> None:
        try:
            asking.answer = stored()  # what is stored waits for nobody's turn
            if asking.answer is None:
                # One at a time: two would share the workers, and both would take longer.
                with self._turn:
                    asking.answer = make(self.workers, asking.step)
        except Exception as error:  # result() raises it on the page that waits
            asking.error = error
        finally:
            asking.finished.set()


@st.cache_resource(show_spinner=False)
def askings() -> Askings:
    """The one set of questions, and of workers, of this server."""
    return Askings(Workers())


def watch(asking: Asking[Answer]) -> Answer:
    """The answer, with a bar until it is there; raises the error of one that failed."""
    # What is stored is there before a bar could be seen.
    if not asking.finished.wait(POLL_SECONDS):
        bar = st.progress(0.0, text="Starting the workers …")
        while not asking.finished.wait(POLL_SECONDS):
            # A copy: other threads add stages while this one counts.
            bar.progress(*_progress(dict(asking.stages)))
        bar.empty()
    return asking.result()


def _progress(stages: Mapping[str, tuple[int, int]]) -> tuple[float, str]:
    """The part that is done, from 0 to 1, and what it is made up of."""
    if not stages:
        return 0.0, "Starting the workers, or waiting for another visitor's run …"
    parts: list[str] = []
    done_in_all, total_in_all = 0, 0
    for stage, (done, total) in sorted(stages.items()):
        parts.append(f"{stage} {done} of {total}")
        done_in_all += done
        total_in_all += total
    fraction = done_in_all / total_in_all if total_in_all else 0.0
    return fraction, " · ".join(parts)
