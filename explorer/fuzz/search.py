"""The search: nets are drawn, looked at, cut down, and classed."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Literal

import msgspec

from explorer.exploration.explore import explore
from explorer.fuzz.judging import Sighting, seen
from explorer.fuzz.known import reason_known
from explorer.fuzz.program import Program, drawn, scenario_text
from explorer.fuzz.shrinking import neighbours, shrunk
from explorer.model.cases import GradCase
from explorer.model.errors import ScenarioError, WorkerFaultError
from explorer.scenario.load import load
from explorer.text.language import ENGLISH, said_in
from explorer.workers.workers import Workers

FindingClass = Literal["framework", "ours", "unsteady", "ill_conditioned", "known"]
"""A class of findings.

"framework": engines give another gradient, or none; "ours": the explorer itself is wrong;
"unsteady": the same net, asked again, does not show it; "ill_conditioned": nothing of it is left at
points close by; "known": it is on the recorded list.
"""

OURS = ("oracle", "graph", "fault", "lost")
"""Kinds of sightings that first accuse the explorer."""

QUIET = ("agrees", "refused")
"""Kinds of sightings that are no findings."""

NEIGHBOURS = 3
"""At how many points close by a difference is looked for again."""

LIFE = 150
"""How many nets the same workers are asked: frameworks keep something of each."""

SECONDS = 120.0
"""The limit of one request to a worker."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A net that shows something, cut down; ``number`` is that of the net it was cut from."""

    number: int
    found: FindingClass
    sighting: Sighting
    program: Program
    reason: str = ""
    operators: tuple[str, ...]


class Looked(msgspec.Struct, frozen=True):
    """One net that was looked at, and the finding where there is one."""

    number: int
    sighting: Sighting
    operators: tuple[str, ...]
    finding: Finding | None = None


def search(numbers: range, seed: int) -> Iterator[Looked]:
    """Look at the nets with these numbers, one after another; each is drawn from ``seed`` and its number."""
    with (
        tempfile.TemporaryDirectory(prefix="explorer-fuzz-") as folder,
        Workers(SECONDS) as workers,
    ):
        watch = Watch(workers, Path(folder))
        for count, number in enumerate(numbers, 1):
            program = drawn(Random(f"{seed}/{number}"))
            sighting = watch.look(program)
            finding = None
            if sighting.kind not in QUIET:
                finding = _finding(number, program, sighting, watch)
            yield Looked(number, sighting, program.operators, finding)
            if count % LIFE == 0:
                workers.close()  # the next request starts fresh ones


class Watch:
    """Looks at nets, in workers."""

    def __init__(self, workers: Workers, folder: Path) -> None:
        self._workers = workers
        self._folder = folder
        self._count = 0

    @said_in(ENGLISH)
    def look(self, program: Program, graphs: bool = True) -> Sighting:
        """What is seen of a net; without ``graphs``, of its gradients alone.

        Of a gradient of a gradient that is all: its graphs are large, and cost several times as much.
        """
        self._count += 1
        # A name of its own: a module that was compiled before is not compiled again.
        file = self._folder / f"net_{self._count}.py"
        file.write_text(scenario_text(program, "A random net", ""), encoding="utf-8")
        label = GradCase("grad", 0, order=2).label if program.order == 2 else None
        known = set(sys.modules)
        try:
            report = explore(
                load(file),
                self._workers,
                graphs=graphs and program.order == 1,
                order=program.order,
                graph_case=label,
                selection="main",
            )
        except ScenarioError as error:
            return Sighting("refused", (), str(error))
        except WorkerFaultError as error:
            return Sighting("fault", (), str(error).strip().rpartition("\n")[2])
        finally:
            for name in set(sys.modules) - known:
                del sys.modules[name]
            file.unlink()
        return seen(report)


def _finding(number: int, program: Program, sighting: Sighting, watch: Watch) -> Finding:
    """A sighting cut down and classed."""
    operators = program.operators
    reason = reason_known(program, sighting)
    found: FindingClass = "known"
    if not reason:
        found = "unsteady"
        needs_graphs = sighting.kind not in ("differs", "raises")

        def shows(candidate: Program) -> bool:
            """Whether a smaller net shows the same."""
            return watch.look(candidate, needs_graphs).is_like(sighting)

        smaller = shrunk(program, shows)
        again = watch.look(smaller)
        if again.is_like(sighting):
            program, sighting = smaller, again
            reason = reason_known(program, sighting)
            found = "known" if reason else _class(program, sighting, watch)
    return Finding(
        number=number,
        found=found,
        sighting=sighting,
        program=program,
        reason=reason,
        operators=operators,
    )


def _class(program: Program, sighting: Sighting, watch: Watch) -> FindingClass:
    """The class of a finding that is not on the list."""
    if sighting.kind in ("differs", "oracle", "values"):
        elsewhere = [watch.look(near) for near in neighbours(program, NEIGHBOURS)]
        if not any(other.is_like(sighting) for other in elsewhere):
            return "ill_conditioned"
    return "ours" if sighting.kind in OURS else "framework"
