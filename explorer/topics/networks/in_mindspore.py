"""Cells measured: starting mode, what registers a parameter, names of parts, limits of a graph."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset

from explorer.engines.mindspore.versions import provided
from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.networks.inputs import (
    BATCH,
    INDEX,
    INDEXING,
    MANY,
    MEAN,
    ROWS,
    SAMPLES,
    VARIANCE,
    VECTOR,
    WEIGHT,
    figures_by_mode,
    starting_figures,
    while_below_tensor,
)


class NormAndDense(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A dense layer after a batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.fc = nn.Dense(2, 1)

    def construct(self, x: Any) -> Any:
        """One number a row."""
        return self.fc(self.norm(x))


def starting_mode(ask: Ask) -> Found:
    """Whether new cells, MindSpore's own and a user's, are in training mode."""
    return Found(starting_figures(nn.Dense(2, 1), NormAndDense(), nn.Dropout(p=0.5)))


def modes(ask: Ask) -> Found:
    """What batch norm and dropout do after set_train(True) and set_train(False)."""
    set_style("tape")
    return Found(figures_by_mode(run_in_mode))


def run_in_mode(training: bool) -> tuple[Any, Any, AnyArray]:
    """A batch norm's output and the mean that it remembers, and dropout's output for ones."""
    norm = nn.BatchNorm1d(2, momentum=0.9)  # 1 minus PyTorch's momentum of 0.1 (2.10)
    norm.set_train(training)
    drop = nn.Dropout(p=0.5)
    drop.set_train(training)
    normalized = numbers(norm(ms.Tensor(ROWS)))  # before the mean is read, which it moves
    return normalized, numbers(norm.moving_mean), drop(ms.Tensor(MANY)).asnumpy()


class Holding(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Two layers in a container of some kind."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        self.layers = container([nn.Dense(2, 2), nn.Dense(2, 2)])


def containers(ask: Ask) -> Found:
    """How many parameters a cell has that keeps two layers in a list or in a container."""
    kinds = {"list": list, "CellList": nn.CellList, "SequentialCell": nn.SequentialCell}
    return Found({name: len(list(Holding(kind).get_parameters())) for name, kind in kinds.items()})


class BlockAndDense(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A block of two layers, and a dense layer after it."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2))
        self.fc = nn.Dense(2, 1)


def parts(ask: Ask) -> Found:
    """The names that the guide's calls give for the parts of one net, and for an added part."""
    net = BlockAndDense()
    figures: dict[str, Any] = {
        "name_cells": list(net.name_cells()),
        "cells_and_names": [name for name, _ in net.cells_and_names()],
        "get_parameters": [parameter.name for parameter in net.get_parameters()],
        "get_parameters_type": type(net.get_parameters()).__name__,
    }
    net.insert_child_to_cell("head", nn.Dense(1, 1))
    figures["after_insert_child_to_cell"] = list(net.name_cells())
    pytorch_names = ("named_children", "add_module", "named_parameters")
    # What a user who comes from PyTorch would look for.
    figures["missing"] = [name for name in pytorch_names if not hasattr(net, name)]
    return Found(figures)


def kinds_of_data(ask: Ask) -> Found:
    """Which kinds of data object there are, what `requires_grad` does, and what Tensor offers.

    A cell is given a buffer too.
    """
    set_style("tape")
    net = nn.Dense(2, 1)
    trainable_before = trainable_names(net)
    net.weight.requires_grad = False
    return Found(
        {
            "kinds": offered(ms, "Tensor", "Variable", "Parameter"),
            "buffers": offered(nn.Cell, "register_buffer", "named_buffers"),
            "registered": attempt(registered_buffers),
            "trainable_before": trainable_before,
            "trainable_after_requires_grad_False": trainable_names(net),
            "tensor_has": offered(ms.Tensor, "requires_grad_", "requires_grad", "backward", "grad"),
        }
    )


def registered_buffers() -> list[str]:
    """The buffers of a cell that one was registered in, as far as they are no parameters."""
    cell = nn.Cell()
    cell.register_buffer("mean", ms.Tensor([0.0]))
    parameters = [parameter.name for parameter in cell.get_parameters()]
    return [name for name, _ in cell.named_buffers() if name not in parameters]


def trainable_names(net: nn.Cell) -> list[str]:
    """The names of the parameters that an optimizer is given."""
    return [parameter.name for parameter in net.trainable_params()]


def offered(owner: Any, *names: str) -> list[str]:
    """Those of ``names`` that a module or a class has."""
    return [name for name in names if hasattr(owner, name)]


def loop_to_tensor(x: Any, at: Any) -> Any:
    """A sum over as many elements as a tensor says."""
    # Not `range(int(at))`, which is PyTorch's way to write it: in a graph (2.10) the tensor's value
    # is not known, and what the compiler says of the plain loop is what is asked here.
    total = x.sum() * 0
    for index in range(at):
        total = total + x[index]
    return total


