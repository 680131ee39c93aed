"""How MindSpore carries out a step: operators dispatched, graphs compiled, processor time."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
from mindspore.utils.ms_dispatch import MsDispatchMode

from explorer.engines.mindspore.ir import IRNode, read
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import processor_seconds
from explorer.topics.training.in_mindspore_nets import fresh_net, tensors
from explorer.topics.training.in_mindspore_routes import functional_step

PLUMBING = {"UpdateState", "Depend", "Load", "TupleGetItem", "MakeTuple", "Return"}
"""Nodes that order and bundle others, and run no kernel (2.10.0)."""

WAYS = {"tape": ("tape", False), "graph": ("graph", False), "ms.jit": ("tape", True)}
"""The styles in which a step's graphs are read, and whether the step is decorated with ms.jit."""


class OperatorRecorder(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Records the names of the operators that are dispatched."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[str] = []

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(func.name)
        # Names in small letters are Python helpers without a kernel (2.10.0).
        if name[:1].isupper():
            self.operators.append(name)
        return func(*args, **(kwargs or {}))


def dispatched(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """The operators that a call dispatches."""
    recorder = OperatorRecorder()
    with recorder:
        function(*arguments)
    return recorder.operators


def dispatches(ask: Ask) -> Found:
    """The operators that forward, backward and update dispatch in tape style.

    Beside them, those of the same step under ms.jit.
    """
    forward, gradients_of, optimizer, step = functional_step(fresh_net("tape", ask.device))
    batch = tensors()[0]
    _, gradients = gradients_of(*batch)
    jitted = ms.jit(step)
    jitted(*batch)  # compiling dispatches too

    # value_and_grad dispatches the forward first: what follows it is the backward.
    ahead, both = dispatched(forward, *batch), dispatched(gradients_of, *batch)
    return Found(
        {
            "forward": ahead,
            "backward": both[len(ahead) :],
            "update": dispatched(optimizer, gradients),
            "ms.jit": dispatched(jitted, *batch),
        }
    )


def graphs(ask: Ask) -> Found:
    """The graphs that the compiler hands to the kernels for two steps, with what is in each.

    They are read from the files that the compiler's passes write.
    """
    folder = Path(os.environ["MS_DEV_SAVE_GRAPHS_PATH"])
    figures = {}
    for name, (style, is_jitted) in WAYS.items():
        step = functional_step(fresh_net(style, ask.device)).step
        # What an earlier way left would be counted again.
        for path in folder.rglob("*.ir"):
            path.unlink()
        run = ms.jit(step) if is_jitted else step
        # Two steps: if the second was compiled again, its graphs would be here too.
        for batch in tensors()[:2]:
            run(*batch)
        # Tape style executes asynchronously: some of the step may be still to come.
        ms.runtime.synchronize()
        # After the pass "validate" a graph is as it goes to the backend; files are numbered in
        # their order.
        files = sorted(folder.rglob("*validate_[0-9]*.ir"), key=_number)
        figures[name] = [_node_counts(path) for path in files]
    return Found(figures)


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _node_counts(path: Path) -> dict[str, int]:
    """How many nodes of a compiler's file belong to forward, backward, update and plumbing."""
    counts = dict.fromkeys(("forward", "backward", "update", "plumbing"), 0)
    for subgraph in read(path).subgraphs:
        for node in subgraph.nodes:
            counts[_part(node)] += 1
    return counts


def _part(node: IRNode) -> str:
    if node.op in PLUMBING:
        return "plumbing"
    # The compiler puts the nodes of the backward into a scope of this name (2.10.0). Those of the
    # update have no scope of their own, but lines of the optimizers' source.
    if "Gradients" in (node.scope or ""):
        return "backward"
    is_of_optimizer = any("/nn/optim/" in str(source) for source in node.sources)
    return "update" if is_of_optimizer else "forward"


def speed(ask: Ask) -> Found:
    """The least processor time of repeated steps in tape style, with and without ms.jit.

    The two ways take turns after a first call of each.
    """
    by_itself = functional_step(fresh_net("tape", ask.device)).step
    jitted = ms.jit(functional_step(fresh_net("tape", ask.device)).step)
    batch = tensors()[0]
    # Reading the loss waits for the step, which executes asynchronously.
    calls = {
        "by itself": lambda: by_itself(*batch).asnumpy(),
        "ms.jit": lambda: jitted(*batch).asnumpy(),
    }
    repeats = ask.options["repeats"]
    return Found({"repeats": repeats}, timings=processor_seconds(calls, repeats))
