"""What capture costs in MindSpore: each engine bare, with its graph alone, and with every value,
side by side in one run.

Bare is the very call that the capture makes (same net, same form of the gradient, same wrapper), in
a process that was told nothing of capture. Fresh processes take turns, TURNS times; every figure is
the best of all ROUNDS in them, by the wall clock and in processor time, from building the net to
the finished record.

Run: python benchmarks/mindspore_capture.py [BLOCKS] (a residual net of that many blocks; 50 by
default)
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "nets" / "ms_residual.py"
TURNS = 2
ROUNDS = 2
LIMITS = {
    ("mindspore-graph", "topology"): 1.15,
    ("mindspore-graph", "values"): 3.0,
    ("mindspore-tape", "topology"): 1.3,
    ("mindspore-tape", "values"): 1.3,
}
"""How many times the bare call a capture may take in processor time."""

Seconds = tuple[float, float]
"""By the wall clock, and in processor time."""

MEASURE = """
import importlib, sys, time
from explorer.cases import GradCase
from explorer.engines.mindspore_answer import derivative, weights
from explorer.engines.mindspore_gradnet import wrapped
from explorer.engines.mindspore_net import build, flat
from explorer.records import CaseRequest, NetRequest

scenario, engine, what, rounds = *sys.argv[1:4], int(sys.argv[4])
case = GradCase("grad", 0, "all", True)
request = NetRequest(scenario=scenario, engine=engine)
module = importlib.import_module("explorer.engines." + engine.replace("-", "."))
compiled = GradCase("value_and_grad", 0, "all", True)
walls, processor = [], []
for _ in range(rounds):
    start, used = time.perf_counter(), time.process_time()
    if what == "bare":
        net = build(request)
        asked = weights(net, case)
        call = wrapped(net.call, compiled, asked) if engine == "mindspore-graph" else derivative(net.call, case, asked)
        for tensor in flat(call(*net.arguments)):
            tensor.asnumpy()
    else:
        captured = module.capture(CaseRequest(request, case, values=what == "values"))
        assert captured.graphs, captured.result.error
    walls.append(time.perf_counter() - start)
    processor.append(time.process_time() - used)
print(min(walls), min(processor))
"""


def seconds(engine: str, what: str, blocks: int, scratch: Path) -> Seconds:
    """The best of ROUNDS by both clocks, in a process of its own, started as the worker for that
    work is.
    """
    from explorer.workers.environments import capture_environment

    here = Path(tempfile.mkdtemp(prefix=f"{engine}-{what}-", dir=scratch))
    net = here / "ms_residual.py"
    net.write_text(SCENARIO.read_text().replace("BLOCKS = 50", f"BLOCKS = {blocks}"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_v": "4"}
    if engine == "mindspore-graph" and what != "bare":
        environment |= capture_environment(here, values=what == "values")
    arguments = [sys.executable, "-c", MEASURE, str(net), engine, what, str(ROUNDS)]
    done = subprocess.run(
        arguments, cwd=here, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    wall, processor = done.stdout.split()[-2:]
    return float(wall), float(processor)


def best(engine: str, blocks: int, scratch: Path) -> dict[str, Seconds]:
    """What each kind of run takes, taking turns so that a busy moment of the machine meets all of
    them.
    """
    found: dict[str, Seconds] = {}
    for _ in range(TURNS):
        for what in ("bare", "topology", "values"):
            wall, processor = seconds(engine, what, blocks, scratch)
            before = found.get(what, (wall, processor))
            found[what] = min(before[0], wall), min(before[1], processor)
    return found


def main() -> int:
    """Measure and print one line an engine, kind of capture and clock; 1 when a limit is broken."""
    sys.path.insert(0, str(ROOT))
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("mindspore-graph", "mindspore-tape"):
            found = best(engine, blocks, Path(folder))
            for what in ("topology", "values"):
                ratios = [
                    taken / bare for taken, bare in zip(found[what], found["bare"], strict=True)
                ]
                for clock, (name, ratio) in enumerate(
                    zip(("wall", "processor"), ratios, strict=True)
                ):
                    costs = f"bare {found['bare'][clock]:.2f} s, {what} {found[what][clock]:.2f} s, ratio {ratio:.2f}"
                    print(f"{engine:16} {blocks} blocks, {name:9}: {costs}", flush=True)
                good = good and ratios[1] <= LIMITS[engine, what]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
