"""Reads which operators MindSpore's compiler left in the graphs that it wrote down last.

The runner lets the compiler write its last pass, validate, into the folder IR.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

IR = Path("ir")

BOOKKEEPING = {"MakeTuple", "TupleGetItem", "Depend", "Load", "UpdateState", "TensorMove"}
"""Operators that compute nothing: they build tuples, order effects, and copy."""

UPDATES = {"SGD", "ApplyMomentum", "Assign", "AssignAdd"}
"""Operators of optimizers."""

ASSIGNED = re.compile(
    r"^ +%\d+\([^)]*\) = (\w+).*?# Fullname with scope: \(([^)]*)\)", re.MULTILINE | re.DOTALL
)
"""A line that names what an operator returns, `%2(CNode_11) = PrimFunc_Mul(%0, %1)`, and its scope."""


def let_the_compiler_write() -> None:
    """Before MindSpore is imported: its last pass goes into the folder IR."""
    os.environ["MS_DEV_SAVE_GRAPHS"] = "1"
    os.environ["MS_DEV_SAVE_GRAPHS_PATH"] = str(IR.resolve())
    os.environ["MS_DEV_DUMP_IR_PASSES"] = "validate"


class Operator(NamedTuple):
    """An operator in a graph: its name, and whether its scope is that of the gradients."""

    name: str
    backward: bool


def graphs() -> list[list[Operator]]:
    """The operators that compute something, of every graph compiled so far, in that order."""
    found = []
    for path in sorted(IR.glob("*_validate_*.ir"), key=lambda it: int(it.stem.rpartition("_")[2])):
        operators = []
        for name, scope in ASSIGNED.findall(path.read_text(encoding="utf-8")):
            plain = name.removeprefix("PrimFunc_")
            if plain not in BOOKKEEPING:
                operators.append(Operator(plain, backward=scope.startswith("Gradients")))
        found.append(operators)
    return found


def counted(operators: list[Operator]) -> dict[str, int]:
    """How many operators of a graph are of the forward, of the backward and of an optimizer's update."""
    backward = sum(operator.backward for operator in operators)
    update = sum(operator.name in UPDATES for operator in operators)
    return {
        "forward": len(operators) - backward - update,
        "backward": backward,
        "update": update,
    }
