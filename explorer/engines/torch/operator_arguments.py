"""What PyTorch's operators take beside tensors, by the names of their schemas."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch.nn._reduction import get_enum

from explorer.engines.plain_values import PlainArguments, plain_arguments
from explorer.engines.torch.operators import TENSORS
from explorer.engines.torch.tensors import dtype_name
from explorer.model.graph import Absence

WITHOUT_EFFECT = frozenset(
    {"device", "generator", "layout", "memory_format", "non_blocking", "pin_memory", "out"}
)
"""Arguments that change no value of a result."""

REDUCTIONS = {get_enum(name): name for name in ("none", "mean", "sum")}
"""The names of reductions, which operators take as numbers."""

NUMBERS = {name: number for number, name in REDUCTIONS.items()}
"""The numbers by which operators take reductions."""

NO_DEFAULT = object()


class Argument(NamedTuple):
    """An argument of a schema; ``default`` is NO_DEFAULT where it has none."""

    name: str
    default: Any
    type: str


def operator_of(name: str) -> Any:
    """The operator of a name such as "aten.gelu.default"; AttributeError where there is none."""
    namespace, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), op), overload)


@cache
def schema_of(operator: Any) -> tuple[Argument, ...] | None:
    """The arguments of an operator in order; None where it has no schema."""
    schema = getattr(operator, "_schema", None)
    if schema is None:
        return None
    arguments = []
    for argument in schema.arguments:
        default = argument.default_value if argument.has_default_value() else NO_DEFAULT
        arguments.append(Argument(argument.name, default, str(argument.type)))
    return tuple(arguments)


def operator_arguments(
    operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> PlainArguments:
    """The arguments of a call of an operator, defaults filled in, but for its tensors."""
    schema = schema_of(operator)
    if schema is None:
        return PlainArguments({}, Absence("unnamed_arguments"))
    return plain_arguments(_named(schema, args, kwargs))


def _named(
    schema: Sequence[Argument], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    for position, (name, default, _) in enumerate(schema):
        if name in WITHOUT_EFFECT:
            continue
        value = args[position] if position < len(args) else kwargs.get(name, default)
        if type(value) in TENSORS:
            continue  # most are: looking a type up is fast
        if isinstance(value, torch.dtype):
            value = dtype_name(value)
        elif isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            value = value.node.maybe_as_int()
        elif name == "reduction":
            value = REDUCTIONS.get(value, value)
        yield name, value


def as_given(name: str, value: Any) -> Any:
    """An argument of a record as an operator takes it."""
    if name == "reduction":
        return NUMBERS.get(value, value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str) and isinstance(getattr(torch, value, None), torch.dtype):
        return getattr(torch, value)
    return value
