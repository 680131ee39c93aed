"""What capture of PyTorch's tape costs, beside the plain run.

It is timed as recorded, turned into a graph, and whole with every value. Every part is timed in
turn, ROUNDS times in one process with one thread; a ratio is that of the best times.

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
from explorer.engines.torch.tape import ready, solve, solve_recorded
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest

case = GradCase("value_and_grad", 0, "all", True)
request = CaseRequest(NetRequest(scenario=sys.argv[1], engine="torch-tape"), case)
best = dict.fromkeys(("plain", "record", "graph", "whole", "torchlens"), (1e9, 1e9))

def timed(what, call):
    gc.collect()
    start = time.perf_counter(), time.process_time()
    result = call()
    taken = time.perf_counter() - start[0], time.process_time() - start[1]
    best[what] = tuple(map(min, best[what], taken))
    return result

def whole(net):
    _, recording = solve_recorded(net, case)
    return recording.graph(case.label, values=True)

for _ in range(int(sys.argv[2])):
    net = ready(request)
    timed("plain", lambda: solve(net, case))
    net = ready(request)
    _, recording = timed("record", lambda: solve_recorded(net, case))
    graph = timed("graph", lambda: recording.graph(case.label, values=False))
    tape, nodes = len(recording.recorder.tape.walked), len(graph.nodes)
    del _, recording, graph
    net = ready(request)
    timed("whole", lambda: whole(net))
if sys.argv[3:]:
    import torchlens
    net = ready(request)
    timed("torchlens", lambda: torchlens.trace(net.call, list(net.arguments)))
print(tape, nodes, *(seconds for both in best.values() for seconds in both))
"""


class Costs(NamedTuple):
    """What one size costs; ``tape`` and ``nodes`` count nodes of the tape and of the graph.

    The others are seconds by the wall clock and in processor time, each the best of ROUNDS.
    """

    tape: int
    nodes: int
    plain: tuple[float, float]
    record: tuple[float, float]
    graph: tuple[float, float]
    whole: tuple[float, float]
    torchlens: tuple[float, float]


def measure(blocks: int, *options: str) -> Costs:
    """What one size costs; ``torchlens`` too when asked for."""
    with tempfile.TemporaryDirectory() as folder:
        net = Path(folder) / "torch_residual.py"
        net.write_text(SCENARIO.read_text().replace(f"BLOCKS = {REFERENCE}", f"BLOCKS = {blocks}"))
        environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(net), str(ROUNDS), *options],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    # The net may print too; the figures are the last words.
    tape, nodes, *figures = done.stdout.split()[-12:]
    seconds = [float(figure) for figure in figures]
    return Costs(int(tape), int(nodes), *zip(seconds[::2], seconds[1::2], strict=True))


def ratios(costs: Costs, clock: int) -> str:
    """The costs by one clock (0 the wall's, 1 the processor's) beside the plain run."""
    plain, record, graph, whole = (part[clock] for part in costs[2:6])
    return (
        f"plain {plain * 1e3:.1f} ms, recorded ×{record / plain:.2f},"
        f" recorded and made a graph ×{(record + graph) / plain:.2f},"
        f" with every value ×{whole / plain:.2f}"
    )


def times_torchlens(costs: Costs) -> float:
    """How many times a whole capture's processor time torchlens's forward trace takes."""
    return costs.torchlens[1] / costs.whole[1]


def keeps_limits(costs: Costs) -> bool:
    """Whether the processor times of the reference size keep both limits."""
    return costs.whole[1] / costs.plain[1] <= LIMIT and times_torchlens(costs) >= FASTER


def main() -> int:
    """Print two lines a size, the ratio to torchlens and the slope; 1 when a limit is broken."""
    points = []
    good = True
    for blocks in BLOCKS:
        options = ["torchlens"] if blocks == REFERENCE else []
        costs = measure(blocks, *options)
        points.append((math.log(costs.tape), math.log(costs.whole[1])))
        size = f"{costs.tape:4} tape nodes, {costs.nodes:5} in the graph"
        for clock, name in enumerate(("wall", "processor")):
            print(f"{size}, {name:9}: {ratios(costs, clock)}")
        if blocks == REFERENCE:
            good = keeps_limits(costs)
            print(
                f"torchlens on the same net, forward alone: {costs.torchlens[0]:.2f} s,"
                f" {times_torchlens(costs):.0f} times a capture here"
            )
    (first_size, first_time), *_, (last_size, last_time) = points
    slope = (last_time - first_time) / (last_size - first_size)
    print(f"time grows with the number of nodes to the power {slope:.2f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
