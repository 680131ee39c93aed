"""How MindSpore carries out one step: operators dispatched one by one, graphs compiled, and the
time of repeated steps.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.utils.ms_dispatch import MsDispatchMode

from explorer.engines.mindspore.ir import IRNode, read
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import processor_seconds
from explorer.topics.training.given import RATE
from explorer.topics.training.in_mindspore_nets import fresh, tensors

PLUMBING = {"UpdateState", "Depend", "Load", "TupleGetItem", "MakeTuple", "Return"}
"""Nodes that order and bundle others, and run no kernel (2.10.0)."""

Step = Callable[[Any, Any], Any]


class Counting(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Counts the operators that are dispatched; names in small letters are Python helpers without a
    kernel.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[str] = []

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(func.name)
        if name[:1].isupper():
            self.ops.append(name)
        return func(*args, **(kwargs or {}))


def parts(mode: str, device: str) -> tuple[Step, Step, Callable[[Any], Any], Step]:
    """The forward, the function that gives loss and gradients, the optimizer, and the step made of
    them.
    """
    net = fresh(mode, device)
    loss_of, optimizer = nn.MSELoss(), nn.SGD(net.trainable_params(), RATE)

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        loss, grads = gradients_of(x, y)
        optimizer(grads)
        return loss

    return forward, gradients_of, optimizer, step


def dispatches(ask: Ask) -> Found:
    """The operators that forward, backward and update dispatch in tape style, and those of the same
    step under ms.jit.
    """
    forward, gradients_of, optimizer, step = parts("tape", ask.device)
    batch = tensors()[0]
    _, grads = gradients_of(*batch)
    jitted = ms.jit(step)
    jitted(*batch)  # compiling dispatches too

    def counted(function: Callable[..., Any], *arguments: Any) -> list[str]:
        counting = Counting()
        with counting:
            function(*arguments)
        return counting.ops

    ahead, both = counted(forward, *batch), counted(gradients_of, *batch)
    return Found(
        {
            "forward": ahead,
            "backward": both[len(ahead) :],
            "update": counted(optimizer, grads),
            "ms.jit": counted(jitted, *batch),
        }
    )


def graphs(ask: Ask) -> Found:
    """The graphs that the compiler hands to the kernels for two steps, as the passes' files have
    them, with what is in each.
    """
    found = {}
    for name, mode, jit in (
        ("tape", "tape", False),
        ("graph", "graph", False),
        ("ms.jit", "tape", True),
    ):
        step = parts(mode, ask.device)[3]
        folder = Path(os.environ["MS_DEV_SAVE_GRAPHS_PATH"])
        for path in folder.rglob("*.ir"):
            path.unlink()
        run = ms.jit(step) if jit else step
        for batch in tensors()[:2]:
            run(*batch)
        ms.runtime.synchronize()
        found[name] = [
            _counted(path) for path in sorted(folder.rglob("*validate_[0-9]*.ir"), key=_number)
        ]
    return Found(found)


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _counted(path: Path) -> dict[str, int]:
    counts = dict.fromkeys(("forward", "backward", "update", "plumbing"), 0)
    for subgraph in read(path).subgraphs:
        for node in subgraph.nodes:
            counts[_part(node)] += 1
    return counts


def _part(node: IRNode) -> str:
    if node.op in PLUMBING:
        return "plumbing"
    if "Gradients" in (node.scope or ""):
        return "backward"
    return "update" if any("/nn/optim/" in str(source) for source in node.sources) else "forward"


def speed(ask: Ask) -> Found:
    """The least processor time of repeated steps in tape style, by themselves and under ms.jit, in
    turn after a first call.
    """
    steps = {
        "by itself": parts("tape", ask.device)[3],
        "ms.jit": ms.jit(parts("tape", ask.device)[3]),
    }
    batch = tensors()[0]
    calls = {name: lambda step=step: step(*batch).asnumpy() for name, step in steps.items()}
    return Found(
        {"repeats": ask.options["repeats"]},
        timings=processor_seconds(calls, ask.options["repeats"]),
    )
