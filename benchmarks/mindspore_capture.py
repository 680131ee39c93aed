"""What capture costs in MindSpore, beside the bare call.

Each engine is timed bare, with its graph alone, and with every value, in one run. Bare is the very
call that the capture makes (same net, same form of the gradient, same wrapper), in a process that
was told nothing of capture. Fresh processes take turns, TURNS times; every figure is the best of
all ROUNDS in them, by the wall clock and in processor time, from building the net to the finished
record.

Run: python -m benchmarks.mindspore_capture [BLOCKS] (a residual net of that many blocks; 50 by
default)
"""

import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest, NetRequest
from explorer.workers.environments import capture_environment

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

CAPTURES = ("topology", "values")
CASE = GradCase("grad", 0, "all", True)

Seconds = tuple[float, float]
"""By the wall clock, and in processor time."""


def bare(request: NetRequest, case: GradCase = CASE) -> None:
    """The call that the capture of a case makes, and nothing else."""
    # Imported here: only the measuring processes load MindSpore.
    from explorer.engines.mindspore.answers import derivative, weights
    from explorer.engines.mindspore.gradient_cell import wrapped
    from explorer.engines.mindspore.net import build, flat

    net = build(request)
    parameters = weights(net, case)
    if request.engine == "mindspore-graph":
        # What the capture of the graph compiles.
        compiled = msgspec.structs.replace(case, api="value_and_grad")
        call = wrapped(net.call, compiled, parameters, len(net.arguments))
    else:
        call = derivative(net.call, case, parameters)
    for tensor in flat(call(*net.arguments)):
        tensor.asnumpy()


def captured(request: NetRequest, values: bool) -> None:
    """The capture of a graph, from building the net to the finished record."""
    engine = importlib.import_module(ENGINES[request.engine].module)
    capture = engine.capture(CaseRequest(request, CASE, values))
    assert capture.graphs, capture.result.error


def best_of_rounds(run: Callable[[], None]) -> Seconds:
    """The best of ROUNDS by each clock."""
    walls = []
    processors = []
    for _ in range(ROUNDS):
        wall, processor = time.perf_counter(), time.process_time()
        run()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


def measure(scenario: str, engine: str, kind: str) -> None:
    """Print the seconds of one kind of run; what a process of its own does."""
    request = NetRequest(scenario=scenario, engine=engine)
    if kind == "bare":
        seconds = best_of_rounds(lambda: bare(request))
    else:
        seconds = best_of_rounds(lambda: captured(request, values=kind == "values"))
    print(*seconds)


def seconds_in_process(engine: str, kind: str, blocks: int, scratch: Path) -> Seconds:
    """What one kind of run takes in a process of its own, started as the worker for it is."""
    here = Path(tempfile.mkdtemp(prefix=f"{engine}-{kind}-", dir=scratch))
    net = here / "ms_residual.py"
    net.write_text(SCENARIO.read_text().replace("BLOCKS = 50", f"BLOCKS = {blocks}"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_v": "4"}
    if engine == "mindspore-graph" and kind != "bare":
        environment |= capture_environment(here, values=kind == "values")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.mindspore_capture", "--measure", net, engine, kind],
        cwd=here,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    wall, processor = done.stdout.split()[-2:]
    return float(wall), float(processor)


def best_of_turns(engine: str, blocks: int, scratch: Path) -> dict[str, Seconds]:
    """What each kind of run takes; they take turns, so that a busy moment meets all of them."""
    best: dict[str, Seconds] = {}
    for _ in range(TURNS):
        for kind in ("bare", *CAPTURES):
            wall, processor = seconds_in_process(engine, kind, blocks, scratch)
            before = best.get(kind, (wall, processor))
            best[kind] = min(before[0], wall), min(before[1], processor)
    return best


def report(engine: str, blocks: int, best: dict[str, Seconds]) -> bool:
    """Print one line a kind of capture and clock; whether all are within their limits."""
    good = True
    for kind in CAPTURES:
        for clock, name in enumerate(("wall", "processor")):
            without, whole = best["bare"][clock], best[kind][clock]
            ratio = whole / without
            costs = f"bare {without:.2f} s, {kind} {whole:.2f} s, ratio {ratio:.2f}"
            print(f"{engine:16} {blocks} blocks, {name:9}: {costs}", flush=True)
        good = good and ratio <= LIMITS[engine, kind]  # by processor time, the last of the two
    return good


def main() -> int:
    """Measure both engines; 1 when a limit is broken."""
    if "--measure" in sys.argv:
        measure(*sys.argv[2:])
        return 0
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("mindspore-graph", "mindspore-tape"):
            good = report(engine, blocks, best_of_turns(engine, blocks, Path(folder))) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
