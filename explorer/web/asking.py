"""One question on its way to an answer: how far it is, who watches it, and whether it was stopped."""

import math
import threading
import time
from typing import Generic, TypeVar

from explorer.model.errors import ExplorerError

Answer = TypeVar("Answer")

UNWATCHED_SECONDS = 10.0
"""Seconds after which a page that gives no sign of life has been left."""


class StoppedError(ExplorerError):
    """A question that was given up before it was answered."""


class Asking(Generic[Answer]):
    """One question: how far each stage is, what is known so far, and in the end answer or error.

    ``partial`` is the latest part of the answer, and ``parts`` counts them. Visitors are told apart
    by their sessions' names; several may watch one question.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.waits = True
        self.stages: dict[str, tuple[int, int]] = {}
        self.finished = threading.Event()
        self.stopped = threading.Event()
        self.answer: Answer | None = None
        self.error: Exception | None = None
        self.partial: Answer | None = None
        self.parts = 0
        self.gave_up: set[str] = set()
        self._seen: dict[str, float] = {}

    def step(self, stage: str, done: int, total: int) -> None:
        """Note how far a stage is; raises StoppedError in the thread that works, once stopped."""
        self.go_on()
        self.stages[stage] = (done, total)

    def go_on(self) -> None:
        """Raise StoppedError once the question is stopped."""
        if self.stopped.is_set():
            raise StoppedError("stopped")

    def tell(self, partial: Answer) -> None:
        """Note what is known so far."""
        self.partial = partial
        self.parts += 1

    def see(self, visitor: str) -> None:
        """Note that a visitor's page waits for the answer at this moment."""
        if visitor not in self.gave_up:
            self._seen[visitor] = time.monotonic()

    def is_watched(self) -> bool:
        """Whether anybody waits for the answer still."""
        latest = time.monotonic() - UNWATCHED_SECONDS
        if not self._seen:
            return self.began > latest  # whoever asked is about to look
        return any(seen > latest for seen in list(self._seen.values()))

    def give_up(self, visitor: str) -> None:
        """A visitor wants the answer no longer, and is not to get it before saying so."""
        self.gave_up.add(visitor)
        self.leave(visitor)

    def leave(self, visitor: str) -> None:
        """A visitor has turned to something else; without another who waits, the work is stopped."""
        self._seen[visitor] = -math.inf
        if not self.is_watched():
            self.stopped.set()

    def resume(self, visitor: str) -> None:
        """A visitor wants the answer after all."""
        self.gave_up.discard(visitor)

    def result(self) -> Answer:
        """The answer, once finished; raises the error that there is in its place."""
        if self.error:
            raise self.error
        assert self.answer is not None
        return self.answer
