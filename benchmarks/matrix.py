"""The full matrix of dense_mse on four engines, beside the bare framework calls run one after
another in one script.

The bare script is what a reader would paste: the code that each engine gives with its result, all
cases of all engines, in one process with both frameworks, one thread. Prints both times and their
ratio, which is to stay at most 1.5.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from explorer.exploration.explore import explore
from explorer.model.report import Report
from explorer.scenario.contract import find, load
from explorer.workers.process import ONE_THREAD, QUIET, ROOT
from explorer.workers.workers import Workers

ROUNDS = 2
LIMIT = 1.5

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


def bare(report: Report, folder: Path) -> float:
    """Seconds that one script takes for every case's code, one after another."""
    codes = [result.code for row in report.cases for result in row.results.values() if result.code]
    for index, code in enumerate(codes):
        (folder / f"{index:04}.py").write_text(code)
    environment = {**os.environ, **ONE_THREAD, **QUIET, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    command = [sys.executable, "-c", RUNNER, str(folder)]
    subprocess.run(command, env=environment, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Alternate the two, and print the ratio of their best times."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        seconds, report = explored()
        ours.append(seconds)
        with tempfile.TemporaryDirectory() as folder:
            theirs.append(bare(report, Path(folder)))
    cases = len(report.cases)
    print(
        f"dense_mse, {cases} cases on {len(report.cases[0].results)} engines, with central differences; best of {ROUNDS}"
    )
    print(
        f"explorer {min(ours):.1f} s, bare calls {min(theirs):.1f} s, ratio {min(ours) / min(theirs):.2f} (at most {LIMIT})"
    )


if __name__ == "__main__":
    main()
