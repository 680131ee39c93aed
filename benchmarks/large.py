"""Nets of a hundred to ten thousand nodes, the whole way: captured, aligned, drawn, reported.

Each net runs in a process of its own, by the way that `explorer scenario FILE --cases main --out DIR`
goes. Prints of each engine and stage the nodes, seconds by the wall and of the processor, the peak of
memory and what was sent; then how each grows with the nodes (the slope of the logarithms between two
sizes), beside MindSpore's bare compilation, and the limits. Without --family it is the residual net alone.

Run: python -m benchmarks.large [--family F ...] [--sizes N ...] [--json FILE]
"""

import argparse
import contextlib
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeVar, cast

import msgspec
import psutil

from benchmarks import mindspore_capture
from benchmarks._figures import Basis, Figure
from benchmarks._memory import proportional
from benchmarks._presenting import parser, present
from explorer.compare.align import align
from explorer.drawing.shown import MOST_APART, MOST_NODES, show
from explorer.engines.capture.lint import lint
from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.engines import STANDARD, WorkerKind
from explorer.model.report import Report
from explorer.model.requests import CaseRequest, NetRequest
from explorer.report.scenario.files import draw_ladder, report_files, stems
from explorer.scenario.reader import read
from explorer.text.failures import message
from explorer.words.divergences import first_divergence
from explorer.words.findings import sentence as finding_sentence
from explorer.words.graphs import why_no_graph
from explorer.workers.process import WorkerProcess
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.large_nets import FAMILIES, written_net

ROOT = Path(__file__).resolve().parent.parent
SIZES = (100, 1000, 10_000)
"""About how many nodes the graph of PyTorch's tape has."""

MEGABYTE = 10**6
SECONDS_LIMIT = 180.0
MEGABYTES_LIMIT = 4000.0
"""What the whole way may take of the largest size: seconds by the wall, memory of all processes."""

SLOPE_LIMIT = 1.25
"""The power of the number of nodes by which processor time and memory of a stage may grow."""

LINEAR_FROM = 3000
"""From this size on what a stage takes anyway no longer hides how it grows."""

LEAST_SECONDS = 0.1
"""Stages that take less are too short to tell how they grow."""

REQUEST_SECONDS = 600.0
CASE = GradCase("grad", 0, "all")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
WHOLE = "whole way"
BARE = "bare call"
EXPLORE = "explore"

NOTE = 300
"""How many characters of what is wrong are told in the table."""

Reply = TypeVar("Reply")

Reading = tuple[float, float, float]
"""Seconds by the wall, seconds of the processor, MB."""


class Stage(msgspec.Struct, frozen=True):
    """What one stage took for one engine, or for a pair of engines.

    ``nodes`` are those of its graphs, ``shown`` those of a picture, ``sent`` MB that a worker replied with,
    ``peak`` the most MB that its process held. ``lost`` says why there is nothing.
    """

    name: str
    engine: str
    wall: float
    processor: float
    peak: float
    nodes: int = 0
    shown: int = 0
    sent: float = 0.0
    lost: str = ""


class Run(msgspec.Struct, frozen=True):
    """All stages of one net, and whether what came out is right."""

    family: str
    size: int
    stages: tuple[Stage, ...]
    wrong: tuple[str, ...] = ()


def reset_peak(pid: int) -> None:
    """Let the kernel count a process's peak of memory anew (Linux)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak(pid: int) -> float:
    """The most MB that a process has held since reset_peak()."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / MEGABYTE
    return math.nan


def processor_seconds(pid: int, with_children: bool) -> float:
    """The processor seconds of a process, and of the children that it has waited for."""
    return sum(psutil.Process(pid).cpu_times()[: 4 if with_children else 2])


def pid_of(process: WorkerProcess) -> int:
    """The id of a worker's process, once it is there."""
    while not process.pid:
        time.sleep(0.01)
    return process.pid


class Meter:
    """The seconds and the peak of memory of a process, from its making.

    Its children count as well unless what they take is counted elsewhere.
    """

    def __init__(self, pid: int, with_children: bool = True) -> None:
        self._pid = pid
        self._with_children = with_children
        reset_peak(pid)
        self._processor = processor_seconds(pid, with_children)
        self._wall = time.perf_counter()

    def read(self) -> Reading:
        """What it has taken so far."""
        wall = time.perf_counter() - self._wall
        processor = processor_seconds(self._pid, self._with_children) - self._processor
        return wall, processor, peak(self._pid)


