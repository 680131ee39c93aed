"""Long work on a page: what is done, how far, for how long; it can be stopped and asked again."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.text.language import _
from explorer.web.asking import Asking, StoppedError
from explorer.web.visitor import visitor

Answer = TypeVar("Answer")

POLL_SECONDS = 0.2
"""The interval at which a page updates its progress bar."""

PART_SECONDS = 2.0
"""Seconds between two times that a page shows what is known so far."""


def never() -> bool:
    """That a question is not outdated, whatever happens."""
    return False


SHARE = 3
"""How many times longer a page shows a part of the answer than it takes to show it."""


class Watch(Generic[Answer]):
    """A page that waits for an answer: a bar where it was made, as long as there is more to come.

    Once the question is ``outdated``, the page turns to what is to be asked in its place.
    """

    def __init__(self, asking: Asking[Answer], outdated: Callable[[], bool] = never) -> None:
        self._asking = asking
        self._outdated = outdated
        self._place = st.empty()
        self._bar: DeltaGenerator | None = None
        self._had_part = time.monotonic()

    def part(self) -> Answer:
        """The answer, or as much of it as is known, once that is anything.

        Raises the error of a question that failed.
        """
        while not _is_there(self._asking):
            self._update()
            if self._asking.partial is not None:
                self._had_part = time.monotonic()
                return self._asking.partial
        self._place.empty()
        return self._asking.result()

    def whole(self) -> Answer:
        """The answer, once there is all of it; raises the error of a question that failed."""
        while not _is_there(self._asking):
            self._update()
        self._place.empty()
        return self._asking.result()

    def stay(self, shown: int | None) -> None:
        """Stay on a page that shows a part of the answer, and show it anew once there is all of it.

        With the number of parts that are ``shown``, also once there are more.
        """
        began = time.monotonic()
        # On a busy machine, showing rows anew must not take the time of those who make them.
        pause = max(PART_SECONDS, SHARE * (began - self._had_part))
        while not _is_there(self._asking):
            self._update()
            is_due = time.monotonic() - began > pause
            if shown is not None and is_due and self._asking.parts > shown:
                break
        st.rerun()

    def _update(self) -> None:
        if self._outdated():
            self._asking.leave(visitor())
            st.rerun()
        if self._bar is None:
            self._bar = _bar(self._place, self._asking)
        # A copy: other threads add stages while this one counts.
        fraction, text = progress_text(dict(self._asking.stages), self._asking.waits)
        seconds = int(time.monotonic() - self._asking.began)
        self._bar.progress(fraction, text=f"{text} · {seconds} s")


def watch(asking: Asking[Answer]) -> Answer:
    """The answer, with a bar until it is there; raises the error of one that failed."""
    return Watch(asking).whole()


def _is_there(asking: Asking[Answer]) -> bool:
    """Whether the answer is there, after a moment's wait; for one that this visitor gave up, say so."""
    asking.see(visitor())
    if visitor() in asking.gave_up and not asking.finished.is_set():
        # Another visitor waits for it still.
        raise _said_stopped(asking)
    # What is stored is there before a bar could be seen.
    there = asking.finished.wait(POLL_SECONDS)
    if there and isinstance(asking.error, StoppedError):
        raise _said_stopped(asking)
    return there


def _said_stopped(asking: Asking[Answer]) -> StoppedError:
    """Say that there is no answer, and how to get it; the error that ends the page."""
    st.info(_("This was stopped before it was finished."))
    run_again(asking.resume, visitor())
    return StoppedError("stopped")


def run_again(then: Callable[..., None], *arguments: Any) -> None:
    """A button that has a question asked once more."""
    st.button(
        _("Run again"), key="run_again", icon=":material/refresh:", on_click=then, args=arguments
    )


def _bar(place: DeltaGenerator, asking: Asking[Answer]) -> DeltaGenerator:
    """A place for the bar, and beside it the button that gives the question up."""
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.container().empty()
        key = f"cancel {id(asking)}"  # a page may wait for two questions, one after the other
        st.button(_("Cancel"), key=key, on_click=asking.give_up, args=(visitor(),))
    return bar


def progress_text(stages: Mapping[str, tuple[int, int]], waits: bool = False) -> tuple[float, str]:
    """The part that is done, from 0 to 1, and what it is made up of."""
    if not stages:
        if waits:
            return 0.0, _("Waiting for the run of another visitor")
        return 0.0, _("Starting the workers")
    parts: list[str] = []
    done_in_all, total_in_all = 0, 0
    for stage, (done, total) in sorted(stages.items()):
        parts.append(_("{stage}: {done} of {total}").format(stage=stage, done=done, total=total))
        done_in_all += done
        total_in_all += total
    fraction = done_in_all / total_in_all if total_in_all else 0.0
    return fraction, " · ".join(parts)
