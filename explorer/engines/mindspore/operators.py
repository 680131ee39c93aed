"""MindSpore's operators that capture treats in a way of their own (2.10.0).

They compute nothing, write to their operands, leave an output unwritten, or draw random numbers.
"""

import re
from collections.abc import Iterable

from explorer.model.graph import Absence

# Operators that compute nothing

ORDERING = frozenset({"UpdateState"})
"""Operators that only order side effects: no tensor comes out of them."""

HANDING_ON = frozenset({"Depend", "Load", "Return"})
"""Operators of the compiler's own that yield their first operand."""

IDENTITIES = frozenset({"GetData", "Identity", "stop_gradient"})
"""Operators of a net that yield their first operand.

``.data`` is GetData: its output is the memory of its operand, and the kernel writes nothing of its
own (2.10.0).
"""

FUNCTION_VALUES = frozenset({"Partial", "Switch", "switch"})
"""Operators that yield a function: one with some operands bound, or one of two."""

PACKING = frozenset(
    {"DictGetItem", "ListGetItem", "MakeDict", "MakeList", "MakeTuple", "TupleGetItem"}
)
"""Operators that put values into a tuple, a list or a dictionary, or take one out."""

UNEXPANDED = frozenset(
    {
        "DoUnpackCall",
        "EnvironCreate",
        "EnvironGet",
        "EnvironSet",
        "J",
        "RefToEmbed",
        "StopGradient",
        "getattr",
        "resolve",
    }
)
"""Operators that a later pass expands, or takes out once it has served: J becomes a derivative."""

BOOKKEEPING = ORDERING | HANDING_ON | FUNCTION_VALUES | PACKING | UNEXPANDED
"""All operators of the compiler's own, which reach no kernel."""

# Names

VARIANT = re.compile(r"(?:Ext|View|V\d)$")
"""Endings by which variants of an operator differ: the tape often runs another one (2.10.0)."""

DERIVATIVE = re.compile(r"^(\w+?)(?:Grad|Backward)(?:Ext|V\d)?$")
"""Names of operators that compute the gradient of another one: "TanhGrad", "MaxBackward"."""


def plain(op: str) -> str:
    """An operator's name without the ending of a variant."""
    return VARIANT.sub("", op).lower()


def differentiated_op(op: str) -> str:
    """The plain name of the operator whose gradient one computes; "" for any other operator."""
    derivative = DERIVATIVE.match(op)
    return plain(derivative[1]) if derivative else ""


# What operators write to

IN_PLACE = re.compile(r"Assign|Inplace|Scatter|[Cc]opy_?$")
"""Names of operators that change any of their operands."""

RUNNING_STATISTICS = {"BatchNorm": slice(3, 5)}
"""Operators that change some of their operands alone: the running mean and variance."""

UNWRITTEN: dict[str, tuple[int, ...]] = {"BatchNorm": (1, 2), "LSTM": (3, 4)}
"""Outputs that are no result of an operator on the CPU: memory that the kernel never writes, which
holds other values at every run, or its own workspace.
"""

UNWRITTEN_IN_INFERENCE: dict[str, tuple[int, ...]] = {"BatchNorm": (1, 2, 3, 4)}
"""The same of operators whose operand ``is_training`` is False."""


def unwritten_outputs(op: str, flags: Iterable[bool]) -> tuple[int, ...]:
    """The outputs of an operator that hold no result; ``flags`` are the bools among its operands."""
    if op in UNWRITTEN_IN_INFERENCE and not any(flags):
        return UNWRITTEN_IN_INFERENCE[op]
    return UNWRITTEN.get(op, ())


def unwritten_absence(outputs: tuple[int, ...]) -> Absence:
    """Why these outputs of a node show no values."""
    return Absence("unwritten_outputs", ", ".join(map(str, outputs)))


def written_operands(op: str) -> slice | None:
    """The tensor operands that an operator may change; None for one that changes none."""
    if op in RUNNING_STATISTICS:
        return RUNNING_STATISTICS[op]
    if IN_PLACE.search(op):
        return slice(None)
    return None


def may_write(op: str) -> bool:
    """Whether an operator, or a variant of it, may change one of its operands."""
    return "BatchNorm" in op or IN_PLACE.search(op) is not None


RANDOM = re.compile(
    r"Dropout(?!.*(DoMask|Grad))|Bernoulli|Normal(?!ize)|Uniform|Rand|Multinomial|Poisson"
)
"""Names of operators that draw random numbers."""


def draws_random_numbers(op: str) -> bool:
    """Whether an operator takes numbers from a random generator."""
    return RANDOM.search(op) is not None
