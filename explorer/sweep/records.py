"""The records of a sweep: jobs, what came of each, rows of a report, changes since another sweep."""

from typing import Literal

import msgspec

from explorer.exploration.options import Wanted
from explorer.model.failures import Failure
from explorer.model.report import CaseVerdict, Report

SweepVerdict = Literal["as_expected", "different", "measured", "unsupported", "refused", "lost"]
"""The verdict on a job.

A scenario is "as_expected" or "different"; a study is "measured", "different" if an engine rejects
the scenario that another one runs, or "unsupported" if it cannot be run on the scenario.
"refused" is a file that is not a scenario or whose net raises, "lost" a job whose process died or
ran out of time, wholly or in part.
"""

ProblemKind = Literal["refused", "died", "timed_out", "no_result", "rejected"]
"""Why a job has no results, or not all of them.

- "refused": the explorer raised an error, which ``text`` is
- "died": its process was lost, as ``failure`` says
- "timed_out": it was not finished within ``seconds``
- "no_result": the measurements ``names`` were lost
- "rejected": an engine rejects the scenario in the measurement ``names``, with the error ``text``
"""


def job_name(scenario: str, study: str) -> str:
    """The name of a job: "dense_mse", "lstm: tape-life"."""
    return f"{scenario}: {study}" if study else scenario


class SweepJob(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to run: a scenario's cases and graphs, or with ``study`` that study on it.

    ``scenario`` is the name in its row, ``file`` its path. Limits are in seconds: ``timeout`` that
    of the whole job, ``request_timeout`` that of one request to a worker, None the default of what
    is run. ``fresh`` jobs use no stored results.
    """

    scenario: str
    file: str
    study: str = ""
    wanted: Wanted = Wanted()
    fresh: bool = False
    timeout: float
    request_timeout: float | None = None

    @property
    def name(self) -> str:
        """The scenario, and the study if it is one."""
        return job_name(self.scenario, self.study)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a job has no results, or not all of them."""

    kind: ProblemKind
    text: str = ""
    failure: Failure | None = None
    names: tuple[str, ...] = ()
    seconds: float = 0.0


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one job.

    ``report`` is that of a scenario, without arrays and graphs; ``findings`` are those of a study.
    """

    scenario: str
    study: str
    verdict: SweepVerdict
    problem: Problem | None = None
    report: Report | None = None
    findings: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    seconds: float = 0.0
    from_store: bool = False
    host: str = ""

    @property
    def name(self) -> str:
        """The scenario, and the study if it is one, as the job is called."""
        return job_name(self.scenario, self.study)


# As a report shows them, and as they are recorded in English


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """The alignment of two engines' graphs in short.

    ``left`` and ``right`` are the paired op nodes of each graph out of all, "12/14".
    ``divergences`` are sentences, the first divergence first.
    """

    left: str
    right: str
    divergences: tuple[str, ...]
    expected: bool


class SweepRow(msgspec.Struct, frozen=True, kw_only=True):
    """The row of a job in a report.

    ``reason`` is why a job is different, unsupported, refused or lost. ``cases`` are the verdicts
    by the cases' labels, ``unanswered`` the labels of those without a result of some engine,
    because its worker was lost or time ran out, ``unexpected`` the reasons why cases are
    unexpected, by their labels; ``pairs`` the alignments by both engines' names, ``findings``
    those about the nets, or of the study. ``environments`` has the versions in each environment that
    an engine names. ``from_store`` says that nothing was run, ``host`` where
    it ran.
    """

    scenario: str
    study: str
    verdict: SweepVerdict
    reason: str = ""
    seconds: float = 0.0
    from_store: bool = False
    cases: dict[str, CaseVerdict] = {}
    unanswered: tuple[str, ...] = ()
    unexpected: dict[str, str] = {}
    pairs: dict[str, PairRow] = {}
    findings: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    environments: dict[str, dict[str, str]] = {}
    host: str = ""

    @property
    def name(self) -> str:
        """The scenario, and the study if it is one, as the job is called."""
        return job_name(self.scenario, self.study)


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of a sweep, in the order of its jobs; ``unfinished`` are jobs without a row, by name.

    ``environments`` has the versions in each environment that an engine was run in by name.
    ``warnings`` name the differences between the machines on which it ran. ``seconds`` is the time
    of the whole.
    """

    schema: int = 1
    date: str
    seconds: float
    versions: dict[str, str]
    rows: tuple[SweepRow, ...]
    unfinished: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    environments: dict[str, dict[str, str]] = {}


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change in one row since a recorded sweep; ``what`` is a case, a pair, or the verdict."""

    name: str
    what: str
    before: str
    now: str
