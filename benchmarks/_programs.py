"""What other programs record of a residual net, each timed in a process of its own.

``python -m benchmarks._programs PROGRAM NET ROUNDS FOLDER`` prints a Recorded as JSON in its last line.
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest

CASE = GradCase("value_and_grad", 0, "all", True)


class Recorded(msgspec.Struct, frozen=True):
    """The processor seconds of each round, and what the last one recorded.

    Nodes of forward and backward, and how many of them carry their value.
    """

    seconds: tuple[float, ...]
    forward: int = 0
    backward: int = 0
    forward_values: int = 0
    backward_values: int = 0


Counts = tuple[int, int, int, int]

Prepared = Callable[[], Counts]
"""What is timed; counting is a part of it, and takes next to nothing."""


def plain(ready: Any, folder: Path) -> Prepared:
    """Forward and backward, and nothing else."""

    def run() -> Counts:
        ready.call(*ready.arguments)[0].backward()
        return 0, 0, 0, 0

    return run


def explorer(ready: Any, folder: Path) -> Prepared:
    """The explorer's tape: both directions, with every value, links and places in the source."""
    from explorer.engines.torch.tape import solve_recorded
    from explorer.workers.garbage_collection import paused

    @paused()  # as a capture in a worker is
    def run() -> Counts:
        _, recording = solve_recorded(ready, CASE)
        nodes = recording.graph(CASE.label, values=True).nodes
        forward = [node for node in nodes if node.phase == "forward"]
        backward = [node for node in nodes if node.phase == "backward"]
        return len(forward), len(backward), _with_value(forward), _with_value(backward)

    return run


def _with_value(nodes: list[Any]) -> int:
    return sum(1 for node in nodes if node.outputs and node.outputs[0].values)


def torchviz(ready: Any, folder: Path) -> Prepared:
    """torchviz: the tape's functions by name, and the shapes of parameters; no values."""
    from torchviz import make_dot

    def run() -> Counts:
        loss = ready.call(*ready.arguments)[0]
        dot = make_dot(loss, params=dict(ready.call.named_parameters()))
        nodes = sum(1 for line in dot.body if "[label=" in line)
        return 0, nodes, 0, 0

    return run


def torchview(ready: Any, folder: Path) -> Prepared:
    """torchview: modules and functions of the forward run with their shapes; no values."""
    from torchview import draw_graph

    def run() -> Counts:
        graph = draw_graph(ready.call, ready.arguments, expand_nested=True, depth=10)
        return len(graph.node_set), 0, 0, 0

    return run


def torchlens_forward(ready: Any, folder: Path) -> Prepared:
    """torchlens: the ops of the forward run with their values."""
    import torchlens

    def run() -> Counts:
        trace = torchlens.trace(ready.call, list(ready.arguments))
        return trace.num_layers, 0, trace.num_saved_ops, 0

    return run


def torchlens_both(ready: Any, folder: Path) -> Prepared:
    """torchlens: forward with values, then backward with the gradients of forward ops."""
    import torchlens
    from torchlens.options import CaptureOptions

    def run() -> Counts:
        options = CaptureOptions(save_grads=True, backward_ready=True)
        trace = torchlens.trace(ready.call, list(ready.arguments), capture=options)
        trace.log_backward(trace[trace.output_layers[0]].out)
        return (
            trace.num_layers,
            trace.num_grad_fns,
            trace.num_saved_ops,
            trace.num_saved_grad_ops,
        )

    return run


def msprobe(ready: Any, folder: Path) -> Prepared:
    """msprobe: statistics (max, min, mean, norm) of what goes into and comes out of every call."""
    from msprobe.pytorch import PrecisionDebugger

    debugger = PrecisionDebugger(config_path=_msprobe_settings(folder))

    def run() -> Counts:
        debugger.start(model=ready.call)
        ready.call(*ready.arguments)[0].backward()
        debugger.stop()
        debugger.step()
        last = max(folder.glob("step*/proc*/dump.json"), key=lambda file: file.stat().st_mtime)
        names = json.loads(last.read_text())["data"]
        backward = sum(1 for name in names if ".backward" in name)
        return len(names) - backward, backward, 0, 0

    return run


def _msprobe_settings(folder: Path) -> str:
    """A file that tells msprobe to dump statistics of every module and every call."""
    file = folder / "settings.json"
    statistics = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"}
    told = {"task": "statistics", "dump_path": str(folder), "rank": [], "step": [], "level": "mix"}
    file.write_text(json.dumps({**told, "async_dump": False, "statistics": statistics}))
    return str(file)


def dump_mindspore(folder: Path) -> None:
    """Have msprobe dump a dense layer of MindSpore; raises what MindSpore raises."""
    import mindspore
    from mindspore import nn
    from msprobe.mindspore import PrecisionDebugger

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    net = nn.Dense(3, 1)
    debugger = PrecisionDebugger(config_path=_msprobe_settings(folder))
    debugger.start(net)
    mindspore.grad(net)(mindspore.Tensor(np.ones((2, 3), np.float32)))
    debugger.stop()
    debugger.step()


PROGRAMS: dict[str, Callable[[Any, Path], Prepared]] = {
    "plain": plain,
    "explorer": explorer,
    "torchviz": torchviz,
    "torchview": torchview,
    "torchlens, forward": torchlens_forward,
    "torchlens, both": torchlens_both,
    "msprobe": msprobe,
}


def recorded(program: str, net: str, rounds: int, folder: Path) -> Recorded:
    """What a program takes and records in some rounds, each on a net that was just made."""
    from explorer.engines.torch.tape import ready

    request = CaseRequest(NetRequest(scenario=net, engine="torch-tape"), CASE)
    seconds = []
    counts = (0, 0, 0, 0)
    for _ in range(rounds):
        # Made anew: gradients that lie there already would be added to.
        run = PROGRAMS[program](ready(request), folder)
        gc.collect()
        start = time.process_time()
        counts = run()
        seconds.append(time.process_time() - start)
    return Recorded(tuple(seconds), *counts)


def main() -> None:
    """Print what was recorded, in the last line."""
    program, net, rounds, folder = sys.argv[1:]
    if program == "dump_mindspore":
        dump_mindspore(Path(folder))
        return
    print(f"\n{msgspec.json.encode(recorded(program, net, int(rounds), Path(folder))).decode()}")


if __name__ == "__main__":
    main()
