"""Long runs on a page: their progress, and recorded results until they are finished."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.exploration.installed import nothing_runs
from explorer.report.recorded.fallback import notice
from explorer.report.recorded.results import other_versions, recording
from explorer.report.wording import versions_text
from explorer.text.language import _
from explorer.web.shared_runs import SharedRun, StoppedError, visitor
from explorer.web.widgets import plain
from explorer.words.cases import SEPARATOR

Value = TypeVar("Value")

POLL_SECONDS = 0.2
"""The interval at which a page updates its progress bar."""

PART_SECONDS = 2.0
"""Seconds between two times that a page shows what is known so far."""

SHARE = 3
"""How many times longer a page shows a part of a value than it takes to show it."""


def _never() -> bool:
    """The default of ``outdated``: a run is never outdated."""
    return False


class RunProgress(Generic[Value]):
    """A page that waits for a run: a bar where this was made, until the run is finished.

    Once the run is ``outdated``, the page starts the one that replaces it.
    """

    def __init__(self, run: SharedRun[Value], outdated: Callable[[], bool] = _never) -> None:
        self._run = run
        self._outdated = outdated
        self._place = st.empty()
        self._bar: DeltaGenerator | None = None
        self._had_part = time.monotonic()

    def part(self) -> Value:
        """The value, or the part of it that is known; raises the error of a run that failed."""
        while not _is_there(self._run):
            self._update()
            if self._run.partial is not None:
                self._had_part = time.monotonic()
                return self._run.partial
        self._place.empty()
        return self._run.result()

    def whole(self) -> Value:
        """The value, once the run is finished; raises the error of a run that failed."""
        while not _is_there(self._run):
            self._update()
        self._place.empty()
        return self._run.result()

    def stay(self, shown: int | None) -> None:
        """Stay on a page that shows a part of the value, and show it anew once the run is finished.

        With the number of parts that are ``shown``, also once there are more.
        """
        began = time.monotonic()
        # On a busy machine, showing rows anew must not take the time of those who make them.
        pause = max(PART_SECONDS, SHARE * (began - self._had_part))
        while not _is_there(self._run):
            self._update()
            is_due = time.monotonic() - began > pause
            if shown is not None and is_due and self._run.parts > shown:
                break
        st.rerun()

    def _update(self) -> None:
        if self._outdated():
            self._run.leave(visitor())
            st.rerun()
        if self._bar is None:
            self._bar = _bar(self._place, self._run)
        # A copy: other threads add stages while this one counts.
        fraction, text = progress_text(dict(self._run.stages), self._run.waits)
        seconds = int(time.monotonic() - self._run.began)
        self._bar.progress(fraction, text=f"{text} · {seconds} s")


def awaited(run: SharedRun[Value]) -> Value:
    """The value of a run, with a bar until it is there; raises the error of one that failed."""
    return RunProgress(run).whole()


def _is_there(run: SharedRun[Value]) -> bool:
    """Whether a run is finished, after a moment's wait; says so if this visitor has cancelled it."""
    run.see(visitor())
    if visitor() in run.gave_up and not run.finished.is_set():
        # Another visitor waits for it still.
        raise _said_stopped(run)
    # What is stored is there before a bar could be seen.
    there = run.finished.wait(POLL_SECONDS)
    if there and isinstance(run.error, StoppedError):
        raise _said_stopped(run)
    return there


def _said_stopped(run: SharedRun[Value]) -> StoppedError:
    """Say that there is no value, and how to get it; returns the error that ends the page."""
    st.info(_("This was stopped before it was finished."))
    run_again(run.resume, visitor())
    return StoppedError("stopped")


def run_again(then: Callable[..., None], *arguments: Any) -> None:
    """A button that starts a run once more."""
    st.button(
        _("Run again"), key="run_again", icon=":material/refresh:", on_click=then, args=arguments
    )


def _bar(place: DeltaGenerator, run: SharedRun[Value]) -> DeltaGenerator:
    """A place for the bar, and beside it the button that cancels the run."""
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.container().empty()
        key = f"cancel {id(run)}"  # a page may wait for two runs, one after the other
        st.button(_("Cancel"), key=key, on_click=run.give_up, args=(visitor(),))
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
        text = _("{stage}: {done} of {total}")
        parts.append(text.format(stage=_(stage), done=done, total=total))
        done_in_all += done
        total_in_all += total
    fraction = done_in_all / total_in_all if total_in_all else 0.0
    return fraction, " · ".join(parts)


# Recorded results


MISSING = "none"
"""The version of a framework that is not installed."""


def recorded_with() -> str:
    """What a recorded result was recorded with, and that one's own takes its place."""
    text = _("Recorded with {versions} on {date}; shown until your own run is finished.")
    return _filled_in(text)


def page_recorded_with() -> str:
    """What the results on a page were recorded with, and how one's own are marked."""
    text = _(
        "Pictures, verdicts and findings on this page were recorded with {versions} on {date}."
        " What you run takes their place and is marked “run here”."
    )
    return _filled_in(text)


def say_if_recorded() -> None:
    """Say how what is shown can be run, where nothing can be run yet."""
    if nothing_runs():
        st.info(plain(notice()))


def _filled_in(text: str) -> str:
    made = text.format(versions=versions_text(recording().versions), date=recording().date)
    installed = []
    for name, version in other_versions().items():
        installed.append(
            _("no {name}").format(name=name) if version == MISSING else f"{name} {version}"
        )
    if not installed:
        return made
    here = _("Installed here: {versions}. Results may differ.").format(
        versions=_(SEPARATOR).join(installed)
    )
    return _("{first} {then}").format(first=made, then=here)


def show_or_await(
    run: SharedRun[Value],
    recorded: Callable[[], Value | None],
    show: Callable[[Value, bool], None],
) -> None:
    """Show the value of a run; until it is finished, and after it was stopped, the recorded one.

    ``show`` is called with what is to be shown, and with whether that is recorded. Raises the error
    of a run that failed.
    """
    # What is stored is there at once: then nothing is read of what is recorded.
    if run.partial is None and not run.finished.wait(POLL_SECONDS):
        known = recorded()
        if known is not None:
            run.set_partial(known)
    progress = RunProgress(run)
    say_if_recorded()
    try:
        value = progress.part()
    except StoppedError:
        if run.partial is not None:
            show(run.partial, True)
        raise
    is_recorded = value is run.partial
    show(value, is_recorded)
    if is_recorded:
        progress.stay(None)
