"""What capture costs in MindSpore: each engine bare, with its graph alone, and with every value, side by side in one run.

Bare is the very call that the capture makes (same net, same form of the gradient, same wrapper), in a process that was told
nothing of capture; every figure is the best of ROUNDS in a fresh process, by the wall clock and in processor time.

Run: python benchmarks/mindspore_capture.py [BLOCKS]   (a residual net of that many blocks; 50 by default)
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "nets" / "ms_residual.py"
ROUNDS = 3

MEASURE = """
import importlib, sys, time
from explorer.cases import GradCase
from explorer.engines.mindspore_answer import derivative, weights
from explorer.engines.mindspore_gradnet import wrapped
from explorer.engines.mindspore_net import build, flat
from explorer.records import CaptureRequest, NetRequest

scenario, engine, what, rounds = *sys.argv[1:4], int(sys.argv[4])
case = GradCase("grad", 0, "all", True)
request = NetRequest(scenario=scenario, engine=engine)
module = importlib.import_module("explorer.engines." + engine.replace("-", "_"))
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
        captured = module.capture(CaptureRequest(request, case, values=what == "values"))
        assert captured.graphs, captured.result.error
    walls.append(time.perf_counter() - start)
    processor.append(time.process_time() - used)
print(min(walls), min(processor))
"""


def seconds(engine: str, what: str, blocks: int, scratch: Path) -> tuple[float, float]:
    """The best of ROUNDS by both clocks, in a process of its own, started as the worker for that work is."""
    from explorer.engines.mindspore_environment import capture_environment

    here = scratch / f"{engine}-{what}"
    here.mkdir()
    net = here / "ms_residual.py"
    net.write_text(SCENARIO.read_text().replace("BLOCKS = 50", f"BLOCKS = {blocks}"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_v": "4"}
    if engine == "mindspore-graph" and what != "bare":
        environment |= capture_environment(here)
    arguments = [sys.executable, "-c", MEASURE, str(net), engine, what, str(ROUNDS)]
    done = subprocess.run(arguments, cwd=here, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    wall, processor = done.stdout.split()[-2:]
    return float(wall), float(processor)


def main() -> None:
    """Measure and print one line an engine."""
    sys.path.insert(0, str(ROOT))
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("mindspore-graph", "mindspore-tape"):
            bare = seconds(engine, "bare", blocks, Path(folder))
            for what in ("topology", "values"):
                taken = seconds(engine, what, blocks, Path(folder))
                for clock, base, full in zip(("wall", "processor"), bare, taken, strict=True):
                    costs = f"bare {base:.2f} s, {what} {full:.2f} s, ratio {full / base:.2f}"
                    print(f"{engine:16} {blocks} blocks, {clock:9}: {costs}")


if __name__ == "__main__":
    main()
