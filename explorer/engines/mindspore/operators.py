"""MindSpore's operators that capture treats in a way of their own (2.10.0).

They compute nothing, write to their operands, or leave an output unwritten.
"""

import re

# Operators that compute nothing

ORDERING = frozenset({"UpdateState"})
"""Operators that only order side effects: no tensor comes out of them."""

HANDING_ON = frozenset({"Depend", "Load", "Return"})
"""Operators of the compiler's own that yield their first operand."""

IDENTITIES = frozenset({"Identity", "stop_gradient"})
"""Operators of a net that yield their first operand."""

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

# What operators write to

IN_PLACE = re.compile(r"Assign|Inplace|Scatter|[Cc]opy_?$")
"""Names of operators that change any of their operands."""

RUNNING_STATISTICS = {"BatchNorm": slice(3, 5)}
"""Operators that change some of their operands alone: the running mean and variance."""

UNWRITTEN: dict[str, tuple[int, ...]] = {"BatchNorm": (1, 2)}
"""Outputs that a CPU kernel never writes: they hold other values at every run."""

UNWRITTEN_REASON = "the kernel leaves outputs 1 and 2 unwritten"


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
