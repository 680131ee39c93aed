"""Explorations on behalf of the app's visitors: one at a time, in one set of workers.

A report is made once for all who ask for it.
"""

import threading
from collections.abc import Mapping
from pathlib import Path

import msgspec
import streamlit as st

from explorer.exploration.stored import Wanted, explored, stored_report
from explorer.model.report import Report
from explorer.store.store import Store
from explorer.web.offered_scenarios import scenario
from explorer.workers.workers import Workers

KEPT = 16
"""The number of reports that are kept; the one asked for longest ago is dropped first."""

POLL_SECONDS = 0.2
"""The interval at which a page updates its progress bar."""


class ReportKey(msgspec.Struct, frozen=True):
    """The key of a report: everything that it depends on.

    ``digest`` is that of the scenario file's text. With the label of a ``case``, only its graphs
    are asked for.
    """

    path: Path
    digest: str
    device: str = "cpu"
    order: int = 1
    case: str | None = None


class Exploration:
    """One exploration on its way: how far each stage is, and in the end its report or its error."""

    def __init__(self) -> None:
        self.stages: dict[str, tuple[int, int]] = {}
        self.finished = threading.Event()
        self.report: Report | None = None
        self.error: Exception | None = None

    def step(self, stage: str, done: int, total: int) -> None:
        """Note how far a stage is; called from another thread."""
        self.stages[stage] = (done, total)

    def result(self) -> Report:
        """The report, once finished; raises the exploration's error."""
        if self.error:
            raise self.error
        assert self.report
        return self.report


class Explorations:
    """The explorations of a server by what they were asked for, safe to share between visitors.

    One that failed is made anew when it is asked for again.
    """

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._by_key: dict[ReportKey, Exploration] = {}
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def find(self, key: ReportKey) -> Exploration | None:
        """The exploration that was asked for before."""
        with self._lock:
            return self._by_key.get(key)

    def ask(self, key: ReportKey) -> Exploration:
        """The exploration, started if there is none or it failed."""
        with self._lock:
            known = self._by_key.pop(key, None)
            if known and not known.error:
                self._by_key[key] = known  # last in the order in which they are forgotten
                return known
            exploration = self._by_key[key] = Exploration()
            self._forget_old_ones()
        # Daemonic, so that Ctrl-C does not wait for it; the workers end with the server.
        threading.Thread(target=self._run, args=(key, exploration), daemon=True).start()
        return exploration

    def _forget_old_ones(self) -> None:
        # One that is still running belongs to somebody who watches it.
        surplus = len(self._by_key) - KEPT
        finished = [key for key, known in self._by_key.items() if known.finished.is_set()]
        for key in finished[: max(0, surplus)]:
            del self._by_key[key]

    def _run(self, key: ReportKey, exploration: Exploration) -> None:
        wanted = Wanted(
            device=key.device,
            order=key.order,
            graph_case=key.case,
            selection="main" if key.case else None,
        )
        store = Store()
        try:
            asked = scenario(key.path)
            # What is stored waits for nobody's turn.
            exploration.report = stored_report(asked, wanted, store)
            if exploration.report is None:
                # One at a time: two would share the workers, and both would take longer.
                with self._turn:
                    exploration.report = explored(
                        asked, wanted, self.workers, store, progress=exploration.step
                    )
        except Exception as error:  # result() raises it on the page that waits
            exploration.error = error
        finally:
            exploration.finished.set()


@st.cache_resource(show_spinner=False)
def explorations() -> Explorations:
    """The one set of explorations, and of workers, of this server."""
    return Explorations(Workers())


def watch(exploration: Exploration) -> Report:
    """The report of an exploration, with a bar until it is finished; raises the error of one."""
    if not exploration.finished.is_set():
        bar = st.progress(0.0, text="Starting the workers …")
        while not exploration.finished.wait(POLL_SECONDS):
            # A copy: other threads add stages while this one counts.
            bar.progress(*_progress(dict(exploration.stages)))
        bar.empty()
    return exploration.result()


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
