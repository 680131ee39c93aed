"""What capture of PyTorch's tape costs: recorded, turned into a graph, and with every value, beside the plain run.

Run: python benchmarks/torch_capture.py   (residual nets of 100 to 4000 tape nodes; the limits hold for the 986 of 75 blocks)
"""

import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "nets" / "torch_residual.py"
BLOCKS = (7, 20, 75, 150, 307)
REFERENCE = 75
ROUNDS = 5
LIMIT = 5.0
"""How many times the plain forward and backward a capture may take."""

FASTER = 10.0
"""How many times as fast as torchlens's forward trace alone a whole capture is to be."""

MEASURE = """
import gc, sys, time
from explorer.cases import GradCase
from explorer.engines.torch_tape import _plain, _ready, _watched
from explorer.records import NetRequest

case = GradCase("value_and_grad", 0, "all", True)
request = NetRequest(scenario=sys.argv[1], engine="torch-tape")
best = {"plain": 1e9, "record": 1e9, "graph": 1e9, "values": 1e9, "torchlens": 1e9}

def timed(what, call):
    gc.collect()
    start = time.process_time()
    result = call()
    best[what] = min(best[what], time.process_time() - start)
    return result

for _ in range(int(sys.argv[2])):
    net, captures = _ready(request, case), []
    timed("plain", lambda: _plain(net, case))
    net = _ready(request, case)
    timed("record", lambda: _watched(net, case, captures))
    graph = timed("graph", lambda: captures[0].graph(case.label, values=False))
    timed("values", lambda: captures[0].graph(case.label, values=True))
if sys.argv[3:]:
    import torchlens
    net = _ready(request, case)
    timed("torchlens", lambda: torchlens.trace(net.call, list(net.arguments)))
print(len(captures[0].recorder.walked), len(graph.nodes), *best.values())
"""


def measure(blocks: int, *more: str) -> list[float]:
    """Tape nodes, nodes of the graph, and CPU seconds: plain, recorded, made a graph, made one with values, torchlens."""
    with tempfile.TemporaryDirectory() as folder:
        net = Path(folder) / "torch_residual.py"
        net.write_text(SCENARIO.read_text().replace(f"BLOCKS = {REFERENCE}", f"BLOCKS = {blocks}"))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        arguments = [sys.executable, "-c", MEASURE, str(net), str(ROUNDS), *more]
        done = subprocess.run(arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [float(figure) for figure in done.stdout.split()[-7:]]


def main() -> int:
    """Measure and print one line a size, the slope over all of them, and the ratio to torchlens; 1 when a limit is broken."""
    points, good = [], True
    for blocks in BLOCKS:
        tape, nodes, plain, record, graph, values, lens = measure(blocks, *["torchlens"] * (blocks == REFERENCE))
        points.append((math.log(tape), math.log(record + graph)))
        print(
            f"{tape:4.0f} tape nodes, {nodes:5.0f} in the graph: plain {plain * 1e3:.1f} ms, recorded ×{record / plain:.1f}, "
            f"recorded and made a graph ×{(record + graph) / plain:.1f}, with every value ×{(record + values) / plain:.1f}"
        )
        if blocks == REFERENCE:
            faster = lens / (record + graph)
            good = (record + graph) / plain <= LIMIT and faster >= FASTER
            print(f"torchlens on the same net, forward alone: {lens:.2f} s, {faster:.0f} times as long as both phases here")
    slope = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])
    print(f"time grows with the number of nodes to the power {slope:.2f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
