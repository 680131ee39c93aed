"""What the commands on a scenario share: the question as asked, checked before any work starts, and
its run with progress.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.errors import UsageError
from explorer.report.wording import short
from explorer.scenario import devices
from explorer.scenario.contract import Scenario, find, load
from explorer.scenario.matrix import matrix
from explorer.text.choices import choose, refusal

if TYPE_CHECKING:
    from rich.console import Console

MAX_ORDER = 4
"""Nested gradients grow exponentially; both frameworks were seen to work up to here (MindSpore
2.10.0, PyTorch 2.13.0).
"""

PIPE_WIDTH = 120
"""Columns of a table that goes to a file or a pipe, unless COLUMNS says otherwise."""

Progress = Callable[[str, int, int], None]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks of a scenario, as given."""

    name: str
    device: str
    engines: list[str] | None
    order: int
    case: str | None
    timeout: float


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The same, checked: every name is one that there is."""

    scenario: Scenario
    device: str
    engines: tuple[str, ...]
    order: int
    case: str | None
    timeout: float


def check(asked: Asked) -> Question:
    """Everything that can be refused without a framework is refused here; raises UsageError."""
    devices.parse(asked.device)
    engines = tuple(
        dict.fromkeys(choose("engine", name, ENGINES) for name in asked.engines or ENGINES)
    )
    if not 1 <= asked.order <= MAX_ORDER:
        raise UsageError(f"--order {asked.order} is out of range; allowed: 1 to {MAX_ORDER}")
    if not asked.timeout > 0:
        raise UsageError(
            f"--timeout {asked.timeout:g} is no time limit; allowed: any number of seconds above 0"
        )
    scenario = load(find(asked.name))
    _defined(scenario, asked.engines or [])
    case = label(scenario, asked.case, asked.order) if asked.case else None
    return Question(
        scenario=scenario,
        device=asked.device,
        engines=engines,
        order=asked.order,
        case=case,
        timeout=asked.timeout,
    )


def _defined(scenario: Scenario, engines: list[str]) -> None:
    """An engine asked for by name needs a net."""
    here = [name for name, engine in ENGINES.items() if scenario.defines(engine.framework)]
    for name in engines:
        if name not in here:
            raise UsageError(
                f"scenario {scenario.name} has no net for {name!r}; it has one for {', '.join(here)}"
            )


def label(scenario: Scenario, given: str, order: int) -> str:
    """The label of the case called ``given``, by its label or its short name, white space aside;
    UsageError shows the nearest.
    """
    cases = matrix(len(scenario.inputs()), has_parameters=True, order=order)
    known: dict[str, GradCase] = {
        name: case for case in cases for name in (case.label, short(case))
    }
    spaced = {"".join(name.split()): case for name, case in known.items()}
    found = spaced.get("".join(given.split()))
    if found is None:
        raise UsageError(
            refusal(f"no case is called {given!r}", given, [short(case) for case in cases])
        )
    return found.label


def console() -> "Console":
    """Standard output: no markup, no highlighting; as wide as the terminal, or PIPE_WIDTH where
    there is none.
    """
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars on stderr while the work is on, one a stage, gone when it is done; nothing where stderr
    is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
    from rich.progress import Progress as Bars

    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:

        def step(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield step
