"""What a Cell holds, and its parameters with other values, as load_param_into_net() takes them."""

from collections.abc import Mapping
from typing import Any

import mindspore as ms

from explorer.engines.mindspore.net import HeldTensor, array_of, dtype_of, held_in
from explorer.model.arrays import AnyArray, pack
from explorer.model.requests import ParameterSpec
from explorer.scenario.layouts import to_mindspore, to_torch

KIND = ms.nn.Cell
"""The class of the nets that it takes."""


def held(cell: Any) -> tuple[ParameterSpec, ...]:
    """The parameters of a Cell, laid out as in PyTorch."""
    specs = []
    for name, entry in _parameters(cell).items():
        array = pack(to_torch(array_of(entry.tensor), entry.layout), dtype_of(entry.tensor))
        specs.append(ParameterSpec(name, entry.path, entry.role, array, entry.own_name))
    return tuple(specs)


def with_values(cell: Any, values: Mapping[str, AnyArray]) -> dict[str, Any]:
    """Parameters with some values by the names of held(), by the names of the Cell's own."""
    parameters = {}
    for name, entry in _parameters(cell).items():
        if name in values:
            array = to_mindspore(values[name], entry.layout, tuple(entry.tensor.shape))
            given = ms.Tensor(array).astype(entry.tensor.dtype)
            parameters[entry.tensor.name] = ms.Parameter(given, name=entry.tensor.name)
    return parameters


def _parameters(cell: Any) -> dict[str, HeldTensor]:
    held = held_in(cell)
    return {name: it for name, it in held.items() if isinstance(it.tensor, ms.Parameter)}
