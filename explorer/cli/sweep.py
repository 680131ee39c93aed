"""The ``sweep`` command: many scenarios, one table and one report."""

import sys
import time
from collections import deque
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from explorer.cli import exit_codes
from explorer.cli.options import SweepOptions, check_seconds
from explorer.cli.output import print_document, print_written
from explorer.cli.terminal import LINES, console
from explorer.model.errors import UsageError
from explorer.report.files import prepare_folder, put_file
from explorer.report.json import encode
from explorer.report.sweep.html import sweep_html
from explorer.report.sweep.json import sweep_document
from explorer.report.sweep.junit import sweep_xml
from explorer.report.sweep.terminal import show_sweep, sweep_table
from explorer.report.sweep.wording import VERDICTS
from explorer.sweep.changes import changes, recorded_sweep
from explorer.sweep.cluster import cluster_rows, connected, mismatches
from explorer.sweep.local import jobs_at_once, local_rows
from explorer.sweep.plan import jobs
from explorer.sweep.records import Change, Sweep, SweepJob, SweepRow
from explorer.text.language import _
from explorer.text.messages import one_line

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
    )
    folder = prepare_folder(options.out) if options.out else None
    rows = _Rows(planned)
    was_interrupted = False
    try:
        _run(options, planned, rows)
    except KeyboardInterrupt:
        was_interrupted = True
    sweep = rows.sweep()
    found = tuple(changes(recorded, sweep)) if recorded else None
    if options.as_json:
        print_document(sweep_document(sweep, found))
    else:
        show_sweep(sweep, found, console())
    if folder:
        _write(sweep, found, folder, options.as_json)
    return exit_codes.INTERRUPTED if was_interrupted else _exit_code(sweep, found)


def _check(options: SweepOptions) -> None:
    """Raise UsageError for wrong options before anything is run."""
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    if options.count is not None and options.count < 1:
        raise UsageError(_("--jobs must be at least 1, got {n}").format(n=options.count))
    if options.count is not None and options.scheduler:
        raise UsageError(
            _(
                "--jobs has no effect with --scheduler: each worker of the cluster runs as many"
                " jobs as it has threads; leave out one of the two"
            )
        )


class _Rows:
    """The rows of the jobs that are done so far."""

    def __init__(self, planned: list[SweepJob]) -> None:
        self._planned = planned
        self._start = time.perf_counter()
        self._rows: dict[str, SweepRow] = {}
        self.warnings: list[str] = []

    def take(self, rows: Iterable[SweepRow], display: "SweepDisplay") -> None:
        """Keep and show each row as it comes."""
        for row in rows:
            self._rows[row.name] = row
            display.done(row)

    def sweep(self) -> Sweep:
        """The record of all that is done, in the order of the jobs."""
        names = [job.name for job in self._planned]
        versions: dict[str, str] = {}
        for row in self._rows.values():
            versions.update(row.versions)
        return Sweep(
            date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            seconds=time.perf_counter() - self._start,
            versions=versions,
            rows=tuple(self._rows[name] for name in names if name in self._rows),
            unfinished=tuple(name for name in names if name not in self._rows),
            warnings=tuple(self.warnings),
        )


def _run(options: SweepOptions, planned: list[SweepJob], rows: _Rows) -> None:
    """Run the jobs here or on a cluster."""
    if not options.scheduler:
        with SweepDisplay(len(planned)) as display:
            count = options.count or jobs_at_once()
            rows.take(local_rows(planned, count, display.started), display)
        return
    with connected(options.scheduler) as client:
        rows.warnings += mismatches(client)
        with SweepDisplay(len(planned)) as display:
            rows.take(cluster_rows(planned, client), display)


def _write(sweep: Sweep, found: tuple[Change, ...] | None, folder: Path, as_json: bool) -> None:
    """Write the report as HTML, JSON and JUnit's XML, and say so."""
    files = {
        "sweep.html": sweep_html(sweep, found).encode(),
        "sweep.json": encode(sweep_document(sweep, found)),
        "junit.xml": sweep_xml(sweep, found or ()),
    }
    for name, content in files.items():
        path = put_file(folder / name, content)
        if not as_json:
            print_written(path)


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
            parts.append(sweep_table(self._rows))
        running = list(self._running.items())
        text = _("{name}: running, {seconds} s")
        for name, start in running:
            parts.append(Text(text.format(name=one_line(name), seconds=f"{now - start:.0f}")))
        waiting = self._total - self._count - len(running)
        text = _("{done} done, {waiting} waiting").format(done=self._count, waiting=waiting)
        return Group(*parts, Text(text, "dim"))
