"""What capture has to know of MindSpore's operators: which compute nothing, which write to their
operands, and which leave an output unwritten (2.10.0).
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
        *("DoUnpackCall", "EnvironCreate", "EnvironGet", "EnvironSet", "J", "RefToEmbed"),
        *("StopGradient", "getattr", "resolve"),
    }
)
"""Operators that a later pass expands, or takes out once it has served: J becomes a derivative."""

BOOKKEEPING = ORDERING | HANDING_ON | FUNCTION_VALUES | PACKING | UNEXPANDED
"""All operators of the compiler's own, which reach no kernel."""

# What operators write to

IN_PLACE = re.compile(r"Assign|Inplace|Scatter|[Cc]opy_?$")
"""Operators that change a tensor that they are given."""

RUNNING_STATISTICS = {"BatchNorm": slice(3, 5)}
"""Operators that change only some of their operands: the running mean and variance."""

UNWRITTEN: dict[str, tuple[int, ...]] = {"BatchNorm": (1, 2)}
"""Outputs that a CPU kernel leaves as it found the memory: they differ from run to run."""

UNWRITTEN_REASON = "the kernel leaves outputs 1 and 2 unwritten"


def written_operands(op: str) -> slice | None:
    """Which of the tensors that it is given an operator may change; None for one that changes none."""
    if op in RUNNING_STATISTICS:
        return RUNNING_STATISTICS[op]
    return slice(None) if IN_PLACE.search(op) else None


def may_write(op: str) -> bool:
    """Whether an operator, or a variant of it, may change a tensor that it is given."""
    return "BatchNorm" in op or IN_PLACE.search(op) is not None
