"""The terminal through Rich: a console on standard output, and bars on stderr during work."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as ProgressBars

from explorer.workers.queue import Progress, no_progress

PIPE_WIDTH = 120
"""Columns of a table that goes to a file or a pipe, unless COLUMNS says otherwise."""


def console() -> Console:
    """Standard output: no markup, no highlighting.

    As wide as the terminal, or PIPE_WIDTH where there is none.
    """
    is_known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if is_known else PIPE_WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars on stderr while the work is on, one a stage, gone when it is done.

    Nothing where stderr is no terminal.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    # Stages are not known beforehand: a stage gets its bar when it is first heard of.
    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with ProgressBars(*columns, console=Console(stderr=True), transient=True) as bars:

        def step(stage: str, done: int, total: int) -> None:
            """Move the bar of a stage; the first call makes it."""
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield step
