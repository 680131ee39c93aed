"""The table of correspondences, and how a row is found by any of its names."""

from collections import defaultdict
from functools import cache

from explorer.correspondence.activations import ACTIVATIONS
from explorer.correspondence.arithmetic import ELEMENTWISE, PRODUCTS, REDUCTIONS
from explorer.correspondence.layers import (
    ACTIVATION_LAYERS,
    CONVOLUTION_LAYERS,
    DROPOUT_LAYERS,
    IMAGE_LAYERS,
    LINEAR_LAYERS,
    LOSS_LAYERS,
    NORM_LAYERS,
    POOLING_LAYERS,
    RECURRENT_LAYERS,
)
from explorer.correspondence.losses import LOSSES
from explorer.correspondence.networks import CONVOLUTIONS, IMAGES, NORMS, PICKING, POOLING
from explorer.correspondence.operators import OPERATORS
from explorer.correspondence.records import Row
from explorer.correspondence.shapes import SHAPES
from explorer.model.engines import Framework

CHECKED = {"mindspore": "2.10.0", "torch": "2.13.0"}
"""The versions with which the rows were checked."""

OPS: tuple[Row, ...] = (
    *ACTIVATIONS,
    *ELEMENTWISE,
    *PRODUCTS,
    *REDUCTIONS,
    *SHAPES,
    *CONVOLUTIONS,
    *POOLING,
    *NORMS,
    *PICKING,
    *IMAGES,
    *LOSSES,
)

LAYERS: tuple[Row, ...] = (
    *ACTIVATION_LAYERS,
    *LINEAR_LAYERS,
    *CONVOLUTION_LAYERS,
    *POOLING_LAYERS,
    *NORM_LAYERS,
    *RECURRENT_LAYERS,
    *DROPOUT_LAYERS,
    *IMAGE_LAYERS,
    *LOSS_LAYERS,
)

ROWS = OPS + LAYERS + OPERATORS


def family_of(framework: Framework, op: str) -> Row | None:
    """The row of an operator, named as it is in graphs, or by its function.

    >>> family_of("torch", "aten.gelu.default").mindspore
    'ops.gelu'
    """
    return next(iter(_rows_of(framework, op)), None)


def _rows_of(framework: Framework, op: str) -> list[Row]:
    by_name = _by_operator()[framework]
    plain = op.removeprefix("PrimFunc_").replace("aten::", "aten.")
    rows = by_name.get(plain, [])
    while not rows and "." in plain:
        # What follows the last dot may name the overload: default, Tensor.
        plain = plain.rpartition(".")[0]
        # An op in place does the same work: relu_.
        rows = by_name.get(plain, []) or by_name.get(plain.rstrip("_"), [])
    return rows


def row_between(mindspore_op: str, torch_op: str) -> Row | None:
    """The row of two operators, each named as it is in graphs.

    >>> row_between("Conv2D", "aten.convolution.default").mindspore
    'ops.Conv2D'
    """
    here = _rows_of("mindspore", mindspore_op)
    return next((row for row in _rows_of("torch", torch_op) if row in here), None)


def layer_of(framework: Framework, class_name: str) -> Row | None:
    """The row of a layer by the name of its class: ``Dense``, ``nn.Dense``.

    >>> layer_of("mindspore", "Dense").torch
    'torch.nn.Linear'
    """
    last = class_name.rpartition(".")[2]
    for row in LAYERS:
        if row.name(framework).rpartition(".")[2] == last:
            return row
    return None


@cache
def _by_operator() -> dict[Framework, dict[str, list[Row]]]:
    """The rows of functions by their operators' names in graphs, and by their own."""
    here: dict[str, list[Row]] = defaultdict(list)
    there: dict[str, list[Row]] = defaultdict(list)
    for row in OPERATORS + OPS:
        for name in (
            row.mindspore,
            row.mindspore.removeprefix("ops."),
            *row.alike,
            *row.primitives,
        ):
            here[name].append(row)
        for name in (row.torch, *row.aten):
            there[name].append(row)
    return {"mindspore": dict(here), "torch": dict(there)}


@cache
def names() -> dict[str, tuple[Row, ...]]:
    """The rows by every name that a person may give."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in ROWS:
        alike = (row.mindspore, row.torch, *row.alike, *row.primitives, *row.aten, row.family)
        for name in dict.fromkeys(alike):
            rows[name].append(row)
    return {name: tuple(found) for name, found in rows.items()}


def rows_named(given: str) -> tuple[Row, ...]:
    """The rows that a name means; those of its last part where the whole is none's.

    >>> [row.torch for row in rows_named("nn.GELU")]
    ['torch.nn.GELU']
    """
    operators = tuple(row for row in OPERATORS if row.mindspore == f"ops.{given}")
    if operators:
        return operators
    for name in (given, given.removeprefix("mindspore."), f"torch.{given}"):
        if name in names():
            return names()[name]
    return tuple(row for row in ROWS if _is_called(row, given))


def _is_called(row: Row, given: str) -> bool:
    """Whether the last part of one of a row's names is the given one."""
    alike = (row.mindspore, row.torch, *row.alike)
    return any(name.endswith(f".{given}") for name in alike)
