"""What capture costs in MindSpore, beside the bare call.

Each engine is timed bare, with its graph alone, and with every value, in one run. Bare is the very
call that the capture makes (same net, same form of the gradient, same wrapper), in a process that
was told nothing of capture. Fresh processes take turns, TURNS times; the figure of a turn is the best
of the ROUNDS in its process, from building the net to the finished record.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from benchmarks._figures import Figure, ratios
from benchmarks._presenting import parser, present
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest, NetRequest
from explorer.workers.environments import capture_environment, nursery_environment
from explorer.workers.garbage_collection import imported

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "nets" / "ms_residual.py"
TURNS = 3
ROUNDS = 2
BLOCKS = 50
LIMITS = {
    ("mindspore-graph", "topology"): 1.15,
    ("mindspore-graph", "values"): 1.25,
    ("mindspore-tape", "topology"): 1.3,
    ("mindspore-tape", "values"): 1.3,
}
"""How many times the bare call a capture may take, by the wall and in processor time."""

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
    engine = imported(ENGINES[request.engine].module)
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


def print_seconds(scenario: str, engine: str, kind: str) -> None:
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
    net.write_text(SCENARIO.read_text().replace(f"BLOCKS = {BLOCKS}", f"BLOCKS = {blocks}"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_v": "4"}
    if kind != "bare":
        environment = nursery_environment(here)
    if engine == "mindspore-graph" and kind != "bare":
        environment |= capture_environment(here, values=kind == "values")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.mindspore_capture", "--seconds", net, engine, kind],
        cwd=here,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    wall, processor = done.stdout.split()[-2:]
    return float(wall), float(processor)


def turns(engine: str, blocks: int, scratch: Path) -> dict[str, list[Seconds]]:
    """What each kind of run takes; they take turns, so that a busy moment meets all of them."""
    seconds: dict[str, list[Seconds]] = {kind: [] for kind in ("bare", *CAPTURES)}
    for _ in range(TURNS):
        for kind, measured in seconds.items():
            measured.append(seconds_in_process(engine, kind, blocks, scratch))
    return seconds


def measure(blocks: int) -> Iterator[Figure]:
    """What each engine's bare call takes, and how often it goes into each kind of capture."""
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("mindspore-graph", "mindspore-tape"):
            yield from figures(
                f"{engine}, {blocks} blocks", engine, turns(engine, blocks, Path(folder))
            )


def figures(name: str, engine: str, seconds: dict[str, list[Seconds]]) -> Iterator[Figure]:
    """The figures of one engine."""
    walls = {kind: tuple(wall for wall, _ in turns) for kind, turns in seconds.items()}
    processors = {kind: tuple(spent for _, spent in turns) for kind, turns in seconds.items()}
    yield Figure(name=f"{name}: bare", unit="s", basis="wall", rounds=walls["bare"])
    yield Figure(name=f"{name}: bare", unit="s", basis="processor", rounds=processors["bare"])
    for kind in CAPTURES:
        yield Figure(
            name=f"{name}: {kind} ÷ bare",
            unit="×",
            basis="ratio of wall times",
            rounds=ratios(walls[kind], walls["bare"]),
            bar=LIMITS[engine, kind],
        )
        yield Figure(
            name=f"{name}: {kind} ÷ bare",
            unit="×",
            basis="ratio of processor times",
            rounds=ratios(processors[kind], processors["bare"]),
            bar=LIMITS[engine, kind],
        )


def options() -> argparse.Namespace:
    """What was typed; ``seconds`` is what a process of its own measures."""
    known = parser(__doc__)
    known.add_argument("blocks", nargs="?", type=int, default=BLOCKS, help="of the residual net")
    known.add_argument("--seconds", nargs=3, help=argparse.SUPPRESS)
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    if given.seconds:
        print_seconds(*given.seconds)
    else:
        sys.exit(present(measure(given.blocks), given.figures))
