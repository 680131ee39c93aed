"""The terminal through Rich: a console on standard output, and bars on stderr during work."""

import os
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as ProgressBars
from rich.text import Text

from explorer.text.language import _, later
from explorer.workers.queue import Progress

PIPE_WIDTH = 120
"""Columns of a table that goes to a file or a pipe, unless COLUMNS says otherwise."""

LINES = 10
"""The number of complete cases that are shown while others are on their way."""

STAGES = (
    later("starting workers"),
    later("graphs"),
    later("noise"),
    later("central differences"),
    later("measurements"),
    later("checks"),
)
"""The stages of runs, each of which has a bar."""

BAR_COLUMNS = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())


def console() -> Console:
    """Standard output: no markup, no highlighting.

    As wide as the terminal, or PIPE_WIDTH where there is none.
    """
    is_known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if is_known else PIPE_WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


class Display:
    """What a terminal shows of an exploration while it runs: new lines, and a bar per stage.

    Nothing without a ``console``.
    """

    def __init__(self, console: Console | None) -> None:
        self._console = console
        self._lines: deque[Text] = deque(maxlen=LINES)
        self._bars = ProgressBars(*BAR_COLUMNS, console=console)
        self._tasks: dict[str, TaskID] = {}
        self._live: Live | None = None

    def _shown(self) -> Group:
        return Group(*self._lines, self._bars)

    def step(self, stage: str, done: int, total: int) -> None:
        """Move the bar of a stage; the first call makes it."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(_(stage), total=total)
        self._bars.update(self._tasks[stage], completed=done, total=total)

    def add_line(self, line: Text) -> None:
        """Add a line; the oldest one goes where there are too many."""
        self._lines.append(line)

    def start(self) -> None:
        """Put it on the screen."""
        if self._console is None:
            return
        # A Live that was stopped would erase as many lines as it had when it is started again.
        self._live = Live(
            get_renderable=self._shown,
            console=self._console,
            transient=True,
            # What is printed meanwhile is printed out of the way.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def stop(self) -> None:
        """Take it off the screen."""
        if self._live:
            self._live.stop()
            self._live = None

    @contextmanager
    def out_of_the_way(self) -> Iterator[None]:
        """Take it off the screen for the time of the context, in which something is printed."""
        self.stop()
        try:
            yield
        finally:
            self.start()


@contextmanager
def display() -> Iterator[Display]:
    """What stderr shows of a run; nothing if it is not a terminal."""
    console = Console(stderr=True) if sys.stderr.isatty() else None
    shown = Display(console)
    shown.start()
    try:
        yield shown
    finally:
        shown.stop()


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars on stderr during the work, one per stage, removed when it is done."""
    with display() as shown:
        yield shown.step
