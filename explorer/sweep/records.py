"""The records of a sweep: its jobs, a row for each that is done, and what has changed since another."""

from typing import Literal

import msgspec

from explorer.exploration.options import Wanted
from explorer.model.report import CaseVerdict

SweepVerdict = Literal["as_expected", "different", "measured", "unsupported", "refused", "lost"]
"""What became of a job.

A scenario is "as_expected" or "different"; a study is "measured", "different" where an engine refuses
the scenario that another one answers for, or "unsupported" where it cannot be run on the scenario.
"refused" is a file that is no scenario or whose net raises, "lost" a job whose process died or ran out
of time, wholly or in part.
"""


class SweepJob(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to run: a scenario's cases and graphs, or with ``study`` that study on it.

    ``scenario`` is what its row is called, ``file`` its path. Limits are in seconds: ``timeout`` that of
    the whole job, ``request_timeout`` that of one request to a worker, None the default of what is run.
    ``fresh`` jobs are not answered from the store.
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
        """The scenario, and the study if it is one: "dense_mse", "lstm: tape-life"."""
        return f"{self.scenario}: {self.study}" if self.study else self.scenario


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """The alignment of two engines' graphs in short.

    ``left`` and ``right`` are the paired op nodes of each side and all it has, "12/14".
    ``divergences`` are sentences, the first divergence first.
    """

    left: str
    right: str
    divergences: tuple[str, ...]
    expected: bool


class SweepRow(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one job.

    ``reason`` says in a sentence what is different, unsupported, refused or lost. ``cases`` are the
    verdicts by the cases' labels, ``unanswered`` the labels of those that some engine was asked in
    vain, since its worker was lost or time ran out, ``unexpected`` why a case is not as the scenario
    foresees it, by the labels of those that are not; ``pairs`` the alignments by both engines' names,
    ``findings`` what is said about the nets, or by the study. ``from_store`` says that nothing was run,
    ``host`` where it ran.
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
    host: str = ""

    @property
    def name(self) -> str:
        """The scenario, and the study if it is one, as the job is called."""
        return f"{self.scenario}: {self.study}" if self.study else self.scenario


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of a sweep, in the order of its jobs; ``unfinished`` are jobs without a row, by name.

    ``warnings`` say what tells the machines apart on which it ran. ``seconds`` is the time of the whole.
    """

    schema: int = 1
    date: str
    seconds: float
    versions: dict[str, str]
    rows: tuple[SweepRow, ...]
    unfinished: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What is another in one row than in a recorded sweep; ``what`` is a case, a pair, or the verdict."""

    name: str
    what: str
    before: str
    now: str
