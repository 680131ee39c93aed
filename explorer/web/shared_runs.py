"""Runs that visitors of a server share: each is made once, from the store or in its turn."""

import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Literal, TypeVar, cast

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer.model.errors import ExplorerError
from explorer.workers.workers import Workers

Value = TypeVar("Value")

UNWATCHED_SECONDS = 10.0
"""Seconds after which a page that gives no sign of life has been left."""

LOOK_SECONDS = 0.2
"""Seconds between two looks of a run whether its turn has come, or whether it was stopped."""

KEPT = 32
"""The number of runs that are kept; the one that was used longest ago is dropped first."""

Length = Literal["short", "long"]
"""How long a run takes. Long ones have a queue and workers of their own: nobody waits minutes for
a scenario because somebody else has opened a study."""


def visitor() -> str:
    """The name of this visitor's session; empty outside a run of the app."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


class StoppedError(ExplorerError):
    """A run that was stopped before it was finished."""


class SharedRun(Generic[Value]):
    """One run: how far each stage is, what is known so far, in the end a value or an error.

    ``partial`` is the latest part of the value, and ``parts`` counts them. Visitors are known by
    their sessions' names; several may wait for one run.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.waits = True
        self.stages: dict[str, tuple[int, int]] = {}
        self.finished = threading.Event()
        self.stopped = threading.Event()
        self.value: Value | None = None
        self.error: Exception | None = None
        self.partial: Value | None = None
        self.parts = 0
        self.gave_up: set[str] = set()
        self._seen: dict[str, float] = {}

    def step(self, stage: str, done: int, total: int) -> None:
        """Note how far a stage is; raises StoppedError in the working thread once stopped."""
        self.go_on()
        self.stages[stage] = (done, total)

    def go_on(self) -> None:
        """Raise StoppedError once the run is stopped."""
        if self.stopped.is_set():
            raise StoppedError("stopped")

    def set_partial(self, partial: Value) -> None:
        """Note what is known so far."""
        self.partial = partial
        self.parts += 1

    def see(self, visitor: str) -> None:
        """Note that a visitor's page waits for the value at this moment."""
        if visitor not in self.gave_up:
            self._seen[visitor] = time.monotonic()

    def is_watched(self) -> bool:
        """Whether anybody still waits for the value."""
        latest = time.monotonic() - UNWATCHED_SECONDS
        if not self._seen:
            return self.began > latest  # whoever started it is about to look
        return any(seen > latest for seen in list(self._seen.values()))

    def give_up(self, visitor: str) -> None:
        """A visitor cancels the run, and does not get its value before asking for it again."""
        self.gave_up.add(visitor)
        self.leave(visitor)

    def leave(self, visitor: str) -> None:
        """A visitor has turned to something else; without another who waits, the run stops."""
        self._seen[visitor] = -math.inf
        if not self.is_watched():
            self.stopped.set()

    def resume(self, visitor: str) -> None:
        """A visitor wants the value after all."""
        self.gave_up.discard(visitor)

    def result(self) -> Value:
        """The value, once finished; raises the error that there is in its place."""
        if self.error:
            raise self.error
        assert self.value is not None
        return self.value


