"""MindSpore's primitives by name, run alone on the arguments of an IR statement."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mindspore as ms
from mindspore.ops.primitive import _run_op

from explorer.engines.capture.builder import Slot
from explorer.engines.capture.proof import COMMUNICATION, RANDOM
from explorer.engines.mindspore.ir.records import (
    Scalar,
    SequenceValue,
    StringValue,
    Symbol,
    Value,
)
from explorer.engines.mindspore.ir_bindings import Binding
from explorer.engines.mindspore.ir_statements import IRStatement
from explorer.engines.mindspore.operators import draws_random_numbers
from explorer.engines.mindspore.tape_tensors import tensors_in

MONADS = frozenset({"UMonad", "IOMonad"})
"""The types of operands that only order side effects."""

COMMUNICATING_OP = re.compile(
    r"^(All(Reduce|Gather|toAll)|ReduceScatter|Broadcast(?!To)|Send|Receive|Barrier|NeighborExch)"
)

NONE = "None"
"""How the IR writes Python's None."""


class NoArgumentError(Exception):
    """An operand is nothing that Python could hand to a primitive."""


@dataclass(frozen=True)
class TensorArgument:
    """The place of a tensor among arguments: the slot that it comes from."""

    slot: Slot


def unrepeatable(op: str) -> str:
    """Why an operator yields something else when it runs again; "" where it does not."""
    if draws_random_numbers(op):
        return RANDOM
    return COMMUNICATION if COMMUNICATING_OP.search(op) else ""


def arguments(statement: IRStatement, bindings: Sequence[Binding]) -> list[Any]:
    """The arguments of a statement's primitive, nested as they are given.

    ``bindings`` are those of its operands. Raises NoArgumentError.
    """
    given = []
    for operand, binding, abstract in zip(
        statement.operands, bindings, statement.node.inputs, strict=True
    ):
        if abstract.type.name not in MONADS:
            given.append(_argument(operand, binding))
    return given


def _argument(value: Value | None, binding: Binding) -> Any:
    """One argument; ``value`` is None for an item of a tuple that the program has made."""
    if isinstance(binding, tuple):
        return TensorArgument(binding)
    if isinstance(value, SequenceValue):
        items = binding if isinstance(binding, list) else [None] * len(value.values)
        return tuple(map(_argument, value.values, items))
    if isinstance(binding, list):
        return tuple(_argument(None, item) for item in binding)
    if value is not None:
        return python_value(value)
    raise NoArgumentError("a tuple contains something that is not a tensor")


def python_value(value: Value) -> Any:
    """A constant of the IR as Python has it; raises NoArgumentError for a function or a type."""
    if isinstance(value, (Scalar, StringValue)):
        return value.value
    if isinstance(value, SequenceValue):
        return tuple(map(python_value, value.values))
    if isinstance(value, Symbol) and value.text == NONE:
        return None
    raise NoArgumentError(f"an operand is a {type(value).__name__}")


def tensor_slots(nested: Any) -> Iterator[Slot]:
    """The slots of the tensors among nested arguments, from left to right."""
    if isinstance(nested, TensorArgument):
        yield nested.slot
    elif isinstance(nested, (list, tuple)):
        for item in nested:
            yield from tensor_slots(item)


def with_tensors(nested: Any, tensors: Iterator[Any]) -> Any:
    """Nested arguments with the next of ``tensors`` in each place of one."""
    if isinstance(nested, TensorArgument):
        return next(tensors)
    if isinstance(nested, (list, tuple)):
        return tuple(with_tensors(item, tensors) for item in nested)
    return nested


def run_alone(statement: IRStatement, given: tuple[Any, ...]) -> list[Any]:
    """The tensors that a statement's primitive yields for arguments; raises what it raises."""
    primitive = ms.ops.Primitive(statement.op)
    for name, value in statement.node.attrs.items():
        if isinstance(value, SequenceValue) and _holds_symbols(value):
            continue  # the names of inputs and outputs
        primitive.add_prim_attr(name, python_value(value))
    return list(tensors_in((_run_op(primitive, statement.op, given),)))


def _holds_symbols(value: SequenceValue) -> bool:
    return any(isinstance(item, Symbol) for item in value.values)
