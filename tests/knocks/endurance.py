"""Runs the explorer again and again in one process, and sees that nothing grows.

``python -m tests.knocks.endurance --stored 1000 --fresh 30 --captures 40`` asks for a stored report 1000
times, for a new one 30 times in new workers, and one worker of each engine for 40 captures: memory,
processes, open files, threads and scratch folders stay as they are.
"""

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

import explorer
from explorer.folders import STORE
from explorer.model.cases import GradCase
from explorer.model.engines import Engine
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured
from explorer.workers.workers import Workers
from tests.knocks.harms import text
from tests.support.standard_engines import ENGINES

MEGABYTE = 10**6

MOST_GROWTH = 10.0
"""Megabytes that the second half of the runs may add: what is cached once is cached in the first."""

ROOT = Path(__file__).resolve().parents[2]

CAPTURED = {
    "torch": ROOT / "tests" / "nets" / "torch_residual.py",
    "mindspore": ROOT / "scenarios" / "conv_bn_relu_pool.py",
}
"""The net that is captured again and again, by framework: one record of it takes megabytes."""

KEPT_BY_FRAMEWORK = {"mindspore-graph": 1.0}
"""Megabytes that a framework keeps itself of each capture (of a compiled Cell: MindSpore 2.10.0)."""


class Held(NamedTuple):
    """What a process holds at a moment; ``memory`` is in megabytes."""

    memory: float
    processes: int
    files: int
    threads: int
    folders: int


class Growth(NamedTuple):
    """What was held in the middle of many runs, and at their end.

    Memory may have grown by ``most`` megabytes meanwhile.
    """

    runs: int
    middle: Held
    end: Held
    most: float = MOST_GROWTH

    @property
    def problems(self) -> list[str]:
        """What has grown."""
        grown = [
            f"{name} from {before} to {after}"
            for name, before, after in zip(
                Held._fields[1:], self.middle[1:], self.end[1:], strict=True
            )
            if after > before
        ]
        if self.end.memory - self.middle.memory > self.most:
            grown.append(f"memory from {self.middle.memory:.0f} to {self.end.memory:.0f} MB")
        return grown


def held(scratch: Path) -> Held:
    """What this process holds now."""
    process = psutil.Process()
    return Held(
        memory=process.memory_info().rss / MEGABYTE,
        processes=len(process.children(recursive=True)),
        files=process.num_fds(),
        threads=threading.active_count(),
        folders=len(list(scratch.iterdir())),
    )


def repeated(run: Callable[[], object], times: int, look: Callable[[], Held]) -> Growth:
    """Run it again and again, and look half-way and at the end."""
    middle = look()
    for number in range(times):
        run()
        if number == times // 2:
            middle = look()
    return Growth(times, middle, look())


@contextmanager
def folders_apart() -> Iterator[Path]:
    """Temporary files and the store go to new folders meanwhile; yields that of temporary files."""
    with tempfile.TemporaryDirectory(prefix="endurance-") as place:
        scratch = Path(place) / "scratch"
        scratch.mkdir()
        before = {name: os.environ.get(name) for name in ("TMPDIR", STORE)}
        tempdir = tempfile.tempdir
        os.environ.update({"TMPDIR": str(scratch), STORE: str(Path(place) / "store")})
        tempfile.tempdir = str(scratch)
        try:
            yield scratch
        finally:
            tempfile.tempdir = tempdir
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def growths(stored: int, fresh: int) -> dict[str, Growth]:
    """What grows over stored and over fresh runs on a small net for PyTorch alone."""
    with folders_apart() as scratch:
        net = scratch.with_name("net.py")
        net.write_text(text("pass", "module"))
        return {
            "stored": repeated(lambda: _asked(net), stored, lambda: held(scratch)),
            "fresh": repeated(lambda: _asked(net, fresh=True), fresh, lambda: held(scratch)),
        }


def growth_of_worker(engine: Engine, captures: int) -> Growth:
    """What grows where one worker captures the same graph again and again; memory is the worker's."""
    case = GradCase("value_and_grad", 0, "all", has_aux=True)
    net = NetRequest(scenario=str(CAPTURED[engine.framework]), engine=engine.name)
    request = CaseRequest(net, case)
    with folders_apart() as scratch, Workers() as workers:

        def capture() -> None:
            target = f"{engine.module}:capture"
            captured = workers.call(engine.captures_in, target, request, Captured)
            assert isinstance(captured, Captured)
            assert captured.result.outcome == "ok"

        def look() -> Held:
            memory = workers.memory(engine.captures_in) / MEGABYTE
            return held(scratch)._replace(memory=memory)

        growth = repeated(capture, captures, look)
    kept = KEPT_BY_FRAMEWORK.get(engine.name, 0.0) * captures / 2
    return growth._replace(most=max(MOST_GROWTH, kept))


def _asked(net: Path, *, fresh: bool = False) -> None:
    done = explorer.explore(net, engines=("torch-tape",), cases="main", fresh=fresh)
    (case,) = done.report.cases
    assert case.results["torch-tape"].outcome == "ok"


def main() -> int:
    """Exit with 1 where something has grown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stored", type=int, default=1000)
    parser.add_argument("--fresh", type=int, default=30)
    parser.add_argument("--captures", type=int, default=40)
    given = parser.parse_args()
    code = 0
    grown = growths(given.stored, given.fresh)
    for engine in ENGINES.values():
        grown[engine.name] = growth_of_worker(engine, given.captures)
    for name, growth in grown.items():
        print(f"{growth.runs} {name} runs: half-way {growth.middle}, at the end {growth.end}")
        for problem in growth.problems:
            print(f"  grown: {problem}")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
