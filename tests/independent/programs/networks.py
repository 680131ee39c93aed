"""The figures of the claims on networks, their parts and their containers."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.independent.attempts import attempt


# Row 32: whether a new layer is in training mode.
def row_32_in_torch(torch: Any) -> dict[str, Any]:
    """Of a new Module."""
    own = type("Own", (torch.nn.Module,), {})()
    return {
        "training": torch.nn.Linear(2, 2).training,
        "own": own.training,
        "dropout": torch.nn.Dropout().training,
    }


def row_32_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """Of a new Cell."""
    own = type("Own", (ms.nn.Cell,), {})()
    return {
        "training": ms.nn.Dense(2, 2).training,
        "own": own.training,
        "dropout": ms.nn.Dropout(p=0.5).training,
    }


# Row 33: batch norm of [[1, 2], [3, -2], [5, 6]] in training and in inference.
BATCH = np.array([[1.0, 2.0], [3.0, -2.0], [5.0, 6.0]])
EPSILON = 1e-5


def row_33_closed_form() -> dict[str, Any]:
    """By the batch's statistics, a tenth of which is kept; then by the starting ones, 0 and 1."""
    mean, variance = BATCH.mean(0), BATCH.var(0)
    return {
        "training": {
            "norm": ((BATCH - mean) / np.sqrt(variance + EPSILON)).tolist(),
            "running_mean": (0.1 * mean).tolist(),
            "dropout_values": [0.0, 2.0],
        },
        "inference": {
            "norm": (BATCH / np.sqrt(1 + EPSILON)).tolist(),
            "running_mean": [0.0, 0.0],
            "dropout_zeros": 0,
        },
    }


# Row 34: how many parameters a net finds in a list of two dense layers with biases.
def row_34_in_torch(torch: Any) -> dict[str, Any]:
    """In a plain list, a ModuleList, a Sequential."""

    class Net(torch.nn.Module):  # type: ignore[misc]  # not checked, see pyproject.toml
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = layers

    pair = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]
    kinds = {
        "list": pair,
        "ModuleList": torch.nn.ModuleList(pair),
        "Sequential": torch.nn.Sequential(*pair),
    }
    return {name: len(list(Net(layers).parameters())) for name, layers in kinds.items()}


