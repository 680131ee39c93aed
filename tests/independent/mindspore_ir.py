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
    files = sorted(IR.glob("*_validate_*.ir"), key=_number)
    return [_operators(path.read_text(encoding="utf-8")) for path in files]


def names(operators: list[Operator]) -> list[str]:
    """What operators are called."""
    return [operator.name for operator in operators]


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _operators(text: str) -> list[Operator]:
    operators = []
    for name, scope in ASSIGNED.findall(text):
        plain = name.removeprefix("PrimFunc_")
        if plain not in BOOKKEEPING:
            operators.append(Operator(plain, backward=scope.startswith("Gradients")))
    return operators


STATEMENT = re.compile(r"^  (?=%\d+\(|Return\()", re.MULTILINE)
"""Where a statement of a graph begins."""

NAME = re.compile(r"%[\w.]+")
FLOATS = re.compile(r"<(?:Ref\[)?Tensor\[Float32\]\]?, \(([\d, ]*)\)")
"""A tensor's type and shape, `<Tensor[Float32], (1, 3)>`."""


def kept_for_the_backward() -> dict[str, int]:
    """What operators under Gradients read of those that are not, in the graph compiled last.

    The tensors, their bytes where the forward made them, and their bytes where they were given.
    """
    newest = max(IR.glob("*_validate_*.ir"), key=_number)
    head, *statements = STATEMENT.split(newest.read_text(encoding="utf-8"))
    # Of the statements before, by the names of their results; what is given has no statement.
    made, read = {}, set()  # type: dict[str, str], set[str]
    for statement in statements:
        first_line = statement.splitlines()[0]
        result, *operands = NAME.findall(first_line) or [""]
        if "# Fullname with scope: (Gradients" in statement:
            read.update(operands)
        else:
            made[result] = statement
    kept = {name for name in read if name in made or name.startswith("%para")}
    given = {name for name in kept if name not in made}
    sizes = {name: _bytes(_given_type(head, name)) for name in given}
    sizes.update({name: _bytes(made[name].partition("-> ")[2]) for name in kept - given})
    return {
        "tensors": len(kept),
        "bytes": sum(sizes[name] for name in kept - given),
        "of inputs and parameters": sum(sizes[name] for name in given),
    }


def _given_type(head: str, name: str) -> str:
    return head.partition(f"{name}: ")[2]


def _bytes(text: str) -> int:
    """The bytes of the first tensor of float32 numbers whose type stands in a text."""
    match = FLOATS.search(text)
    assert match, text[:200]
    size = 4
    for axis in match[1].split(","):
        size *= int(axis) if axis.strip() else 1
    return size