class MeteredWorkers(Workers):
    """Workers, with a stage for each call."""

    def __init__(self) -> None:
        super().__init__(REQUEST_SECONDS)
        self.stages: list[Stage] = []
        self._meters: dict[WorkerKind, Meter] = {}
        self._last: dict[WorkerKind, Reading] = {}

    def call(
        self, kind: WorkerKind, target: str, argument: msgspec.Struct, reply: type[Reply]
    ) -> Reply | Lost:
        """As it is, and measured."""
        with self._locks[kind]:
            pid = pid_of(self._process(kind))
        meter = self._meters[kind] = Meter(pid)
        answer = super().call(kind, target, argument, reply)
        del self._meters[kind]
        module, _, name = target.rpartition(".")[2].partition(":")
        if module == "noise":
            name = f"{module} {name}"
        net = argument.net if isinstance(argument, CaseRequest) else argument
        engine = net.engine if isinstance(net, NetRequest) else kind
        if isinstance(answer, Lost):
            self.stages.append(Stage(name, engine, 0, 0, 0, lost=message(answer.failure)))
            return answer
        reading = self._last.pop(kind, None) or meter.read()
        nodes = sum(len(graph.nodes) for graph in getattr(answer, "graphs", ())[-1:])
        sent = len(msgspec.msgpack.encode(answer)) / MEGABYTE
        self.stages.append(Stage(name, engine, *reading, nodes=nodes, sent=sent))
        return answer

    def _stop(self, kind: WorkerKind) -> None:
        """As it is; what a process took is read before it is gone."""
        if kind in self._meters:
            with contextlib.suppress(OSError, psutil.Error):  # it may have crashed
                self._last[kind] = self._meters[kind].read()
        super()._stop(kind)


