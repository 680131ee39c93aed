"""Explorations on behalf of the app's visitors: one at a time, in one crew of workers, each made
once for all who ask it.
"""

import threading
from collections.abc import Mapping
from pathlib import Path

import msgspec
import streamlit as st

from explorer.exploration.explore import explore
from explorer.model.report import Report
from explorer.web.configured import scenario
from explorer.workers.workers import Workers

KEPT = 16
"""How many reports are kept; the one asked for longest ago goes first."""


class Question(msgspec.Struct, frozen=True):
    """What a report depends on; ``digest`` is that of the scenario file's text. With ``case``, only
    its graphs are asked for.
    """

    path: Path
    digest: str
    device: str = "cpu"
    order: int = 1
    case: str | None = None


class Job:
    """One exploration on its way: how far each stage is, and in the end its report or its error."""

    def __init__(self) -> None:
        self.stages: dict[str, tuple[int, int]] = {}
        self.finished = threading.Event()
        self.report: Report | None = None
        self.error: Exception | None = None

    def step(self, stage: str, done: int, total: int) -> None:
        """Note how far a stage is; called from several threads."""
        self.stages[stage] = (done, total)

    def result(self) -> Report:
        """The report of a finished job; raises its error."""
        if self.error:
            raise self.error
        assert self.report
        return self.report


class Explorations:
    """The jobs by their questions; one that failed is made anew when it is asked for again."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._jobs: dict[Question, Job] = {}
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def find(self, question: Question) -> Job | None:
        """The job of a question that was asked before."""
        with self._lock:
            return self._jobs.get(question)

    def ask(self, question: Question) -> Job:
        """The job of a question, started if there is none or it failed."""
        with self._lock:
            job = self._jobs.pop(question, None)
            if job and not job.error:
                self._jobs[question] = job
                return job
            job = self._jobs[question] = Job()
            for old in [each for each in self._jobs if self._jobs[each].finished.is_set()][
                : max(0, len(self._jobs) - KEPT)
            ]:
                del self._jobs[old]
        threading.Thread(target=self._run, args=(question, job), daemon=True).start()
        return job

    def _run(self, question: Question, job: Job) -> None:
        try:
            with self._turn:
                job.report = explore(
                    scenario(question.path),
                    self.workers,
                    device=question.device,
                    order=question.order,
                    graph_case=question.case,
                    only_graph_case=question.case is not None,
                    progress=job.step,
                )
        except Exception as error:  # told on the page of whoever asked
            job.error = error
        finally:
            job.finished.set()


@st.cache_resource(show_spinner=False)
def explorations() -> Explorations:
    """The one set of jobs, and of workers, of this server."""
    return Explorations(Workers())


def watch(job: Job) -> Report:
    """Show a bar until the job is finished; then its report, or its error as an exception."""
    if not job.finished.is_set():
        bar = st.progress(0.0, text="Starting the workers …")
        while not job.finished.wait(0.2):
            bar.progress(*_progress(dict(job.stages)))
        bar.empty()
    return job.result()


def _progress(stages: Mapping[str, tuple[int, int]]) -> tuple[float, str]:
    if not stages:
        return 0.0, "Starting the workers, or waiting for another visitor's run …"
    done, total = (sum(column) for column in zip(*stages.values(), strict=True))
    told = " · ".join(
        f"{stage} {part} of {whole}" for stage, (part, whole) in sorted(stages.items())
    )
    return (done / total if total else 0.0), told
