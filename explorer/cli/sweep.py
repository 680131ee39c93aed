"""The ``sweep`` command: many scenarios, one table and one report."""

import sys
import time
from collections import deque
from collections.abc import Iterable
from datetime import datetime, timezone
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from explorer.blocks.terminal import folded_table, show
from explorer.cli import exit_codes
from explorer.cli.options import SweepOptions, check_seconds
from explorer.cli.output import prepared, print_document, write_file
from explorer.cli.terminal import LINES, console
from explorer.environments import known
from explorer.model.errors import UsageError
from explorer.report.json import encode
from explorer.report.junit import sweep_xml
from explorer.report.schemas import sweep_document
from explorer.report.sweep import VERDICTS, jobs_table, sweep_html, terminal_blocks
from explorer.sweep.changes import changes, recorded_sweep
from explorer.sweep.execution import (
    cluster_results,
    connected,
    jobs_at_once,
    local_results,
    mismatches,
)
from explorer.sweep.jobs import jobs
from explorer.sweep.records import Change, JobResult, Sweep, SweepJob, SweepRow
from explorer.sweep.rows import row_of
from explorer.text.language import ENGLISH, _, said_in
from explorer.text.messages import one_line
from explorer.words.sweeps import mismatch

BAD = ("refused", "lost")
"""Verdicts on jobs without complete results."""


def run_sweep(options: SweepOptions) -> int:
    """Run the jobs; print their table, write the report, and say what has changed."""
    _check(options)
    recorded = recorded_sweep(options.against) if options.against else None
    planned = jobs(
        options.patterns or [],
        studies=options.studies,
        device=options.device,
        fresh=options.fresh,
        timeout=options.timeout,
        request_timeout=options.request_timeout,
        homes=known.homes_of(options.on or ()),
    )
    folder = prepared(options.out)
    results = _Results(planned)
    was_interrupted = False
    try:
        _run(options, planned, results)
    except KeyboardInterrupt:
        was_interrupted = True
    results.end()
    # What is recorded and compared is English, whatever the reader's language.
    with said_in(ENGLISH):
        sweep = results.sweep()
        found = tuple(changes(recorded, sweep)) if recorded else None
    if options.as_json:
        print_document(sweep_document(sweep, found))
    else:
        show(terminal_blocks(results.sweep(), found), console())
    if folder:
        files = {
            "sweep.html": sweep_html(results.sweep(), found).encode(),
            "sweep.json": encode(sweep_document(sweep, found)),
            "junit.xml": sweep_xml(sweep, found or ()),
        }
        for name, content in files.items():
            write_file(folder / name, content, is_quiet=options.as_json)
    return exit_codes.INTERRUPTED if was_interrupted else _exit_code(sweep, found)


def _check(options: SweepOptions) -> None:
    """Raise UsageError for wrong options before anything is run."""
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    if options.on and (options.studies or options.scheduler):
        option = "--studies" if options.studies else "--scheduler"
        text = _("--on runs engines on scenarios, on this machine; leave out {option}")
        raise UsageError(text.format(option=option))
    if options.count is not None and options.count < 1:
        raise UsageError(_("--jobs must be at least 1, got {n}").format(n=options.count))
    if options.count is not None and options.scheduler:
        raise UsageError(
            _(
                "--jobs has no effect with --scheduler: each worker of the cluster runs as many"
                " jobs as it has threads; leave out one of the two"
            )
        )


class _Results:
    """The results of the jobs that are done so far."""

    def __init__(self, planned: list[SweepJob]) -> None:
        self._planned = planned
        self._start = time.perf_counter()
        self._seconds = 0.0
        self._date = ""
        self._results: dict[str, JobResult] = {}
        self.mismatches: dict[str, dict[str, tuple[str, str]]] = {}

    def take(self, results: Iterable[JobResult], display: "SweepDisplay") -> None:
        """Keep and show each result as it comes."""
        for result in results:
            self._results[result.name] = result
            display.done(row_of(result))

    def end(self) -> None:
        """Note that no more results come."""
        self._seconds = time.perf_counter() - self._start
        self._date = datetime.now(timezone.utc).isoformat(timespec="seconds")

    def sweep(self) -> Sweep:
        """All that is done, in the order of the jobs and in the language of the moment."""
        rows: list[SweepRow] = []
        unfinished: list[str] = []
        for job in self._planned:
            if job.name in self._results:
                rows.append(row_of(self._results[job.name]))
            else:
                unfinished.append(job.name)
        versions: dict[str, str] = {}
        environments: dict[str, dict[str, str]] = {}
        for result in self._results.values():
            versions.update(result.versions)
            if result.report:
                environments.update(result.report.environments)
        return Sweep(
            date=self._date,
            seconds=self._seconds,
            versions=versions,
            rows=tuple(rows),
            unfinished=tuple(unfinished),
            environments=environments,
            warnings=tuple(mismatch(*worker) for worker in self.mismatches.items()),
        )


def _run(options: SweepOptions, planned: list[SweepJob], results: _Results) -> None:
    """Run the jobs here or on a cluster."""
    if not options.scheduler:
        with SweepDisplay(len(planned)) as display:
            count = options.count or jobs_at_once()
            results.take(local_results(planned, count, display.started), display)
        return
    with connected(options.scheduler) as client:
        results.mismatches = mismatches(client)
        with SweepDisplay(len(planned)) as display:
            results.take(cluster_results(planned, client), display)


def _exit_code(sweep: Sweep, found: tuple[Change, ...] | None) -> int:
    """LOST if results are incomplete; DIFFERENT for changes since a recorded sweep, else for differences."""
    if any(row.verdict in BAD for row in sweep.rows):
        return exit_codes.LOST
    if found is not None:
        return exit_codes.DIFFERENT if found else exit_codes.AS_EXPECTED
    is_different = any(row.verdict == "different" for row in sweep.rows)
    return exit_codes.DIFFERENT if is_different else exit_codes.AS_EXPECTED


class SweepDisplay:
    """What stderr shows of a sweep while it runs: a table on a terminal, else a line per job.

    A context manager; ``started`` may be called from any thread, ``done`` from one.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._count = 0
        self._running: dict[str, float] = {}
        self._rows: deque[SweepRow] = deque(maxlen=LINES)
        self._live: Live | None = None
        if sys.stderr.isatty():
            console = Console(stderr=True)
            self._live = Live(get_renderable=self._shown, console=console, transient=True)

    def __enter__(self) -> "SweepDisplay":
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def started(self, job: SweepJob) -> None:
        """Note that a job has begun."""
        self._running[job.name] = time.perf_counter()

    def done(self, row: SweepRow) -> None:
        """Note that a job is done."""
        self._count += 1
        self._running.pop(row.name, None)
        self._rows.append(row)
        if not self._live:
            how = _("stored") if row.from_store else f"{row.seconds:.1f} s"
            line = _("{name}: {verdict} ({how})").format(
                name=one_line(row.name), verdict=_(VERDICTS[row.verdict]), how=how
            )
            print(f"{self._count}/{self._total} {line}", file=sys.stderr, flush=True)

    def _shown(self) -> Group:
        now = time.perf_counter()
        parts: list[Table | Text] = []
        if self._rows:
            parts.append(folded_table(jobs_table(self._rows)))
        running = list(self._running.items())
        text = _("{name}: running, {seconds} s")
        for name, start in running:
            parts.append(Text(text.format(name=one_line(name), seconds=f"{now - start:.0f}")))
        waiting = self._total - self._count - len(running)
        text = _("{done} done, {waiting} waiting").format(done=self._count, waiting=waiting)
        return Group(*parts, Text(text, "dim"))
