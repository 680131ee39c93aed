"""How many planted mistakes a proven patch mends, in the net that has the mistake.

Takes the mistakes, the sets of them and the engines that ``benchmarks.causes`` takes. Says of each on stderr
which lines the patch changes.
"""

import difflib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure
from benchmarks._presenting import detail, present
from benchmarks.causes import ALL, TIMEOUT, chosen, options
from explorer.mending.mend import mend
from explorer.model.engines import engine_named
from explorer.model.graph import SideName
from explorer.model.patch import Patch
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.workers.workers import Workers
from tests.planted.mistake import plant_all


def measure(sets: list[tuple[str, ...]], engines: tuple[str, str]) -> Iterator[Figure]:
    """The share of the sets of mistakes that are mended, the changes run for one, and its seconds."""
    patches: list[Patch | None] = []
    seconds = []
    with Workers(TIMEOUT) as workers, tempfile.TemporaryDirectory() as folder:
        for names in sets:
            mistakes = tuple(ALL[name] for name in names)
            path = plant_all(mistakes, Path(folder))[0].path
            is_left = engine_named(engines[0]).framework == mistakes[0].framework
            side: SideName = "left" if is_left else "right"
            start = time.perf_counter()
            _, patch = mend(load(path), engines, workers, Store(fresh=True), side)
            seconds.append(time.perf_counter() - start)
            patches.append(patch)
            detail(f"{'mended' if patch else 'not mended':12} {' '.join(names)}")
            for line in changed_lines(patch) if patch else ():
                detail(f"             {line}")
    mended = [patch for patch in patches if patch]
    yield Figure(
        name="planted mistakes: mended by a proven patch",
        unit="%",
        basis="share",
        rounds=(100 * len(mended) / len(patches),),
        wanted="high",
        note=f"{len(mended)} of {len(patches)}",
    )
    yield Figure(name="one patch", unit="s", basis="wall", rounds=tuple(seconds))


def changed_lines(patch: Patch) -> list[str]:
    """The lines that a patch takes away and adds."""
    lines: list[str] = []
    for mended in patch.files:
        lines += difflib.ndiff(mended.before.splitlines(), mended.after.splitlines())
    return [line for line in lines if line[:2] in ("- ", "+ ")]


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(chosen(given), given.engines), given.figures))
