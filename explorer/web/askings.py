"""What visitors ask, made once for all of them: from the store at once, else in its turn."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeVar, cast

import streamlit as st

from explorer.web.asking import Asking, StoppedError
from explorer.web.lane import Lane
from explorer.web.visitor import visitor
from explorer.workers.workers import Workers

Answer = TypeVar("Answer")

KEPT = 32
"""The number of answers that are kept; the one asked for longest ago is dropped first."""

Stored = Callable[[], Answer | None]
"""Gives an answer that is stored, and starts no worker."""

Make = Callable[[Workers, Asking[Answer]], Answer]
"""Gives an answer by workers, and tells the question how far it is."""

Length = Literal["short", "long"]
"""How long a question takes. The long ones have a lane, and workers, of their own: nobody waits for
minutes for a scenario because somebody else has opened a study."""


class Askings:
    """The questions of a server by their keys, safe to share between visitors.

    One that failed is asked again when somebody wants it again, but not for who gave it up.
    """

    def __init__(self, workers: Workers, long_workers: Workers | None = None) -> None:
        self.workers = workers
        short = Lane(workers)
        self._lanes: dict[Length, Lane] = {
            "short": short,
            "long": Lane(long_workers) if long_workers else short,
        }
        self._by_key: dict[Hashable, Asking[Any]] = {}
        self._lock = threading.Lock()

    def ask(
        self,
        key: Hashable,
        stored: Stored[Answer],
        make: Make[Answer],
        length: Length = "short",
    ) -> Asking[Answer]:
        """The question under a key, started if there is none or it failed."""
        with self._lock:
            known = self._by_key.pop(key, None)
            if known and not _is_over(known):
                self._by_key[key] = known  # last in the order in which they are forgotten
                return cast("Asking[Answer]", known)
            asking = self._by_key[key] = Asking[Answer]()
            self._forget_old_ones()
        # Daemonic, so that Ctrl-C does not wait for it; the workers end with the server.
        arguments = (stored, make, asking, self._lanes[length])
        threading.Thread(target=_run, args=arguments, daemon=True).start()
        return asking

    def forget(self, asking: Asking[Any]) -> None:
        """Have a question asked anew the next time that somebody wants its answer."""
        with self._lock:
            for key, known in list(self._by_key.items()):
                if known is asking:
                    del self._by_key[key]

    def end(self) -> None:
        """Stop all questions and all workers for good: nothing is asked from now on."""
        with self._lock:
            for asking in self._by_key.values():
                asking.stopped.set()
        for lane in self._lanes.values():
            lane.workers.deadline = time.monotonic()
            lane.workers.close()

    def _forget_old_ones(self) -> None:
        # One that is still running belongs to somebody who watches it.
        surplus = len(self._by_key) - KEPT
        finished = [key for key, known in self._by_key.items() if known.finished.is_set()]
        for key in finished[: max(0, surplus)]:
            del self._by_key[key]


def _run(stored: Stored[Answer], make: Make[Answer], asking: Asking[Answer], lane: Lane) -> None:
    try:
        answer = stored()  # what is stored waits for nobody's turn
        if answer is None:
            # One at a time: two would share the workers, and both would take longer.
            with lane.turn(asking) as workers:
                answer = make(workers, asking)
                asking.go_on()  # what is made while workers are stopped lacks their answers
        asking.answer = answer
    except Exception as error:  # result() raises it on the page that waits
        # What workers answer while they are stopped is no fault of theirs.
        asking.error = StoppedError(str(error)) if asking.stopped.is_set() else error
    finally:
        asking.finished.set()


def _is_over(known: Asking[Any]) -> bool:
    """Whether a question ended without an answer, and this visitor may have it asked again."""
    if not (known.error or known.stopped.is_set()):
        return False
    return visitor() not in known.gave_up


@st.cache_resource(show_spinner=False)
def askings() -> Askings:
    """The one set of questions, and of workers, of this server."""
    return Askings(Workers(), Workers())
