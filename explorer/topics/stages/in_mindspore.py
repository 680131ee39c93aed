"""Programs compiled by MindSpore with their passes written down, and its tapes of the same."""

import os
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.engines.mindspore.gradient_cell import wrapped
from explorer.engines.mindspore.net import Net, build, dtype_of, flat, forward
from explorer.engines.mindspore.versions import require
from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.measurement import Ask, Found
from explorer.model.passes import TYPED
from explorer.topics.in_mindspore import numbers, set_style, taped_operators
from explorer.topics.scenario_nets import net_request
from explorer.topics.stages import programs
from explorer.topics.stages.programs import (
    after_each_pass,
    calls_written,
    counts,
    final_program,
    fingerprint,
    operators,
    program_after,
    sequence,
)
from explorer.workers.environments import IR

FUNCTION_ENTRY = "after_grad"
"""What the compiler calls the entry graph of ``ms.grad`` of a function (2.10.0)."""


class TrainStep(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Gradient and update in one net."""

    def __init__(self, net: Any, optimizer: Any, has_aux: bool) -> None:
        super().__init__()
        self.net = net
        self.optimizer = optimizer  # the name by which the update's nodes are known in the IR
        self.weights = optimizer.parameters
        self.has_aux = has_aux

    def construct(self, *inputs: Any) -> Any:
        """The loss, once the optimizer has run."""
        step = ms.value_and_grad(self.net, None, self.weights, self.has_aux)
        loss, gradients = step(*inputs)
        return ops.depend(loss, self.optimizer(gradients))


def gradient_passes(ask: Ask) -> Found:
    """What each pass makes of a gradient."""
    net, gradient = gradient_cell(ask)
    folder = emptied_folder()
    gradient(*net.arguments)
    return Found(compilation(folder, gradient, net))


def training_passes(ask: Ask) -> Found:
    """What each pass makes of a whole training step: gradient and optimizer in one graph.

    Raises ExplorerError for a net without weights.
    """
    has_aux = returns_several(ask)
    net = fresh_net(ask, "graph")
    if not net.weights:
        raise ExplorerError("there is no training step of a net without weights")
    step = TrainStep(net.call, nn.Momentum(net.weights, 0.1, 0.9), has_aux)
    folder = emptied_folder()
    step(*net.arguments)
    return Found(compilation(folder, step, net))


def compilation(folder: Path, compiled: Any, net: Net) -> dict[str, Any]:
    """A program through the passes, and what its author wrote.

    The latter is what stood in the scenario's own net when nothing was inlined yet.
    """
    entry = graph_name(compiled)
    typed = program_after(folder, entry, TYPED.file)
    own_calls = calls_written(typed, graph_name(net.call))
    return {**sequence(folder, entry), "written": own_calls}


def graph_name(call: Any) -> str:
    """What the name of the graph ends with that the compiler makes of a Cell or a function."""
    return f"{type(call).__name__}_construct" if isinstance(call, nn.Cell) else str(call.__name__)


def graphs_of_other_values(ask: Ask) -> Found:
    """The graphs compiled for the inputs and for their negatives.

    Beside them, whether a second call with other values compiles.
    """
    figures: dict[str, Any] = {}
    for name, sign in programs.SIGNS.items():
        net, gradient = gradient_cell(ask)
        inputs = signed(net, sign)
        folder = emptied_folder()
        values = numbers(gradient(*inputs))
        module = final_program(folder, graph_name(gradient))
        # Emptied again: what is there afterwards shows that the second call compiled too.
        emptied_folder()
        gradient(*signed(net, -sign))
        figures[name] = {
            "gradient": values,
            **counts(module),
            "operators": dict(sorted(operators(module).items())),
            "fingerprint": fingerprint(module),
            "compiled again": any(folder.glob("*.ir")),
        }
    return Found(figures)


def tapes_of_other_values(ask: Ask) -> Found:
    """The nodes that the tape records for the inputs and for their negatives."""
    figures: dict[str, Any] = {}
    for name, sign in programs.SIGNS.items():
        net = fresh_net(ask, "tape")
        figures[name] = {"tape": taped(net.call, signed(net, sign), net.weights)}
    return Found(figures)


def graphs_of_loops(ask: Ask) -> Found:
    """The graphs of a loop whose length is a value, and of one whose length is a constant.

    The first is compiled once and run for several lengths.
    """
    set_style("graph", ask.device)
    x, w = loop_inputs()
    by_length: dict[str, Any] = {}
    gradient = ms.grad(programs.while_positive, (0, 1))
    for length in ask.options["lengths"]:
        folder = emptied_folder()
        values = numbers(gradient(x, w, ms.Tensor(length, ms.int32)))
        figures: dict[str, Any] = {"gradient": values, "compiled": False}
        # A length that needed no compilation has left no texts.
        for _, module in after_each_pass(folder, FUNCTION_ENTRY):
            figures.update(compiled=True, **counts(module))
        by_length[str(length)] = figures

    folder = emptied_folder()
    values = numbers(ms.grad(programs.four_times, (0, 1))(x, w))
    unrolled = counts(final_program(folder, FUNCTION_ENTRY))
    return Found({"while": by_length, "for": {"gradient": values, **unrolled}})


def tapes_of_loops(ask: Ask) -> Found:
    """The nodes that the tape records for loops of several lengths."""
    set_style("tape", ask.device)
    x, w = loop_inputs()
    by_length: dict[str, Any] = {}
    for length in ask.options["lengths"]:
        inputs = (x, w, ms.Tensor(length, ms.int32))
        by_length[str(length)] = taped(programs.while_positive, inputs, ())
    return Found({"while": by_length, "for": taped(programs.four_times, (x, w), ())})


# What the measurements share


def fresh_net(ask: Ask, style: str) -> Net:
    """The scenario's net in one of MindSpore's styles, which is the process's from then on."""
    return build(net_request(ask, f"mindspore-{style}"))


def signed(net: Net, sign: int) -> list[Any]:
    """The inputs of a net, those that are no integers times ``sign``."""
    inputs = list(net.arguments)
    for position, argument in enumerate(inputs):
        if "float" in dtype_of(argument):
            inputs[position] = sign * argument
    return inputs


def returns_several(ask: Ask) -> bool:
    """Whether the scenario's net returns several outputs; the first is what is differentiated."""
    return isinstance(forward(fresh_net(ask, "tape")), tuple)


def gradient_cell(ask: Ask) -> tuple[Net, Any]:
    """A net, and its gradient as a Cell.

    With respect to the first input where that is no integer, and to all weights if there are any.
    """
    # On the tape and before the net is built in graph style: it compiles nothing there.
    has_aux = returns_several(ask)
    net = fresh_net(ask, "graph")
    position = 0 if "float" in dtype_of(net.arguments[0]) else None
    weights = ms.ParameterTuple(net.weights) if net.weights else None
    case = GradCase("value_and_grad", position, "all" if net.weights else None, has_aux)
    return net, wrapped(net.call, case, weights, len(net.inputs))


def emptied_folder() -> Path:
    """Where this process's compiler writes, emptied of what it wrote before."""
    folder = Path(os.environ["MS_DEV_SAVE_GRAPHS_PATH"])
    assert folder.name == IR  # never the folder of somebody who set the variable themselves
    for path in folder.rglob("*.*"):
        path.unlink()
    return folder


def loop_inputs() -> tuple[Any, Any]:
    """A vector, and what it is multiplied with again and again."""
    return ms.Tensor(np.array([1, 2], np.float32)), ms.Tensor(np.array([0.5, 2], np.float32))


def taped(call: Any, inputs: Any, weights: Any) -> list[str]:
    """The operators on the tape of one gradient, sorted; leaves are left out."""
    require("Tensor._grad_node")
    names: list[str] = []

    def watched(*arguments: Any) -> Any:
        """The first output, looked at while its tape is there."""
        output = next(flat(call(*arguments)))
        names.extend(taped_operators(output))
        return output

    ms.grad(watched, 0, ms.ParameterTuple(weights) if weights else None)(*inputs)
    return names
