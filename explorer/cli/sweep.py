"""The ``sweep`` command: many scenarios, one table and one report."""

import time
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

import msgspec

from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.options import check_seconds
from explorer.cli.output import print_document, print_written
from explorer.cli.sweep_display import SweepDisplay
from explorer.cli.terminal import console
from explorer.model.errors import UsageError
from explorer.report.files import prepare_folder, put_file
from explorer.report.json import encode
from explorer.report.junit import sweep_xml
from explorer.report.schemas import sweep_document
from explorer.report.sweep import sweep_html, terminal_blocks
from explorer.sweep.changes import changes, recorded_sweep
from explorer.sweep.cluster import cluster_rows, connected, mismatches
from explorer.sweep.local import jobs_at_once, local_rows
from explorer.sweep.plan import jobs
from explorer.sweep.records import Change, Sweep, SweepJob, SweepRow

BAD = ("refused", "lost")
"""Verdicts on jobs without complete results."""


class SweepOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the ``sweep`` command, as typed.

    ``count`` is the number of jobs side by side, None what the machine has room for; limits are in seconds.
    """

    patterns: list[str]
    studies: bool
    count: int | None
    out: Path | None
    against: Path | None
    scheduler: str | None
    device: str
    fresh: bool
    as_json: bool
    timeout: float
    request_timeout: float | None


def run_sweep(options: SweepOptions) -> int:
    """Run the jobs; print their table, write the report, and say what has changed."""
    _check(options)
    recorded = recorded_sweep(options.against) if options.against else None
    planned = jobs(
        options.patterns,
        studies=options.studies,
        device=options.device,
        fresh=options.fresh,
        timeout=options.timeout,
        request_timeout=options.request_timeout,
    )
    folder = prepare_folder(options.out) if options.out else None
    course = _Course(planned)
    was_interrupted = False
    try:
        _run(options, planned, course)
    except KeyboardInterrupt:
        was_interrupted = True
    sweep = course.sweep()
    found = tuple(changes(recorded, sweep)) if recorded else None
    if options.as_json:
        print_document(sweep_document(sweep, found))
    else:
        show(terminal_blocks(sweep, found), console())
    if folder:
        _write(sweep, found, folder, options.as_json)
    return exit_codes.INTERRUPTED if was_interrupted else _exit_code(sweep, found)


def _check(options: SweepOptions) -> None:
    """Raise UsageError for wrong options before anything is run."""
    check_seconds("--timeout", options.timeout)
    if options.request_timeout is not None:
        check_seconds("--request-timeout", options.request_timeout)
    if options.count is not None and options.count < 1:
        raise UsageError(f"--jobs must be at least 1, got {options.count}")
    if options.count is not None and options.scheduler:
        raise UsageError(
            "--jobs has no effect with --scheduler: each worker of the cluster runs as many jobs as it"
            " has threads; leave out one of the two"
        )


class _Course:
    """What has come of the jobs so far."""

    def __init__(self, planned: list[SweepJob]) -> None:
        self._planned = planned
        self._start = time.perf_counter()
        self._rows: dict[str, SweepRow] = {}
        self.warnings: list[str] = []

    def take(self, rows: Iterable[SweepRow], display: SweepDisplay) -> None:
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


def _run(options: SweepOptions, planned: list[SweepJob], course: _Course) -> None:
    """Run the jobs here or on a cluster."""
    if not options.scheduler:
        with SweepDisplay(len(planned)) as display:
            count = options.count or jobs_at_once()
            course.take(local_rows(planned, count, display.started), display)
        return
    with connected(options.scheduler) as client:
        course.warnings += mismatches(client)
        with SweepDisplay(len(planned)) as display:
            course.take(cluster_rows(planned, client), display)


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
