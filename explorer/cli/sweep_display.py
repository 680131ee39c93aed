"""What stderr shows of a sweep while it runs: a live table on a terminal, else a line per job."""

import sys
import time
from collections import deque
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from explorer.blocks.terminal import folded_table
from explorer.cli.terminal import LINES
from explorer.report.sweep import VERDICTS, jobs_table
from explorer.sweep.records import SweepJob, SweepRow
from explorer.text.language import _
from explorer.text.messages import one_line


class SweepDisplay:
    """A context manager; ``started`` may be called from any thread, ``done`` from one."""

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
            how = "stored" if row.from_store else f"{row.seconds:.1f} s"
            line = f"{one_line(row.name)}: {_(VERDICTS[row.verdict])} ({how})"
            print(f"{self._count}/{self._total} {line}", file=sys.stderr, flush=True)

    def _shown(self) -> Group:
        now = time.perf_counter()
        parts = [folded_table(jobs_table(self._rows))] if self._rows else []
        lines = [
            Text(f"{one_line(name)}: running, {now - start:.0f} s")
            for name, start in list(self._running.items())
        ]
        waiting = self._total - self._count - len(lines)
        return Group(*parts, *lines, Text(f"{self._count} done, {waiting} waiting", "dim"))