def slices(ask: Ask) -> Found:
    """What indexing by values gives, and its gradient, in graph style and on the tape."""
    x, at = ms.Tensor(VECTOR), ms.Tensor(INDEX)

    def value_of(function: Any) -> Any:
        """What a function gives of the vector and the index."""
        return numbers(function(x, at))

    figures = {}
    for style in ("graph", "tape"):
        set_style(style)
        for function in (*INDEXING, while_below_tensor, loop_to_tensor):
            # A plain function is compiled under ms.jit alone, whatever the mode is; ms.grad of one
            # goes by the mode (2.10).
            styled = ms.jit(function) if style == "graph" else function
            value = attempt(value_of, styled)
            gradient = attempt(value_of, ms.grad(function))
            figures[f"{function.__name__}.{style}"] = {"value": value, "gradient": gradient}
    return Found(figures)


LENGTHS = (2, 3, 4, 4)
"""The lengths of the vectors that are compiled for; the last twice, which compiles nothing more."""


class Squares(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The sum of squares of any vector."""

    def construct(self, x: Any) -> Any:
        """One number."""
        return (x * x).sum()


def compilations(ask: Ask) -> Found:
    """How many graphs are compiled for vectors of three lengths, by how the length is declared.

    The vectors are given as they are, and with a dynamic dimension declared; that to a cell, to a
    cell that is given to ms.grad, and to a cell that calls ms.grad.
    """
    set_style("graph")
    return Found(
        {
            "fixed": compiled_graphs(Squares()),
            "dynamic": attempt(compiled_graphs_of_declared, Squares()),
            "gradient": attempt(compiled_gradients_of_declared, Squares()),
            "gradient_in_a_cell": attempt(compiled_graphs_of_declared, Gradient(Squares())),
            "lengths": len(set(LENGTHS)),
        }
    )


def compiled_graphs(cell: nn.Cell) -> int:
    """How many graphs a cell has once it was called with vectors of LENGTHS."""
    for length in LENGTHS:
        cell(ms.Tensor(np.ones(length, np.float32)))
    return len(cell.compile_cache)


def compiled_graphs_of_declared(cell: nn.Cell) -> int:
    """The same for a cell whose vectors are declared to be of any length."""
    cell.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
    return compiled_graphs(cell)


def compiled_gradients_of_declared(cell: nn.Cell) -> int:
    """How many graphs ms.grad of such a cell compiles for vectors of LENGTHS."""
    cell.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
    gradient = ms.grad(cell)
    cache = provided("graph.api.ms_compile_cache")
    before = len(cache)
    for length in LENGTHS:
        gradient(ms.Tensor(np.ones(length, np.float32)))
    return len(cache) - before


class Gradient(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The gradient of another cell."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__()
        self.net = net

    def construct(self, x: Any) -> Any:
        """The gradient with respect to x."""
        return ms.grad(self.net)(x)


# What is not trained, and changed from outside


class Untrained(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Holds a number as a Tensor, as a buffer and as a Parameter that is not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.tensor = ms.Tensor([2.0])
        self.register_buffer("buffer", ms.Tensor([2.0]))
        self.parameter = ms.Parameter(ms.Tensor([2.0]), name="parameter", requires_grad=False)

    def construct(self, x: Any) -> Any:
        """The input times each of the three."""
        return self.tensor * x, self.buffer * x, self.parameter * x


CHANGED = 9.0
"""The number that is put in place of 2 once the net was called."""


def not_trained(ask: Ask) -> Found:
    """What a net computes once its numbers are changed from outside, and which of them it saves.

    A Tensor is assigned, the others are loaded with load_state_dict.
    """
    set_style(ask.options["style"], ask.device)
    net, one = Untrained(), ms.Tensor([1.0])
    net(one)
    net.tensor = ms.Tensor([CHANGED])
    state = net.state_dict()
    changed = {name: ms.Tensor([CHANGED]) for name in ("buffer", "parameter")}
    net.load_state_dict({**state, **changed})
    after = [float(numbers(output)[0]) for output in net(one)]
    ms.save_checkpoint(net, "untrained.ckpt")
    saved = ms.load_checkpoint("untrained.ckpt")
    names = ("tensor", "buffer", "parameter")
    return Found(
        {
            "changed": CHANGED,
            "after": dict(zip(names, after, strict=True)),
            "saved": [name for name in names if name in saved],
            "trained": trainable_names(net),
        }
    )


# What the argument amp_level of Model does to a net that sets its own precision


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A batch norm between two dense layers, all of whose outputs are returned."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.last = nn.Dense(3, 1)

    def construct(self, x: Any) -> Any:
        """The output of each layer."""
        first = self.first(x)
        norm = self.norm(first)
        return first, norm, self.last(norm)


def amp_level(ask: Ask) -> Found:
    """The dtypes of the layers' outputs with one's own precision, by the level that Model is given.

    One's own is the guide's: float16 everywhere, and float32 in batch norms.
    """
    figures: dict[str, Any] = {}
    for level in ("O0", "O2", "O3"):
        figures[level] = attempt_briefly(dtypes, ask.options["style"], level)
    return Found(figures)


def dtypes(style: str, level: str) -> list[str]:
    """The dtype of each layer's output once a Model has been made of the net."""
    set_style(style)
    net = Net()
    net.to_float(ms.float16)
    for _, cell in net.cells_and_names():
        if isinstance(cell, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            cell.to_float(ms.float32)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    # Its own loss scaling is not supported on the CPU (2.10.0).
    ms.Model(net, nn.MSELoss(), optimizer, amp_level=level, loss_scale_manager=None)
    outputs = net(ms.Tensor(np.ones((2, 3), np.float32)))
    return [str(output.dtype) for output in outputs]


# Parameters in a container, and inference over a dataset


class HoldingParameters(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Two Parameters in a container of some kind: a factor, and what is added."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        factor = ms.Parameter(ms.Tensor([2.0]), name="factor")
        addend = ms.Parameter(ms.Tensor([1.0]), name="addend")
        self.weights = container([factor, addend])

    def construct(self, x: Any) -> Any:
        """One number."""
        return (x * self.weights[0] + self.weights[1]).sum()


def parameters_in(ask: Ask) -> Found:
    """What each container registers, what the net gives, and the gradients that a step would use."""
    set_style("tape")
    x = ms.Tensor([3.0])
    figures: dict[str, Any] = {}
    for container in (list, tuple, ms.ParameterTuple):
        net = HoldingParameters(container)
        trained = net.trainable_params()
        figures[container.__name__] = {
            "registered": [parameter.name for parameter in net.get_parameters()],
            "value": numbers(net(x)),
            "gradients": numbers(ms.grad(net, None, trained)(x)),
        }
    return Found(figures)


class NormNet(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A dense layer after a batch norm, with given weights."""

    def __init__(self) -> None:
        super().__init__()
        statistics = {"moving_mean_init": ms.Tensor(MEAN), "moving_var_init": ms.Tensor(VARIANCE)}
        self.norm = nn.BatchNorm1d(2, **statistics)
        self.fc = nn.Dense(2, 1, ms.Tensor(WEIGHT), has_bias=False)

    def construct(self, x: Any) -> Any:
        """One number a sample."""
        return self.fc(self.norm(x))


def batches(ask: Ask) -> Found:
    """The outputs for all samples at inference, by the way to batch them."""
    set_style(ask.options["style"])
    net = NormNet().set_train(False)
    return Found(
        {
            "one by one": inferred(net, 1),
            "by default": inferred(net, BATCH),
            "keeping the rest": inferred(net, BATCH, drop_remainder=False),
            "dropping the rest": inferred(net, BATCH, drop_remainder=True),
            "again": inferred(net, BATCH),
        }
    )


def inferred(net: nn.Cell, size: int, **options: bool) -> list[Any]:
    """The outputs for the samples that the batches have."""
    dataset = NumpySlicesDataset(SAMPLES, shuffle=False).batch(size, **options)
    outputs: list[Any] = []
    for (batch,) in dataset.create_tuple_iterator(num_epochs=1):
        outputs += numbers(net(batch))
    return outputs


def listings(ask: Ask) -> Found:
    """What each line of the guides makes, or what it raises: as printed, and as meant."""
    set_style("tape", ask.device)
    figures: dict[str, dict[str, Any]] = {}
    for which, lines in (("as printed", lines_as_printed()), ("as meant", lines_as_meant())):
        figures[which] = {line: attempt_briefly(_made, make) for line, make in lines.items()}
    return Found(figures)


def _made(make: Callable[[], Any]) -> str:
    return type(make()).__name__


def lines_as_printed() -> dict[str, Callable[[], Any]]:
    """Lines of the guides, each by itself."""
    return {
        "nn.Conv2d(1, 3)": lambda: nn.Conv2d(1, 3),
        "nn.BatchNorm(3)": lambda: nn.BatchNorm(3),
        "value_and_grad(forward_fn), defined as forword_fn": misspelt,
    }


def misspelt() -> Any:
    """The gradient function of a name that is defined in another spelling."""

    def forword_fn(x: Any) -> Any:
        return x * x

    return ms.value_and_grad(forward_fn)  # type: ignore[name-defined]  # noqa: F821


def lines_as_meant() -> dict[str, Callable[[], Any]]:
    """The same with the size of a kernel, the name of the layer, and one name of the function."""

    def forward_fn(x: Any) -> Any:
        return x * x

    return {
        "nn.Conv2d(1, 3, 3)": lambda: nn.Conv2d(1, 3, 3),
        "nn.BatchNorm2d(3)": lambda: nn.BatchNorm2d(3),
        "value_and_grad(forward_fn)": lambda: ms.value_and_grad(forward_fn),
    }
