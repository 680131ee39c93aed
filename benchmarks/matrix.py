"""The full matrix of dense_mse on four engines, beside the bare framework calls in one script.

The bare script is what a reader would paste: the code that each engine gives with its result, all
cases of all engines one after another, in one process with both frameworks, one thread.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure, ratios
from benchmarks._presenting import parser, present
from explorer.exploration.explore import explore
from explorer.model.report import Report
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.workers.environments import ONE_THREAD, QUIET, ROOT
from explorer.workers.workers import Workers

ROUNDS = 2
LIMIT = 0.6
"""How many times the bare calls' time the explorer may take."""

RUNNER = """
import contextlib, io, pathlib, sys, warnings
warnings.simplefilter("ignore")
import torch
torch.set_num_threads(1)
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "bare"})
"""


def explored() -> tuple[float, Report]:
    """Seconds that the explorer takes for the matrix, workers started and stopped, and its report."""
    start = time.perf_counter()
    with Workers() as workers:
        report = explore(load(find("dense_mse")), workers, graphs=False)
    return time.perf_counter() - start, report


def bare_calls(report: Report, folder: Path) -> float:
    """Seconds that one script takes for every case's code, one after another."""
    programs = []
    for case in report.cases:
        programs += [result.code for result in case.results.values() if result.code]
    for index, program in enumerate(programs):
        (folder / f"{index:04}.py").write_text(program)
    environment = {**os.environ, **ONE_THREAD, **QUIET, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUNNER, str(folder)]
    start = time.perf_counter()
    subprocess.run(command, env=environment, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure() -> Iterator[Figure]:
    """The two take turns; both times, and their ratio."""
    turns = []
    for _ in range(ROUNDS):
        seconds, report = explored()
        with tempfile.TemporaryDirectory() as folder:
            turns.append((seconds, bare_calls(report, Path(folder))))
    explorer, bare = zip(*turns, strict=True)
    cases, engines = len(report.cases), len(report.cases[0].results)
    yield Figure(
        name="dense_mse: explorer, central differences too",
        unit="s",
        basis="wall",
        rounds=explorer,
        note=f"{cases} cases on {engines} engines",
    )
    yield Figure(name="dense_mse: bare calls", unit="s", basis="wall", rounds=bare)
    yield Figure(
        name="explorer ÷ bare calls",
        unit="×",
        basis="ratio of wall times",
        rounds=ratios(explorer, bare),
        bar=LIMIT,
    )


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
