"""What a module holds, and its state with other values in it, as load_state_dict() takes it."""

from collections.abc import Mapping
from typing import Any

import torch

from explorer.engines.torch.found_modules import held_in
from explorer.engines.torch.tensors import packed
from explorer.model.arrays import AnyArray
from explorer.model.requests import ParameterSpec, Role

KIND = torch.nn.Module
"""The class of the nets that it takes."""


def held(module: torch.nn.Module) -> tuple[ParameterSpec, ...]:
    """The parameters and buffers of a module."""
    specs = []
    for name, tensor, role in held_in(module, ""):
        of_spec: Role = "buffer" if role == "buffer" else _role(tensor)
        specs.append(ParameterSpec(name, name, of_spec, packed(tensor.detach())))
    return tuple(specs)


def _role(parameter: torch.Tensor) -> Role:
    return "trained" if parameter.requires_grad else "frozen"


def with_values(module: torch.nn.Module, values: Mapping[str, AnyArray]) -> dict[str, Any]:
    """The state of a module, with some values by the names of held()."""
    names = {id(tensor): name for name, tensor, _role in held_in(module, "")}
    state = dict(module.state_dict(keep_vars=True))
    for key, tensor in state.items():
        name = names.get(id(tensor))
        value = None if name is None else values.get(name)
        state[key] = tensor if value is None else torch.from_numpy(value.copy()).to(tensor)
    return {
        key: value.detach() if isinstance(value, torch.Tensor) else value
        for key, value in state.items()
    }
