"""MindSpore's side of the study of stages: programs compiled with their passes written down, and
its tape of the same.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.engines.mindspore.answers import weights
from explorer.engines.mindspore.gradient_cell import wrapped
from explorer.engines.mindspore.ir import Module
from explorer.engines.mindspore.net import Net, build, dtype_of, flat, forward
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.stages import nets
from explorer.topics.stages.passes import (
    calls_written,
    counts,
    fingerprint,
    operators,
    sequence,
    steps,
)
from explorer.topics.starting_values import net_request
from explorer.workers.environments import IR


class TrainStep(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Gradient and update in one net."""

    def __init__(self, net: Any, optimizer: Any, aux: bool) -> None:
        super().__init__()
        self.net = net
        self.optimizer = optimizer
        self.asked = optimizer.parameters
        self.aux = aux

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # the compiler reads no annotations
        loss, gradients = ms.value_and_grad(self.net, None, self.asked, self.aux)(*inputs)
        return ops.depend(loss, self.optimizer(gradients))


def gradient_passes(ask: Ask) -> Found:
    """What each pass makes of a gradient."""
    net, compiled = gradient(ask)
    written = folder()
    compiled(*net.arguments)
    return Found(compilation(written, "GradNet_construct", net))


def training_passes(ask: Ask) -> Found:
    """What each pass makes of a whole training step: gradient and optimizer in one graph."""
    aux = several(ask)
    net = made(ask, "graph")
    compiled = TrainStep(net.call, nn.Momentum(net.weights, 0.1, 0.9), aux)
    written = folder()
    compiled(*net.arguments)
    return Found(compilation(written, "TrainStep_construct", net))


def other_values(ask: Ask) -> Found:
    """The graphs compiled for the inputs and for their negatives, and whether a second call with
    other values compiles.
    """
    found: dict[str, Any] = {}
    for sign in (1, -1):
        net, compiled = gradient(ask)
        inputs = signed(net, sign)
        written = folder()
        values = numbers(compiled(*inputs))
        module = last(written, "GradNet_construct")
        found[f"inputs times {sign}"] = {
            "gradient": values,
            **counts(module),
            "operators": dict(sorted(operators(module).items())),
            "fingerprint": fingerprint(module),
        }
        folder()
        compiled(*signed(net, -sign))
        found[f"inputs times {sign}"]["compiled again"] = any(written.glob("*.ir"))
    return Found(found)


def loops(ask: Ask) -> Found:
    """A loop whose length is a value, compiled once and run for several lengths; and one whose
    length stands in the program.
    """
    set_style("graph", ask.device)
    x, w = loop_inputs()
    found: dict[str, Any] = {"while": {}}
    compiled = ms.grad(nets.while_positive, (0, 1))
    for length in ask.options["lengths"]:
        written = folder()
        values = numbers(compiled(x, w, ms.Tensor(length, ms.int32)))
        modules = [module for _, module in steps(written, "after_grad")]
        found["while"][str(length)] = {
            "gradient": values,
            "compiled": bool(modules),
            **(counts(modules[-1]) if modules else {}),
        }
    written = folder()
    values = numbers(ms.grad(nets.four_times, (0, 1))(x, w))
    found["for"] = {"gradient": values, **counts(last(written, "after_grad"))}
    return Found(found)


def tape_of_other_values(ask: Ask) -> Found:
    """The nodes that the tape records for the inputs and for their negatives."""
    found: dict[str, Any] = {}
    for sign in (1, -1):
        net = made(ask, "tape")
        found[f"inputs times {sign}"] = {
            "tape": taped(net.call, signed(net, sign), tuple(net.weights))
        }
    return Found(found)


def tape_of_loops(ask: Ask) -> Found:
    """The nodes that the tape records for loops of several lengths."""
    set_style("tape", ask.device)
    x, w = loop_inputs()
    lengths = ask.options["lengths"]
    recorded = {
        str(length): taped(nets.while_positive, (x, w, ms.Tensor(length, ms.int32)), ())
        for length in lengths
    }
    return Found({"while": recorded, "for": taped(nets.four_times, (x, w), ())})


# What the measurements share


def made(ask: Ask, style: str) -> Net:
    """The scenario's net in one of MindSpore's styles."""
    return build(net_request(ask, f"mindspore-{style}"))


def signed(net: Net, sign: int) -> list[Any]:
    """The inputs of a net, those that are no integers times ``sign``."""
    return [
        sign * argument if "float" in dtype_of(argument) else argument for argument in net.arguments
    ]


def several(ask: Ask) -> bool:
    """Whether the scenario's net returns several outputs, of which the first is what is
    differentiated.
    """
    return isinstance(forward(made(ask, "tape")), tuple)


def gradient(ask: Ask) -> tuple[Net, Any]:
    """A net, and its gradient as a net: by the first input where that is no integer, and by all
    weights where there are any.
    """
    aux = several(ask)
    net = made(ask, "graph")
    position = 0 if "float" in dtype_of(net.arguments[0]) else None
    case = GradCase("value_and_grad", position, "all" if net.weights else None, aux)
    return net, wrapped(net.call, case, weights(net, case))


def folder() -> Path:
    """Where this process's compiler writes, emptied of what it wrote before."""
    found = Path(os.environ["MS_DEV_SAVE_GRAPHS_PATH"])
    assert found.name == IR
    for path in found.rglob("*.*"):
        path.unlink()
    return found


def last(written: Path, entry: str) -> Module:
    """A program as it goes to the backend."""
    return [module for _, module in steps(written, entry)][-1]


def compilation(written: Path, entry: str, net: Net) -> dict[str, Any]:
    """A program through the passes, and what stood in the scenario's own net when nothing was
    inlined yet.
    """
    own = (
        f"{type(net.call).__name__}_construct"
        if isinstance(net.call, nn.Cell)
        else net.call.__name__
    )
    typed = next(module for name, module in steps(written, entry) if name == "type_inference")
    return {**sequence(written, entry), "written": calls_written(typed, own)}


def loop_inputs() -> tuple[Any, Any]:
    """A vector, and what it is multiplied with again and again."""
    return ms.Tensor(np.array([1, 2], np.float32)), ms.Tensor(np.array([0.5, 2], np.float32))


def taped(call: Any, inputs: Any, parameters: tuple[Any, ...]) -> list[str]:
    """The operators on the tape of one gradient, sorted; leaves are left out."""
    names: list[str] = []

    def watched(*arguments: Any) -> Any:
        outputs = call(*arguments)
        first = next(flat(outputs))
        names.extend(node.name() for node in nodes_behind(first._grad_node) if not node.is_leaf())
        return first

    ms.grad(watched, 0, ms.ParameterTuple(parameters) if parameters else None)(*inputs)
    return sorted(names)


def nodes_behind(root: Any) -> Iterator[Any]:
    """The nodes of a tape; they are known by their numbers, since the objects are made anew at
    every access (2.10.0).
    """
    seen, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node._unique_id() not in seen:
            seen.add(node._unique_id())
            waiting.extend(child for child, _ in node.next_functions)
            yield node