class RunQueue:
    """Workers, and the queue of the runs that need them: first come, first served."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._waiting: list[SharedRun[Any]] = []
        self._moved = threading.Condition()

    @contextmanager
    def turn(self, run: SharedRun[Any]) -> Iterator[Workers]:
        """The workers, once it is a run's turn; stopping the run then ends them.

        Raises StoppedError for a run that nobody waits for any more.
        """
        with self._moved:
            self._waiting.append(run)
        try:
            self._wait(run)
            run.waits = False
            with self._stopping_workers(run):
                yield self.workers
        finally:
            with self._moved:
                self._waiting.remove(run)
                self._moved.notify_all()

    def _wait(self, run: SharedRun[Any]) -> None:
        with self._moved:
            while self._waiting[0] is not run:
                self._moved.wait(LOOK_SECONDS)
                # Whoever has gone on to another page keeps no place in the queue.
                if run.stopped.is_set() or not run.is_watched():
                    raise StoppedError("left")

    @contextmanager
    def _stopping_workers(self, run: SharedRun[Any]) -> Iterator[None]:
        """End the workers when the run is stopped, so that it need not finish a compilation."""
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(run, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()  # it may not end the workers of the next run

    def _watch(self, run: SharedRun[Any], done: threading.Event) -> None:
        while not done.wait(LOOK_SECONDS):
            # What nobody watches goes on, for whoever comes back, while no other run waits.
            if len(self._waiting) > 1 and not run.is_watched():
                run.stopped.set()
            if run.stopped.is_set():
                self.workers.close()


Stored = Callable[[], Value | None]
"""Returns a value that is stored, and starts no worker."""

Make = Callable[[Workers, SharedRun[Value]], Value]
"""Makes a value with workers, and reports to the run how far it is."""


class SharedRuns:
    """The runs of a server by their keys, safe to share between visitors.

    One that failed is started again when somebody needs it again, but not for who cancelled it.
    """

    def __init__(self, workers: Workers, long_workers: Workers | None = None) -> None:
        self.workers = workers
        short = RunQueue(workers)
        self._queues: dict[Length, RunQueue] = {"short": short, "long": short}
        if long_workers:
            self._queues["long"] = RunQueue(long_workers)
        self._by_key: dict[Hashable, SharedRun[Any]] = {}
        self._lock = threading.Lock()

    def start(
        self,
        key: Hashable,
        stored: Stored[Value],
        make: Make[Value],
        length: Length = "short",
    ) -> SharedRun[Value]:
        """The run under a key, started if there is none or it failed."""
        with self._lock:
            known = self._by_key.pop(key, None)
            if known and not _is_over(known):
                self._by_key[key] = known  # last in the order in which they are dropped
                return cast("SharedRun[Value]", known)
            run = self._by_key[key] = SharedRun[Value]()
            self._drop_old_ones()
        # Daemonic, so that Ctrl-C does not wait for it; the workers end with the server.
        arguments = (stored, make, run, self._queues[length])
        threading.Thread(target=_run, args=arguments, daemon=True).start()
        return run

    def forget(self, run: SharedRun[Any]) -> None:
        """Have a run made anew the next time that somebody needs its value."""
        with self._lock:
            for key, known in list(self._by_key.items()):
                if known is run:
                    del self._by_key[key]

    def end(self) -> None:
        """Stop all runs and all workers for good: nothing is started from now on."""
        with self._lock:
            for run in self._by_key.values():
                run.stopped.set()
        for queue in self._queues.values():
            queue.workers.deadline = time.monotonic()
            queue.workers.close()

    def _drop_old_ones(self) -> None:
        surplus = len(self._by_key) - KEPT
        for key, known in list(self._by_key.items()):
            # One that is still running belongs to somebody who waits for it.
            if surplus > 0 and known.finished.is_set():
                del self._by_key[key]
                surplus -= 1


def _run(stored: Stored[Value], make: Make[Value], run: SharedRun[Value], queue: RunQueue) -> None:
    try:
        value = stored()  # what is stored waits for nobody's turn
        if value is None:
            # One at a time: two would share the workers, and both would take longer.
            with queue.turn(run) as workers:
                value = make(workers, run)
                run.go_on()  # what is made while workers are stopped lacks their results
        run.value = value
    except Exception as error:  # result() raises it on the page that waits
        # An error of workers that are being stopped is not theirs.
        run.error = StoppedError(str(error)) if run.stopped.is_set() else error
    finally:
        run.finished.set()


def _is_over(known: SharedRun[Any]) -> bool:
    """Whether a run ended without a value, and this visitor may have it started again."""
    if not (known.error or known.stopped.is_set()):
        return False
    return visitor() not in known.gave_up


@st.cache_resource(show_spinner=False)
def shared_runs() -> SharedRuns:
    """The one set of runs, and of workers, of this server."""
    return SharedRuns(Workers(), Workers())
