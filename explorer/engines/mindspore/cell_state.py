"""What a Cell holds: parameters, buffers and plain tensors, by the names that PyTorch has for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mindspore as ms

from explorer.model.arrays import Array, unpack
from explorer.model.requests import NetRequest, Role
from explorer.scenario.declaration import Declaration
from explorer.scenario.layouts import (
    HOME,
    KnownCell,
    Layout,
    known_cell,
    layout_of,
    to_mindspore,
    torch_name,
)

INITIAL_TABLE = "init_tensor"
"""The attribute in which nn.Embedding keeps what its table began with, and never uses (2.10.0)."""


@dataclass(frozen=True)
class HeldTensor:
    """A tensor that a Cell holds under an attribute, and how PyTorch's net names and lays it out.

    ``path`` is its place in the Cell tree ("norm.gamma"), ``own_name`` what a Parameter itself is
    called. ``tensor`` is the one that the net began with.
    """

    name: str
    path: str
    own_name: str
    role: Role
    layout: Layout
    tensor: Any
    owner: Any

    def start_from(self, start: Array) -> None:
        """Overwrite its values with those of ``start``, which is laid out as in PyTorch."""
        values = to_mindspore(unpack(start), self.layout, tuple(self.tensor.shape))
        given = ms.Tensor(values).astype(self.tensor.dtype)
        if isinstance(self.tensor, ms.Parameter):
            self.tensor.set_data(given)
        else:
            # The compiler takes a plain tensor for a constant: there has to be another one.
            setattr(self.owner, self.path.rpartition(".")[2], given)


def held_by(cell: Any, scenario: Declaration, request: NetRequest) -> dict[str, HeldTensor]:
    """Everything that a Cell and those in it hold, parameters first, by PyTorch's names.

    ``request.names`` come before the names that the scenario and the known Cells give.
    """
    owners = dict(cell.cells_and_names())
    known = _known(owners)
    tensors = list(_tensors(cell, owners))
    paths = {path for path, _, _ in tensors}
    held: dict[str, HeldTensor] = {}
    for path, role, tensor in tensors:
        own_name = getattr(tensor, "name", "") if isinstance(tensor, ms.Parameter) else ""
        if own_name in paths:
            own_name = path  # the path of another one says more than a name that is the same
        name = request.names.get(path) or torch_name(path, own_name, known, scenario.renames)
        layout = layout_of(path, name, known, scenario.layouts)
        owner = owners[path.rpartition(".")[0]]
        held.setdefault(name, HeldTensor(name, path, own_name, role, layout, tensor, owner))
    return held


def _known(owners: dict[str, Any]) -> dict[str, KnownCell]:
    """The Cells whose parameters are unlike those of PyTorch's modules, by path."""
    known = {}
    for path, owner in owners.items():
        classes = type(owner).__mro__
        names = tuple(cls.__name__ for cls in classes if cls.__module__.startswith(HOME))
        entry = known_cell(names)
        if entry:
            known[path] = entry
    return known


def _tensors(cell: Any, owners: dict[str, Any]) -> Iterator[tuple[str, Role, Any]]:
    """The path, the role and the tensor of all that is held: parameters, buffers, plain tensors."""
    for path, parameter in cell.parameters_and_names():
        yield path, "trained" if parameter.requires_grad else "frozen", parameter
    for path, buffer in cell.named_buffers():
        yield path, "buffer", buffer
    for path, owner in owners.items():
        for attribute, value in vars(owner).items():
            is_plain = isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter)
            if is_plain and not attribute.startswith("_") and attribute != INITIAL_TABLE:
                yield f"{path}.{attribute}".lstrip("."), "constant", value
