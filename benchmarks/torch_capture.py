"""What capture of PyTorch's tape costs, beside the plain run.

It is timed as recorded, turned into a graph, and whole with every value, on residual nets of 100 to
4000 tape nodes; the limit holds for the 986 of 75 blocks. Every part is timed in turn, ROUNDS times in
one process with one thread; a ratio is that of processor times in one round.
"""

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks._figures import Basis, Figure, ratios
from benchmarks._presenting import parser, present

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "nets" / "torch_residual.py"
BLOCKS = (7, 20, 75, 150, 307)
REFERENCE = 75
ROUNDS = 3
LIMIT = 4.0
"""How many times the plain forward and backward a capture with every value may take, from its start
to the finished record.
"""

PARTS = ("plain", "record", "graph", "whole")

MEASURE = """
import gc, sys, time
from explorer.engines.torch.tape import ready, solve, solve_recorded
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.workers.garbage_collection import paused

case = GradCase("value_and_grad", 0, "all", True)
request = CaseRequest(NetRequest(scenario=sys.argv[1], engine="torch-tape"), case)
seconds = []

def timed(call):
    gc.collect()
    start = time.perf_counter(), time.process_time()
    result = call()
    seconds.extend((time.perf_counter() - start[0], time.process_time() - start[1]))
    return result

# As a capture in a worker does, with Python's collector at rest.
@paused()
def record(net):
    return solve_recorded(net, case)[1]

@paused()
def whole(net):
    _, recording = solve_recorded(net, case)
    return recording.graph(case.label, values=True)

for _ in range(int(sys.argv[2])):
    net = ready(request)
    timed(lambda: solve(net, case))
    net = ready(request)
    recording = timed(lambda: record(net))
    graph = timed(lambda: recording.graph(case.label, values=False))
    tape, nodes = len(recording.recorder.tape.walked), len(graph.nodes)
    del recording, graph
    net = ready(request)
    timed(lambda: whole(net))
print(tape, nodes, *seconds)
"""


class Costs(NamedTuple):
    """What one size costs; ``tape`` and ``nodes`` count nodes of the tape and of the graph.

    The seconds are those of each round, by part: by the wall clock, and in processor time.
    """

    tape: int
    nodes: int
    wall: dict[str, tuple[float, ...]]
    processor: dict[str, tuple[float, ...]]


def costs_of(blocks: int) -> Costs:
    """What one size costs, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        net = Path(folder) / "torch_residual.py"
        net.write_text(SCENARIO.read_text().replace(f"BLOCKS = {REFERENCE}", f"BLOCKS = {blocks}"))
        environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(net), str(ROUNDS)],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    # The net may print too; the figures are the last words: two clocks for each part of each round.
    step = 2 * len(PARTS)
    tape, nodes, *figures = done.stdout.split()[-2 - step * ROUNDS :]
    seconds = [float(figure) for figure in figures]
    wall = {part: tuple(seconds[2 * at :: step]) for at, part in enumerate(PARTS)}
    processor = {part: tuple(seconds[2 * at + 1 :: step]) for at, part in enumerate(PARTS)}
    return Costs(int(tape), int(nodes), wall, processor)


def measure() -> Iterator[Figure]:
    """The plain run and what each part is of it, a size after the other, and the growth."""
    points = []
    for blocks in BLOCKS:
        costs = costs_of(blocks)
        points.append((costs.tape, costs.processor["whole"]))
        yield from figures(blocks, costs)
    (first_size, first), *_, (last_size, last) = points
    span = math.log(last_size) - math.log(first_size)
    yield Figure(
        name="growth of a whole capture with the nodes of the tape",
        unit="",
        basis="power of the size",
        rounds=tuple((math.log(b) - math.log(a)) / span for a, b in zip(first, last, strict=True)),
    )


def figures(blocks: int, costs: Costs) -> Iterator[Figure]:
    """The figures of one size."""
    name = f"{blocks} blocks"
    clocks: dict[Basis, dict[str, tuple[float, ...]]]
    clocks = {"wall": costs.wall, "processor": costs.processor}
    for basis, seconds in clocks.items():
        yield Figure(
            name=f"{name}: plain forward and backward",
            unit="s",
            basis=basis,
            rounds=seconds["plain"],
            note=f"{costs.tape} tape nodes, {costs.nodes} in the graph",
        )
    seconds = costs.processor
    recorded = ratios(seconds["record"], seconds["plain"])
    made = ratios(seconds["graph"], seconds["plain"])
    as_graph = tuple(one + other for one, other in zip(recorded, made, strict=True))
    whole = ratios(seconds["whole"], seconds["plain"])
    for what, rounds, bar in (
        ("recorded", recorded, None),
        ("recorded and made a graph", as_graph, None),
        ("with every value", whole, LIMIT if blocks == REFERENCE else None),
    ):
        yield Figure(
            name=f"{name}: {what} ÷ plain",
            unit="×",
            basis="ratio of processor times",
            rounds=rounds,
            bar=bar,
        )


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
