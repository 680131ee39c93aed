"""The values that MindSpore's kernels dumped, joined to the statements of the IR that they were
compiled from.
"""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from explorer.engines.mindspore.ir_statements import Statement
from explorer.model.arrays import AnyArray

NAME = re.compile(r"^[^.]+\.(.+)-op(\d+)\.\d+\.\d+\.(\d+)\.output\.(\d+)\.[^.]+\.(\w+)\.npy$")
EXPANDED = re.compile(r"^Expand__(.+)_([A-Za-z0-9]+)$")

BRANCH = re.compile(r"[▸◂](\d+)_[✓✗↰↱]")
"""A branch and its backward carry one number in their graphs' names."""

SINGLES = frozenset({"<f2", "<E2", "<f8"})
"""Types under which MindSpore 2.10.0 writes float32 where a kernel hands float32 on (on the CPU
ReduceSum and TensorMove).
"""

Kernel = dict[int, tuple[int, Path]]
"""The outputs of one kernel: slot → (time, file)."""


class Dump:
    """Files of one run by kernel; a kernel that ran several times counts with its last run."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.kernels: dict[str, dict[int, Kernel]] = {}
        self.idle: set[str] = set()
        for path in (each for folder in folders for each in folder.rglob("*.output.*.npy")):
            if named := NAME.match(path.name):
                base, number, time, slot = named[1], int(named[2]), int(named[3]), int(named[4])
                kernel = self.kernels.setdefault(base, {}).setdefault(number, {})
                kernel[slot] = max(kernel.get(slot, (0, path)), (time, path))

    def join(self, statements: Iterable[Statement]) -> dict[int, dict[int, Any]]:
        """Arrays by statement (its ``id``) and output slot.

        Kernels are numbered on through the life of the process, the IR counts anew: both count in
        one order, and ranks agree. A node that was expanded on its way to the kernels is found
        under the name of its operator.
        """
        groups: dict[str, list[Statement]] = {}
        loose: dict[str, list[Statement]] = {}
        for statement in statements:
            base, mark, _ = statement.scope.replace("/", "_").rpartition("-op")
            if mark and base in self.kernels:
                groups.setdefault(base, []).append(statement)
            else:
                loose.setdefault(statement.op, []).append(statement)
        joined: dict[int, dict[int, Any]] = {}
        left_out = {
            graph
            for base, group in groups.items()
            if (graph := _left_out(group, len(self.kernels[base])))
        }
        numbers = {found[1] for graph in left_out if (found := BRANCH.search(graph))}
        graphs = {
            statement.graph for group in (*groups.values(), *loose.values()) for statement in group
        }
        self.idle = left_out | {
            graph for graph in graphs if (found := BRANCH.search(graph)) and found[1] in numbers
        }
        for base, group in groups.items():
            kernels = self._in_order(base)
            ran = (
                group
                if len(group) == len(kernels)
                else [each for each in group if each.graph not in self.idle]
            )
            joined |= _ranked(
                sorted(ran, key=lambda statement: int(statement.scope.rpartition("-op")[2])),
                kernels,
            )
        for op, group in loose.items():
            joined |= self._expanded(op, group)
        seen = {
            statement.graph
            for group in (*groups.values(), *loose.values())
            for statement in group
            if id(statement) in joined
        }
        self.idle |= {graph for graph in graphs if BRANCH.search(graph) and graph not in seen}
        return joined

    def _in_order(self, base: str) -> list[Kernel]:
        return [kernel for _, kernel in sorted(self.kernels[base].items())]

    def _expanded(self, op: str, group: list[Statement]) -> dict[int, dict[int, Any]]:
        """The last kernel of an expansion gives its value: of those that came from ``op``, the kind
        that always ran last.
        """
        kinds = [
            base for base in self.kernels if (found := EXPANDED.match(base)) and found[1] == op
        ]
        fitting = [self._in_order(base) for base in kinds if len(self.kernels[base]) == len(group)]
        if not fitting:
            places = sum(len(statement.outputs) for statement in group)
            return next(
                (
                    _spread(group, self._in_order(base))
                    for base in kinds
                    if len(self.kernels[base]) == places
                ),
                {},
            )
        return _ranked(
            group,
            max(
                fitting,
                key=lambda kernels: max(time for kernel in kernels for time, _ in kernel.values()),
            ),
        )


def _left_out(group: list[Statement], ran: int) -> str | None:
    """The one graph without which as many statements remain as kernels ran: a branch that was not
    taken.
    """
    graphs = dict.fromkeys(statement.graph for statement in group)
    fitting = [
        graph
        for graph in graphs
        if len(group) != ran == sum(statement.graph != graph for statement in group)
    ]
    return fitting[0] if len(fitting) == 1 else None


def load(path: Path) -> AnyArray:
    """A dumped array; bfloat16, which MindSpore writes under a type that numpy does not know
    ("<E2"), as float32.
    """
    data = path.read_bytes()
    start = 10 + int.from_bytes(data[8:10], "little")
    dtype, shape, order = _header(data[10:start])
    if dtype in SINGLES and len(data) - start == 4 * int(np.prod(shape)):
        dtype = "<f4"
    if dtype == "<E2":
        upper = np.frombuffer(data, "<u2", offset=start).astype(np.uint32) << 16
        return upper.view(np.float32).reshape(shape, order=order)
    plain: AnyArray = np.frombuffer(data, dtype, offset=start)
    return plain.reshape(shape, order=order)


@cache
def _header(text: bytes) -> tuple[str, tuple[int, ...], Literal["C", "F"]]:
    """dtype, shape and order of a file; cached, since thousands of files share a few headers."""
    header = ast.literal_eval(text.decode("latin1"))
    return header["descr"], header["shape"], "F" if header["fortran_order"] else "C"


def _ranked(statements: list[Statement], kernels: list[Kernel]) -> dict[int, dict[int, Any]]:
    if len(statements) != len(kernels):
        return _unique(statements, kernels)
    pairs = zip(statements, kernels, strict=True)
    return {
        id(statement): arrays
        for statement, kernel in pairs
        if (arrays := _arrays(statement, kernel))
    }


def _spread(statements: list[Statement], kernels: list[Kernel]) -> dict[int, dict[int, Any]]:
    """Where each output came from a kernel of its own: a split becomes one slice for each part."""
    found: dict[int, dict[int, Any]] = {}
    waiting = iter(kernels)
    for statement in statements:
        parts = {
            slot: kernel[0]
            for slot, kernel in zip(range(len(statement.outputs)), waiting, strict=False)
            if 0 in kernel
        }
        if arrays := _arrays(statement, parts):
            found[id(statement)] = arrays
    return found


def _unique(statements: list[Statement], kernels: list[Kernel]) -> dict[int, dict[int, Any]]:
    """Where some were folded away: only what one shape alone decides."""
    found: dict[int, dict[int, Any]] = {}
    for statement in statements:
        alike = [other for other in statements if other.outputs == statement.outputs]
        fitting = [arrays for kernel in kernels if (arrays := _arrays(statement, kernel))]
        if len(alike) == len(fitting) == 1:
            found[id(statement)] = fitting[0]
    return found


def _arrays(statement: Statement, kernel: Kernel) -> dict[int, Any]:
    """A kernel's arrays, if their shapes are those of the statement."""
    arrays = {
        slot: load(path)
        for slot, (_, path) in sorted(kernel.items())
        if slot < len(statement.outputs)
    }
    fit = all(
        int(np.prod(array.shape)) == int(np.prod(statement.outputs[slot][0]))
        for slot, array in arrays.items()
    )
    return (
        {slot: array.reshape(statement.outputs[slot][0]) for slot, array in arrays.items()}
        if fit
        else {}
    )
