"""Runs benchmarks, each in a process of its own, and makes one table of all that they measured."""

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import msgspec
import psutil

from benchmarks._figures import Figure
from benchmarks._presenting import detail
from benchmarks._records import ROOT, Run, commit, machine, versions, write
from benchmarks._table import digits, table

BENCHMARKS = {
    "help": "the command's help, beside a bare start of Python",
    "install": "size and seconds of the light install and of that with the app",
    "store": "cold and stored answers in the shell",
    "matrix": "all cases of a net, beside the bare frameworks",
    "torch_capture": "recording PyTorch's tape, beside the plain run",
    "record": "recording a step in a program, beside the plain step",
    "mindspore_capture": "recording MindSpore's graphs, beside the bare call",
    "other_programs": "torchviz, torchview, torchlens and msprobe on the same net",
    "ir_reader": "reading the compiler's files",
    "align": "pairing the nodes of two graphs",
    "drawing": "laying out and drawing graphs",
    "large": "nets of 100 to 10,000 nodes the whole way",
    "noise": "measuring noise, beside asking",
    "proofs": "the values that are proven, and what that takes",
    "arguments": "op nodes whose arguments are known",
    "changed_values": "changed values that the alignment tells",
    "planted": "planted mistakes that are named at their line",
    "causes": "planted mistakes whose cause is named",
    "mends": "planted mistakes that a proven patch mends",
    "trainings": "mistakes in trainings whose step and rule are named",
    "why": "what it costs to say why two nets part",
    "sensitivity": "how small a mistake is found, and false alarms",
    "packages": "whole nets of mindcv, torchvision and timm",
    "studies": "every study on its own scenario",
    "pages": "pages of the app in a browser",
    "graphs_page": "two graphs of 1000 nodes in a browser",
    "visitors": "ten visitors at once",
}
"""What each benchmark measures, in the order in which they run."""

MINUTES = 15.0
"""The longest that one benchmark may take, so that one that hangs does not keep the others."""

ENDING_SECONDS = 30.0
"""How long a benchmark that is to end may take for it."""

Outcome = tuple[tuple[Figure, ...], float, float]
"""The figures of a benchmark, its seconds, and the share of all cores that other programs took."""


def main() -> int:
    """Run what was named; 0 where every bar is kept, 1 where one is missed, 2 for a wrong name."""
    options = _options()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        detail(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}")
        return 2
    chosen = [name for name in BENCHMARKS if name in options.names or not options.names]
    began = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H%M%SZ")
    file = options.json or ROOT / "out" / "bench" / f"{began}.json"
    run = Run(
        began=began,
        commit=commit(),
        machine=machine(),
        versions=versions(),
        seconds={},
        others={},
        figures=(),
    )
    try:
        for name in chosen:
            detail(f"{name}: {BENCHMARKS[name]} …")
            run = with_outcome(run, name, outcome(name, file.with_suffix(""), options.minutes * 60))
            # What is there so far is kept, should the run be broken off.
            write(run, file)
            detail(f"{name}: {digits(run.seconds[name])} s")
    except KeyboardInterrupt:
        detail("interrupted; the table holds what was measured before")
        print(told(run))
        return 130
    print(told(run))
    print(f"kept as {file}")
    return int(any(figure.verdict == "missed" for figure in run.figures))


def told(run: Run) -> str:
    """The table of a run, with what it was measured on."""
    packages = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    lines = [table(run.figures), f"{run.machine}; {packages}; commit {run.commit or 'unknown'}"]
    if run.others:
        busiest = max(run.others, key=lambda name: run.others[name])
        whole = sum(run.others[name] * run.seconds[name] for name in run.others)
        share = whole / max(sum(run.seconds.values()), 1e-9)
        lines.append(
            f"{digits(sum(run.seconds.values()))} s in all; other programs took {share:.0%} of the "
            f"cores meanwhile, {run.others[busiest]:.0%} during {busiest}"
        )
    return "\n".join(lines)


def with_outcome(run: Run, name: str, measured: Outcome) -> Run:
    """A run with one more benchmark."""
    figures, seconds, others = measured
    return msgspec.structs.replace(
        run,
        figures=run.figures + figures,
        seconds={**run.seconds, name: seconds},
        others={**run.others, name: others},
    )


def outcome(name: str, folder: Path, limit: float) -> Outcome:
    """Run one benchmark for at most ``limit`` seconds; what it prints stands in ``folder``.

    One that fails, or is not done in time, adds a missed line to the figures that it had.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file, log = folder / f"{name}.jsonl", folder / f"{name}.log"
    file.unlink(missing_ok=True)
    start, busy, own = time.perf_counter(), _busy_seconds(), _seconds_of_children()
    with log.open("wb") as output:
        command = [sys.executable, "-m", f"benchmarks.{name}", "--figures", str(file)]
        failure = _failure(command, output.fileno(), limit)
    seconds = time.perf_counter() - start
    others = _busy_seconds() - busy - (_seconds_of_children() - own)

    figures = figures_in(file)
    if failure:
        last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        figures += (broken(name, f"{failure}: {last} (all of it: {log})"),)
    return figures, seconds, min(1.0, max(0.0, others / seconds / (os.cpu_count() or 1)))


def figures_in(file: Path) -> tuple[Figure, ...]:
    """The figures that a benchmark handed on; its last line may have been cut off."""
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return tuple(msgspec.json.decode(line, type=Figure) for line in lines)


def broken(name: str, why: str) -> Figure:
    """The line of a benchmark that did not come to its end."""
    return Figure(
        benchmark=name,
        name="runs to its end",
        unit="",
        basis="count",
        rounds=(0.0,),
        bar=1.0,
        wanted="high",
        note=why,
    )


def _failure(command: Sequence[str], output: int, limit: float) -> str:
    """Run a benchmark; why it did not come to its end, "" where it did."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=output, stderr=output, start_new_session=True
    )
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        return f"not done after {digits(limit)} s"
    finally:
        _end(process)
    return f"exit status {status}" if status else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a benchmark with all that it started: first by Ctrl-C, upon which it ends its servers."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _busy_seconds() -> float:
    """The seconds that all cores have computed."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def _seconds_of_children() -> float:
    """The processor seconds of processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _options() -> argparse.Namespace:
    text = "\n".join(f"  {name:18} {what}" for name, what in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"benchmarks:\n{text}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all without")
    parser.add_argument("--json", type=Path, metavar="FILE", help="by default in out/bench")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="the limit of each")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