def row_34_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """In a plain list, a CellList, a SequentialCell."""

    class Net(ms.nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = layers

    pair = [ms.nn.Dense(2, 2), ms.nn.Dense(2, 2)]
    cells = ms.nn.SequentialCell(pair)
    kinds = {"list": pair, "CellList": ms.nn.CellList(pair), "SequentialCell": cells}
    return {name: len(list(Net(layers).get_parameters())) for name, layers in kinds.items()}


# Row 35: what the guide pairs, on a net of its shape: a block of two layers, and a dense one.
def row_35_in_torch(torch: Any) -> dict[str, Any]:
    """The names by named_children and of the parameters, and the children with one added."""
    net = torch.nn.Module()
    net.block = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    net.fc = torch.nn.Linear(2, 2)
    figures = {
        "named_children": [name for name, _ in net.named_children()],
        "parameters": [name for name, _ in net.named_parameters()],
    }
    net.add_module("head", torch.nn.Linear(1, 1))
    return {**figures, "with another": [name for name, _ in net.named_children()]}


def row_35_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The names by cells_and_names and of the parameters, the children with one added.

    And those of PyTorch's methods that a Cell lacks.
    """
    net = ms.nn.Cell()
    net.block = ms.nn.SequentialCell(ms.nn.Dense(2, 2), ms.nn.BatchNorm1d(2))
    net.fc = ms.nn.Dense(2, 2)
    wanted = ("named_children", "add_module", "named_parameters")
    figures = {
        "cells_and_names": [name for name, _ in net.cells_and_names()],
        "get_parameters": [parameter.name for parameter in net.get_parameters()],
        "missing": [name for name in wanted if not hasattr(net, name)],
    }
    net.insert_child_to_cell("head", ms.nn.Dense(1, 1))
    return {**figures, "with another": list(net.name_cells())}


# Row 36: the kinds of data object.
def row_36_in_torch(torch: Any) -> dict[str, Any]:
    """What a Variable is, the buffers of batch norm, and what is trained when a weight is frozen."""
    net = torch.nn.Linear(2, 2)
    net.weight.requires_grad = False
    net(torch.ones(1, 2)).sum().backward()
    return {
        "kinds": [
            name
            for name, home in (("Tensor", torch), ("Parameter", torch.nn), ("Buffer", torch.nn))
            if hasattr(home, name)
        ],
        "Variable": type(torch.autograd.Variable(torch.ones(1))).__name__,
        "buffers": [name for name, _ in torch.nn.BatchNorm1d(2).named_buffers()],
        "has a gradient": {name: value.grad is not None for name, value in net.named_parameters()},
    }


def row_36_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The weights that stay trainable when one is frozen, whether a Cell has buffers; kinds of data."""
    net = ms.nn.Dense(2, 2)
    net.weight.requires_grad = False
    wanted = ("register_buffer", "named_buffers")
    kinds = ("Tensor", "Variable", "Parameter")
    methods = ("requires_grad_", "requires_grad", "backward", "grad")
    return {
        "kinds": [name for name in kinds if hasattr(ms, name)],
        "of a tensor": [name for name in methods if hasattr(ms.Tensor, name)],
        "trainable": [weight.name for weight in net.trainable_params()],
        "buffers": [name for name in wanted if hasattr(net, name)],
    }


# Row 39: indexing by what is known only when the program runs.
def row_39_in_mindspore(ms: Any) -> dict[str, Any]:
    """Value and gradient of each; what it raises in graph style, under ms.jit and by grad."""
    x, at = ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor(1)
    is_graph = ms.get_context("mode") == ms.GRAPH_MODE

    def numbers_of(function: Any) -> Any:
        return function(x, at).asnumpy().tolist()

    figures = {}
    for function in (
        by_tensor,
        slice_by_tensor,
        by_mask,
        write_by_tensor,
        write_by_mask,
        list_by_tensor,
        reshape_by_tensor,
        while_below_tensor,
        loop_to_tensor,
    ):
        figures[function.__name__] = {
            "value": attempt(numbers_of, ms.jit(function) if is_graph else function),
            "gradient": attempt(numbers_of, ms.grad(function)),
        }
    return figures


def by_tensor(x: Any, at: Any) -> Any:
    """One element."""
    return x[at]


def slice_by_tensor(x: Any, at: Any) -> Any:
    """The elements from one on."""
    return x[at:]


def by_mask(x: Any, at: Any) -> Any:
    """The elements above 1."""
    return x[x > 1]


def write_by_tensor(x: Any, at: Any) -> Any:
    """The squares, one of them 0."""
    kept = x * 1
    kept[at] = 0.0
    return kept * kept


def write_by_mask(x: Any, at: Any) -> Any:
    """The squares, 0 above 1."""
    kept = x * 1
    kept[x > 1] = 0.0
    return kept * kept


def list_by_tensor(x: Any, at: Any) -> Any:
    """One result of three."""
    return [x * 1, x * 2, x * 3][at]


def reshape_by_tensor(x: Any, at: Any) -> Any:
    """The squares, in rows."""
    return x.reshape(at, -1) ** 2


def while_below_tensor(x: Any, at: Any) -> Any:
    """The sum of the first elements."""
    total, index = x.sum() * 0, at * 0
    while index < at:
        total = total + x[index]
        index = index + 1
    return total


def loop_to_tensor(x: Any, at: Any) -> Any:
    """The same by range."""
    total = x.sum() * 0
    for index in range(at):
        total = total + x[index]
    return total


def row_39_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """How many graphs are compiled for three lengths, by what the length is declared to."""
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        return {"compilations": _compilations(ms)}
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def _compilations(ms: Any) -> dict[str, int]:
    from mindspore.graph import api

    class Squares(ms.nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def construct(self, x: Any) -> Any:
            return (x * x).sum()

    class Gradient(ms.nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.net = Squares()

        def construct(self, x: Any) -> Any:
            return ms.grad(self.net)(x)

    def compiled(function: Any) -> int:
        before = len(api.ms_compile_cache)
        for length in (2, 3, 4, 4):
            function(ms.ops.ones(length, ms.float32))
        if isinstance(function, ms.nn.Cell):
            return len(function.compile_cache)
        return len(api.ms_compile_cache) - before

    def declared(cell: Any) -> Any:
        cell.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
        return cell

    return {
        "fixed": compiled(Squares()),
        "dynamic": compiled(declared(Squares())),
        "gradient": compiled(ms.grad(declared(Squares()))),
        "gradient_in_a_cell": compiled(declared(Gradient())),
    }


# Row 74: a factor of 2 and an addend of 1, kept in a container, at an input of 3.
def row_74_closed_form() -> dict[str, Any]:
    """The value, and its gradients with respect to the factor and the addend."""
    return {"value": 2.0 * 3 + 1, "gradients": [[3.0], [1.0]]}


def row_74_in_torch(torch: Any) -> dict[str, Any]:
    """How many parameters a Module has of each container."""
    figures = {}
    for name, kind in {"list": list, "tuple": tuple}.items():
        module = torch.nn.Module()
        module.kept = kind(torch.nn.Parameter(torch.tensor([value])) for value in (2.0, 1.0))
        figures[name] = [parameter.tolist() for parameter in module.parameters()]
    return figures


def row_74_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """How many parameters a Cell has of each container, by their names."""
    figures = {}
    for kind in (list, tuple, ms.ParameterTuple):
        cell = ms.nn.Cell()
        factor = ms.Parameter(ms.Tensor([2.0]), name="factor")
        cell.kept = kind((factor, ms.Parameter(ms.Tensor([1.0]), name="addend")))
        figures[kind.__name__] = [parameter.name for parameter in cell.get_parameters()]
    return figures


# Row 76: the dtypes of layers that were set by to_float, after a Model has been given a level.
def row_76_in_mindspore(ms: Any) -> dict[str, Any]:
    """Dense layers in float16 around a batch norm in float32, by the level."""
    return {level: _dtypes(ms, level) for level in ("O0", "O2", "O3")}


def _dtypes(ms: Any, level: str) -> list[str]:
    layers = ms.nn.CellList([ms.nn.Dense(4, 4), ms.nn.BatchNorm1d(4), ms.nn.Dense(4, 2)])
    for layer, own in zip(layers, (ms.float16, ms.float32, ms.float16), strict=True):
        layer.to_float(own)

    class Net(ms.nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.layers = layers

        def construct(self, x: Any) -> Any:
            first = self.layers[0](x)
            second = self.layers[1](first)
            return first, second, self.layers[2](second)

    net = Net()
    optimizer = ms.nn.Momentum(net.trainable_params(), 0.1, 0.9)
    ms.Model(net, ms.nn.MSELoss(), optimizer, amp_level=level, loss_scale_manager=None)
    return [str(output.dtype) for output in net(ms.Tensor(np.ones((3, 4), np.float32)))]


# Row 78: batch norm with given statistics and a dense layer on five samples, in batches of two.
SAMPLES = np.array([[1, 2], [3, -2], [5, 6], [-1, 0.5], [0.25, -4]], np.float32)
NORM_MEAN, NORM_VARIANCE = np.array([0.5, -1]), np.array([2, 0.25])
DENSE_WEIGHT = np.array([2, -3])


def row_78_closed_form() -> dict[str, Any]:
    """The outputs of all samples, and of those in whole batches."""
    normal = (SAMPLES - NORM_MEAN) / np.sqrt(NORM_VARIANCE + 1e-5)
    outputs = (normal @ DENSE_WEIGHT)[:, None].tolist()
    return {"all": outputs, "whole batches": outputs[:4]}


# Row 88: a number that is changed from 2 to 9 once a net was called, by what holds it.
def row_88_in_mindspore(ms: Any) -> dict[str, Any]:
    """What the net computes afterwards, and what it saves."""

    class Net(ms.nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.plain = ms.Tensor([2.0])
            self.register_buffer("held", ms.Tensor([2.0]))
            self.frozen = ms.Parameter(ms.Tensor([2.0]), name="frozen", requires_grad=False)

        def construct(self, x: Any) -> Any:
            return x * self.plain, x * self.held, x * self.frozen

    net = Net()
    net(ms.Tensor([1.0]))
    net.plain = ms.Tensor([9.0])
    net.held.assign_value(ms.Tensor([9.0]))
    net.frozen.set_data(ms.Tensor([9.0]))
    tensor, buffer, parameter = (float(part.asnumpy()[0]) for part in net(ms.Tensor([1.0])))
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "net.ckpt")
        ms.save_checkpoint(net, path)
        saved = [name.replace("frozen", "parameter") for name in ms.load_checkpoint(path)]
    return {
        "after": {"tensor": tensor, "buffer": buffer, "parameter": parameter},
        "saved": saved,
        "changed": 9.0,
    }


# Row 92: lines of the guides as they are printed, and with the name or the size that they lack.
COUNTED = "import torch; print(torch.cuda._parse_visible_devices())"


def row_92_in_torch(torch: Any) -> dict[str, Any]:
    """Whether a fresh process counts other GPUs where a variable is 1."""
    without = _counted({})
    names = ("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES")
    return {name: _counted({name: "1"}) != without for name in names}


def _counted(variables: dict[str, str]) -> str:
    environment = {**os.environ, **variables}
    if "CUDA_VISIBLE_DEVICES" not in variables:
        environment.pop("CUDA_VISIBLE_DEVICES", None)
    return subprocess.run(
        [sys.executable, "-c", COUNTED], env=environment, capture_output=True, text=True, check=True
    ).stdout


def row_92_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The classes that the lines make, or the errors."""

    def named(line: str) -> str:
        scope = {"nn": ms.nn, "ms": ms, "forword_fn": abs, "forward": abs}
        return type(eval(line, scope)).__name__

    lines = (
        "nn.Conv2d(1, 3)",
        "nn.Conv2d(1, 3, 3)",
        "nn.BatchNorm(3)",
        "nn.BatchNorm2d(3)",
        "ms.value_and_grad(forward_fn)",
        "ms.value_and_grad(forward)",
    )
    return {line: attempt(named, line) for line in lines}
