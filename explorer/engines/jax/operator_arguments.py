"""What JAX's operations take beside arrays, by the names of jax.lax's documentation."""

import inspect
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from typing import Any

import jax
import numpy as np

from explorer.engines.jax.recording import Record
from explorer.engines.plain_values import PlainArguments, plain_arguments

WITHOUT_EFFECT = frozenset(
    {"sharding", "out_sharding", "out_shardings", "unique_indices", "indices_are_sorted"}
    | {"weak_type", "linear", "unroll", "prevent_cse", "_split_transpose"}
)
"""Parameters that change no value of a result."""

DEFAULT_NAMES = ("x", "y", "z")
"""What operands are called of an operation that jax.lax has no function for."""


STARTS = "start_indices"
"""What the operands are called together that say where a slice begins."""

_FIRST_START = {"dynamic_slice": 1, "dynamic_update_slice": 2}
"""The operations whose last operands are those, and the place of the first."""


def operator_arguments(record: Record) -> PlainArguments:
    """The arguments of an operation, with the numbers that were written into it."""
    return plain_arguments(_named(record))


def _named(record: Record) -> Iterator[tuple[str, Any]]:
    starts = starts_of(record)
    if starts:
        yield STARTS, tuple(np.asarray(record.operands[place]).item() for place in starts)
    for name, place in literals(record).items():
        if place not in starts:
            yield name, np.asarray(record.operands[place]).item()
    for name, value in record.params.items():
        if name not in WITHOUT_EFFECT:
            yield name, _plain(value)


def literals(record: Record) -> dict[str, int]:
    """The numbers that were written into an operation: their places, by the names of the operands."""
    found = {}
    for place, (operand, origin) in enumerate(zip(record.operands, record.origins, strict=True)):
        if origin is None and not np.ndim(operand):
            found[name_at(record.op, place)] = place
    return found


def starts_of(record: Record) -> tuple[int, ...]:
    """The places of the operands that say where a slice begins; () unless all are written numbers."""
    first = _FIRST_START.get(record.op)
    places = range(len(record.operands))[first:] if first is not None else range(0)
    return tuple(places) if all(record.origins[place] is None for place in places) else ()


def name_at(op: str, place: int) -> str:
    """What the operand of an operation at a place is called."""
    first = _FIRST_START.get(op)
    if first is not None and place >= first:
        return f"{STARTS}[{place - first}]"
    return operand_name(operands_of(op), place)


def operand_name(names: Sequence[str], place: int) -> str:
    """What the operand at a place is called, of which only the first ones may have ``names``."""
    return names[place] if place < len(names) else f"operand {place}"


@cache
def operands_of(op: str) -> tuple[str, ...]:
    """The names of an operation's operands, as its function in jax.lax calls them."""
    function = getattr(jax.lax, op, None) or getattr(jax.lax, op.replace("-", "_"), None)
    if function is None:
        return DEFAULT_NAMES
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return DEFAULT_NAMES


def _plain(value: Any) -> Any:
    """A dtype by its name, a record of dimensions as its text; any other value as it is."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if isinstance(value, Enum):
        return value.name
    if hasattr(value, "eqns") or callable(value):
        return object()  # has no plain form
    return str(value) if _is_dimension_numbers(value) else flat(value)


def flat(value: Any) -> Any:
    """The two ends of each axis, as of padding, one behind the other; any other value as it is."""
    parts = _items(value)
    if parts and all(isinstance(part, tuple) for part in parts):
        return tuple(_number(number) for part in parts for number in part)
    return value


def _number(number: Any) -> Any:
    """A whole number of NumPy's, as JAX computes those of "SAME", as one of Python's."""
    return int(number) if isinstance(number, np.integer) else number


def _is_dimension_numbers(value: Any) -> bool:
    """Whether a value says which dimensions are which: a record, or tuples of tuples of tuples."""
    if hasattr(value, "_fields"):
        return True
    if type(value).__module__.startswith("jax") and hasattr(value, "__dataclass_fields__"):
        return True
    parts = [part for item in _items(value) for part in _items(item)]
    return any(isinstance(part, tuple) for part in parts)


def _items(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()
