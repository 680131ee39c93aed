"""Cells measured: the mode they start in, what registers a parameter, the names of their parts,
slices and shapes in a graph.
"""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.networks import sample


class Pair(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A dense layer after a batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.fc = nn.Dense(2, 1)

    def construct(self, x: Any) -> Any:
        """One number a row."""
        return self.fc(self.norm(x))


class Holding(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Two layers in a container of some kind."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        self.layers = container([nn.Dense(2, 2), nn.Dense(2, 2)])


def starting_mode(ask: Ask) -> Found:
    """Whether a cell of MindSpore's own and one of the user's are in training mode before anything
    was said.
    """
    return Found(
        {
            "layer": nn.Dense(2, 1).training,
            "own": Pair().training,
            "dropout": nn.Dropout(p=0.5).training,
        }
    )


def modes(ask: Ask) -> Found:
    """What batch norm and dropout do after set_train(True) and set_train(False)."""
    set_style("tape")
    x, found = ms.Tensor(sample.ROWS), {}
    for training in (True, False):
        norm, drop = nn.BatchNorm1d(2, momentum=0.9), nn.Dropout(p=0.5)
        norm.set_train(training)
        drop.set_train(training)
        name = "training" if training else "inference"
        found[name] = {"norm": numbers(norm(x)), "running_mean": numbers(norm.moving_mean)}
        kept = drop(ms.Tensor(sample.MANY)).asnumpy()
        found[name] |= {
            "dropout_zeros": int((kept == 0).sum()),
            "dropout_values": sorted(set(kept.ravel().tolist())),
        }
    return Found(found)


def containers(ask: Ask) -> Found:
    """How many parameters a cell has that keeps two layers in a plain list, a CellList, a
    SequentialCell.
    """
    kinds = {"list": list, "CellList": nn.CellList, "SequentialCell": nn.SequentialCell}
    return Found({name: len(list(Holding(kind).get_parameters())) for name, kind in kinds.items()})


def parts(ask: Ask) -> Found:
    """The names that the guide's calls give for the parts of one net, and for a part added by name."""
    net = Pair()
    found: dict[str, Any] = {
        "name_cells": list(net.name_cells()),
        "cells_and_names": [name for name, _ in net.cells_and_names()],
        "get_parameters": [each.name for each in net.get_parameters()],
        "get_parameters_type": type(net.get_parameters()).__name__,
    }
    net.insert_child_to_cell("head", nn.Dense(1, 1))
    found["after_insert_child_to_cell"] = list(net.name_cells())
    found["missing"] = [
        name
        for name in ("named_children", "add_module", "named_parameters")
        if not hasattr(net, name)
    ]
    return Found(found)


def kinds_of_data(ask: Ask) -> Found:
    """Which kinds of data object there are, what `requires_grad` does to them, and what Tensor and
    Cell offer besides.
    """
    set_style("tape")
    net = nn.Dense(2, 1)
    before = [each.name for each in net.trainable_params()]
    net.weight.requires_grad = False
    return Found(
        {
            "kinds": [name for name in ("Tensor", "Variable", "Parameter") if hasattr(ms, name)],
            "buffers": [
                name for name in ("register_buffer", "named_buffers") if hasattr(nn.Cell, name)
            ],
            "Buffer": hasattr(nn, "Buffer"),
            "trainable_before": before,
            "trainable_after_requires_grad_False": [each.name for each in net.trainable_params()],
            "tensor_has": [
                name
                for name in ("requires_grad_", "requires_grad", "backward", "grad")
                if hasattr(ms.Tensor, name)
            ],
        }
    )


def by_tensor(x: Any, at: Any) -> Any:
    """One element at an index that is a tensor."""
    return x[at]


def slice_by_tensor(x: Any, at: Any) -> Any:
    """A slice whose start is a tensor."""
    return x[at:]


def by_mask(x: Any, at: Any) -> Any:
    """The elements above 1: how many there are depends on the values."""
    return x[x > 1]


def loop_to_tensor(x: Any, at: Any) -> Any:
    """A sum over as many elements as a tensor says."""
    total = x.sum() * 0
    for index in range(at):
        total = total + x[index]
    return total


def slices(ask: Ask) -> Found:
    """What indexing by values gives, and its gradient, in graph style and on the tape."""
    x, at, found = ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor(1), {}
    for name in ("graph", "tape"):
        set_style(name)
        for function in (by_tensor, slice_by_tensor, by_mask, loop_to_tensor):
            called = ms.jit(function) if name == "graph" else function
            value = attempt(lambda called=called: numbers(called(x, at)))
            gradient = attempt(lambda function=function: numbers(ms.grad(function)(x, at)))
            found[f"{function.__name__}.{name}"] = {"value": value, "gradient": gradient}
    return Found(found)


class Squares(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The sum of squares of any vector."""

    def construct(self, x: Any) -> Any:
        """One number."""
        return (x * x).sum()


def compilations(ask: Ask) -> Found:
    """How many graphs are compiled for vectors of three lengths: as such, and with a dynamic
    dimension declared.
    """
    set_style("graph")
    fixed, dynamic = Squares(), Squares()
    dynamic.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
    for cell in (fixed, dynamic):
        for length in (2, 3, 4, 4):
            cell(ms.Tensor(np.ones(length, np.float32)))
    return Found(
        {"fixed": len(fixed.compile_cache), "dynamic": len(dynamic.compile_cache), "lengths": 3}
    )
