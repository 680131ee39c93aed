"""PyTorch's operators as capture and proof see them: names, tensors, writes, and how each is run again."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from explorer.engines.capture.proof import Operand, Rerun
from explorer.model.graph import Absence, ProofGap

COPY = "aten.copy_.default"
DETACH = "aten.detach.default"
LIFT = "aten.lift_fresh.default"
COPY_SLICES = "CopySlices"
ZEROS = "aten.zeros_like.default"

EMPTY = frozenset(
    {
        "aten.empty.memory_format",
        "aten.empty_like.default",
        "aten.empty_strided.default",
        "aten.new_empty.default",
        "aten.new_empty_strided.default",
    }
)
"""Operators that allocate memory without writing to it.

What they yield is no value until another operator fills it.
"""

FILLS = frozenset({COPY, "aten.fill_.Scalar", "aten.fill_.Tensor", "aten.zero_.default"})
"""Operators that write to all of their first operand, and read nothing of it."""

WORKSPACES = {"aten.mkldnn_rnn_layer.default": (3,)}
"""Outputs that are an operator's own workspace: memory that holds other values at every run."""

UNDECLARED = {
    "aten::native_batch_norm": (3, 4),
    "aten::cudnn_batch_norm": (3, 4),
    "aten::miopen_batch_norm": (3, 4),
}
"""Operators that change arguments although their schema does not say so (torch 2.13).

Each has the positions of these arguments, the running statistics.
"""

SEQUENCES = frozenset({tuple, list})
TENSORS = frozenset({torch.Tensor, torch.nn.Parameter})
NO_TENSOR = frozenset(
    {
        int,
        float,
        bool,
        str,
        type(None),
        torch.dtype,
        torch.device,
        torch.layout,
        torch.memory_format,
    }
)
"""Types of arguments that hold no tensor."""


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of nested arguments from left to right."""
    tensors: list[torch.Tensor] = []
    gather_tensors(value if type(value) in SEQUENCES else (value,), tensors)
    return tensors


def gather_tensors(values: Iterable[Any], tensors: list[torch.Tensor]) -> None:
    """Append the tensors among ``values``, and of what is nested in them, to ``tensors``."""
    for item in values:
        kind = type(item)
        # Looking a type up in a set is fast; the isinstance checks below cost several times as
        # much, most of all where the answer is no.
        if kind in TENSORS:
            tensors.append(item)
        elif kind in NO_TENSOR:
            continue
        elif isinstance(item, torch.Tensor):
            tensors.append(item)
        elif isinstance(item, (tuple, list)):
            gather_tensors(item, tensors)
        elif isinstance(item, dict):
            gather_tensors(item.values(), tensors)


@functools.cache
def operator_name(operator: Any) -> str:
    """The name of an operator: "aten.add.Tensor"."""
    return str(operator)


def unwritten_outputs(name: str) -> tuple[int, ...]:
    """The outputs of the operator of that name that hold no result."""
    return (0,) if name in EMPTY else WORKSPACES.get(name, ())


@functools.cache
def is_view(operator: Any) -> bool:
    """Whether an operator's first output shows the memory of its first argument, and is not written to."""
    returned = operator._schema.returns
    if not returned or not operator._schema.arguments:
        return False
    alias, shown = returned[0].alias_info, operator._schema.arguments[0].alias_info
    return alias is not None and shown is not None and not alias.is_write


@functools.cache
def written_arguments(operator: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and the names of the arguments that an operator changes."""
    schema = operator._schema
    if not schema.is_mutable:
        return UNDECLARED.get(schema.name, ()), ()
    positions = []
    names = []
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            positions.append(position)
            names.append(argument.name)
    return tuple(positions), tuple(names)


@functools.cache
def draws_random_numbers(operator: Any) -> bool:
    """Whether an operator takes numbers from the random generator."""
    return torch.Tag.nondeterministic_seeded in getattr(operator, "tags", ())


Tensors = list[torch.Tensor]


def rerun(
    operator: Any,
    operands: Sequence[Operand],
    compute: Callable[[Tensors], Tensors],
    excuse: ProofGap | None = None,
) -> Rerun | Absence:
    """How an operator is computed again, or why that would prove nothing."""
    if draws_random_numbers(operator):
        return Absence("random")
    writes = any(written_arguments(operator))

    def without_tape(values: Tensors) -> Tensors:
        with torch.no_grad():
            return compute(values)

    return Rerun(tuple(operands), without_tape, writes, excuse)


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that an operator may write to."""
    return tensor.detach().clone()
