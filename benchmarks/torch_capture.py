"""What capture of PyTorch's tape costs: recorded, turned into a graph, and whole with every value,
beside the plain run.

Every part is timed in turn, ROUNDS times in one process with one thread; a ratio is that of the
best times.

Run: python benchmarks/torch_capture.py (residual nets of 100 to 4000 tape nodes; the limits hold
for the 986 of 75 blocks)
"""

import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "nets" / "torch_residual.py"
BLOCKS = (7, 20, 75, 150, 307)
REFERENCE = 75
ROUNDS = 5
LIMIT = 5.0
"""How many times the plain forward and backward a capture with every value may take, from its start
to the finished record.
"""

FASTER = 10.0
"""How many times as fast as torchlens's forward trace alone a whole capture is to be."""

MEASURE = """
import gc, sys, time
from explorer.cases import GradCase
from explorer.engines.torch_tape import _plain, _ready, _watched
from explorer.records import NetRequest

case = GradCase("value_and_grad", 0, "all", True)
request = NetRequest(scenario=sys.argv[1], engine="torch-tape")
best = dict.fromkeys(("plain", "record", "graph", "whole", "torchlens"), (1e9, 1e9))

def timed(what, call):
    gc.collect()
    start = time.perf_counter(), time.process_time()
    result = call()
    taken = time.perf_counter() - start[0], time.process_time() - start[1]
    best[what] = tuple(map(min, best[what], taken))
    return result

def whole(net):
    captures = []
    _watched(net, case, captures)
    return captures[0].graph(case.label, values=True)

for _ in range(int(sys.argv[2])):
    net, captures = _ready(request, case), []
    timed("plain", lambda: _plain(net, case))
    net = _ready(request, case)
    timed("record", lambda: _watched(net, case, captures))
    graph = timed("graph", lambda: captures[0].graph(case.label, values=False))
    tape, nodes = len(captures[0].recorder.walked), len(graph.nodes)
    del captures, graph
    net = _ready(request, case)
    timed("whole", lambda: whole(net))
if sys.argv[3:]:
    import torchlens
    net = _ready(request, case)
    timed("torchlens", lambda: torchlens.trace(net.call, list(net.arguments)))
print(tape, nodes, *(seconds for both in best.values() for seconds in both))
"""


class Costs(NamedTuple):
    """Seconds by the wall clock and in processor time, each the best of ROUNDS in turn; the first
    two are plain counts.
    """

    tape: int
    nodes: int
    plain: tuple[float, float]
    record: tuple[float, float]
    graph: tuple[float, float]
    whole: tuple[float, float]
    torchlens: tuple[float, float]


def measure(blocks: int, *more: str) -> Costs:
    """What one size costs; ``torchlens`` too when asked for."""
    with tempfile.TemporaryDirectory() as folder:
        net = Path(folder) / "torch_residual.py"
        net.write_text(SCENARIO.read_text().replace(f"BLOCKS = {REFERENCE}", f"BLOCKS = {blocks}"))
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
            "PYTHONWARNINGS": "ignore",
        }
        arguments = [sys.executable, "-c", MEASURE, str(net), str(ROUNDS), *more]
        done = subprocess.run(
            arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    tape, nodes, *figures = done.stdout.split()[-12:]
    pairs = [
        (float(wall), float(processor))
        for wall, processor in zip(figures[::2], figures[1::2], strict=True)
    ]
    return Costs(int(tape), int(nodes), *pairs)


def line(costs: Costs, clock: int) -> str:
    """The costs by one clock (0 the wall's, 1 the processor's) beside the plain run."""
    plain, record, graph, whole = (each[clock] for each in costs[2:6])
    return (
        f"plain {plain * 1e3:.1f} ms, recorded ×{record / plain:.2f}, recorded and made a graph ×{(record + graph) / plain:.2f}, "
        f"with every value ×{whole / plain:.2f}"
    )


def main() -> int:
    """Measure and print two lines a size, the slope over all of them, and the ratio to torchlens; 1
    when a limit is broken.
    """
    points, good = [], True
    for blocks in BLOCKS:
        costs = measure(blocks, *["torchlens"] * (blocks == REFERENCE))
        points.append((math.log(costs.tape), math.log(costs.whole[1])))
        for clock, name in enumerate(("wall", "processor")):
            print(
                f"{costs.tape:4} tape nodes, {costs.nodes:5} in the graph, {name:9}: {line(costs, clock)}"
            )
        if blocks == REFERENCE:
            faster = costs.torchlens[1] / costs.whole[1]
            good = costs.whole[1] / costs.plain[1] <= LIMIT and faster >= FASTER
            print(
                f"torchlens on the same net, forward alone: {costs.torchlens[0]:.2f} s, {faster:.0f} times a capture here"
            )
    slope = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])
    print(f"time grows with the number of nodes to the power {slope:.2f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