class Watch:
    """The most memory that this process and all that it has started hold together."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        own = psutil.Process()
        while not self._over.wait(0.1):
            family = (own, *own.children(recursive=True))
            total = sum(proportional(process) for process in family)
            self.megabytes = max(self.megabytes, total / MEGABYTE)

    def stop(self) -> float:
        """The most MB, and no further look."""
        self._over.set()
        self._thread.join()
        return self.megabytes


def measure(family: str, size: int, folder: Path) -> Run:
    """Run one net the whole way in this process."""
    stages: list[Stage] = []

    @contextlib.contextmanager
    def timed(name: str, engine: str, nodes: int = 0) -> Iterator[None]:
        # The workers have stages of their own.
        meter = Meter(os.getpid(), with_children=name != EXPLORE)
        yield
        stages.append(Stage(name, engine, *meter.read(), nodes=nodes))

    watch = Watch()
    start = time.perf_counter()
    scenario = read(written_net(folder, family, size), fresh=True)
    workers = MeteredWorkers()
    with workers, timed(EXPLORE, "own process"):
        report = explore(scenario, workers, selection="main")
    graphs = stems(report.graphs)
    for name, make in report_files(report, ("svg", "json", "html"), draw_ladder):
        graph = graphs.get(name.removesuffix(".svg"))
        with timed("draw" if graph else "report", name, len(graph.nodes) if graph else 0):
            (folder / name).write_bytes(make())
        sent = (folder / name).stat().st_size / MEGABYTE
        shown = len(show(graph, "fit").graph.nodes) if graph else 0
        stages[-1] = msgspec.structs.replace(stages[-1], sent=sent, shown=shown)
    seconds = time.perf_counter() - start
    processor = sum(stage.processor for stage in (*workers.stages, *stages))
    stages.append(Stage(WHOLE, "all", seconds, processor, watch.stop()))

    # Once more, to tell the pairs apart.
    last = {graph.engine: graph for graph in report.graphs}
    for alignment in report.alignments:
        left, right = last[alignment.left], last[alignment.right]
        pair = f"{alignment.left} · {alignment.right}"
        with timed("align", pair, max(len(left.nodes), len(right.nodes))):
            align(left, right)
    return Run(family, size, (*workers.stages, *stages), tuple(wrong(report)))


def wrong(report: Report) -> Iterator[str]:
    """What is not as it should be in the report on a net that is alike on both sides."""
    graphs = {graph.engine: graph for graph in report.graphs}
    for engine in STANDARD:
        if engine not in graphs:
            why = report.ungraphed.get(engine)
            yield f"{engine} has no graph: {why_no_graph(why) if why else 'no reason is given'}"
    for graph in graphs.values():
        problems = lint(graph)
        if problems:
            yield f"{len(problems)} lint problems in the graph of {graph.engine}: {problems[0]}"
    for case in report.cases:
        if case.verdict != "match" or not case.oracle_agrees:
            yield f"the verdict is {case.verdict}, and the oracle agrees: {case.oracle_agrees}"
    for alignment in report.alignments:
        if alignment.divergence:
            yield f"{alignment.left} and {alignment.right} part: {first_divergence(alignment)}"
    for finding in report.findings:
        yield f"finding: {finding_sentence(finding)}"


def bare(net: Path) -> Stage:
    """MindSpore's compilation and call alone, in a process that knows nothing of capture."""
    command = [sys.executable, "-m", "benchmarks.large", "--bare", str(net)]
    done = subprocess.run(
        command,
        cwd=net.parent,
        env={**ENVIRONMENT, "OMP_NUM_THREADS": "1", "GLOG_v": "4"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        tail = " ".join(done.stderr[-300:].split())
        return Stage(BARE, "mindspore-graph", 0, 0, 0, lost=tail or str(done.returncode))
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Stage)


def measure_bare(net: str) -> Stage:
    """The bare call in this process; MindSpore's import is not counted."""
    import mindspore  # noqa: F401

    meter = Meter(os.getpid())
    mindspore_capture.bare(NetRequest(scenario=net, engine="mindspore-graph"), CASE)
    return Stage(BARE, "mindspore-graph", *meter.read())


def run(family: str, size: int, folder: Path) -> Run:
    """What one net takes, from a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.large",
        "--measure",
        family,
        str(size),
        str(folder),
    ]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return Run(family, size, (), (f"the run ended with {done.returncode}",))
    measured = msgspec.json.decode(done.stdout.splitlines()[-1], type=Run)
    stage = bare(written_net(folder, family, size))
    return msgspec.structs.replace(measured, stages=(*measured.stages, stage))


def show_run(measured: Run) -> None:
    """Print one line a stage, and what is wrong."""
    load = f"{os.getloadavg()[0]:.1f} processes at work on {os.cpu_count()} cores"
    print(f"== {measured.family}, about {measured.size} nodes ({load})", flush=True)
    for stage in measured.stages:
        line = (
            f"{stage.name:13} {stage.engine:34} {stage.nodes:6} nodes {stage.wall:7.2f} s,"
            f" processor {stage.processor:7.2f} s, peak {stage.peak:5.0f} MB"
        )
        if stage.sent:
            line += f", {stage.sent:.2f} MB of answer"
        if stage.shown:
            line += f", {stage.shown} shown"
        print(f"{line}  LOST: {stage.lost}" if stage.lost else line)
    for sentence in measured.wrong:
        print(f"   wrong: {sentence}")


def figures(runs: list[Run]) -> Iterator[Figure]:
    """What is limited, and how each stage grows between the two largest sizes of a family."""
    for measured in runs:
        who = f"{measured.family}, {measured.size} nodes"
        note = "; ".join(measured.wrong)[:NOTE]
        count = float(len(measured.wrong))
        yield Figure(
            name=f"{who}: wrong", unit="", basis="count", rounds=(count,), bar=0.0, note=note
        )
        for stage in measured.stages:
            if stage.name == WHOLE and measured.size == max(SIZES):
                yield from whole_way(who, stage)
        shown = max((stage.shown for stage in measured.stages), default=0)
        most = float(MOST_APART * MOST_NODES)
        name = f"{who}: nodes in the largest picture"
        yield Figure(name=name, unit="", basis="count", rounds=(float(shown),), bar=most)
    for small, large in pairwise(runs):
        if small.family == large.family and large.size >= LINEAR_FROM:
            yield from powers(small, large)


def whole_way(who: str, stage: Stage) -> Iterator[Figure]:
    """The whole way by both clocks, and the memory of all its processes together."""
    for basis, seconds, bar in (
        ("wall", stage.wall, SECONDS_LIMIT),
        ("processor", stage.processor, None),
    ):
        name = f"{who}: {WHOLE}"
        yield Figure(name=name, unit="s", basis=cast(Basis, basis), rounds=(seconds,), bar=bar)
    name = f"{who}: memory of all processes"
    yield Figure(name=name, unit="MB", basis="size", rounds=(stage.peak,), bar=MEGABYTES_LIMIT)


def powers(small: Run, large: Run) -> Iterator[Figure]:
    """The power of the number of nodes by which processor time and memory of each stage grow."""
    before = {(stage.name, stage.engine): stage for stage in small.stages}
    nodes = math.log(large.size / small.size)
    for stage in large.stages:
        earlier = before.get((stage.name, stage.engine), stage)
        if stage.lost or earlier.lost or earlier is stage or earlier.processor < LEAST_SECONDS:
            continue
        # The compiler's own growth is a fact, and no limit of the explorer's.
        bar = None if stage.name == BARE else SLOPE_LIMIT
        for what, one, other in (
            ("time", earlier.processor, stage.processor),
            ("memory", earlier.peak, stage.peak),
        ):
            yield Figure(
                name=f"{large.family}, {small.size} to {large.size}: {stage.name} {stage.engine}, {what}",
                unit="",
                basis="power of the size",
                rounds=(math.log(other / one) / nodes,),
                bar=bar,
            )


def main() -> int:
    """Run the families at every size; 1 when a limit is missed."""
    options = parser(__doc__)
    options.add_argument("--family", nargs="+", choices=FAMILIES, default=["residual"])
    options.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    options.add_argument("--json", type=Path, help="a file for the figures of all stages")
    options.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options.add_argument("--bare", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        family, size, folder = given.measure
        print(msgspec.json.encode(measure(family, int(size), Path(folder))).decode())
        return 0
    if given.bare:
        print(msgspec.json.encode(measure_bare(given.bare)).decode())
        return 0

    runs = []
    for family in given.family:
        for size in sorted(given.sizes):
            with tempfile.TemporaryDirectory() as folder:
                runs.append(run(family, size, Path(folder)))
            show_run(runs[-1])
            if given.json:
                given.json.write_bytes(msgspec.json.format(msgspec.json.encode(runs)))
    return present(figures(runs), given.figures)


if __name__ == "__main__":
    sys.exit(main())
