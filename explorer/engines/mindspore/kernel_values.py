"""What the kernels of a compiled graph computed: their dumped outputs, and the values of nodes."""

import ast
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from explorer.engines.mindspore.ir.records import Scalar, SequenceValue, TensorShape
from explorer.engines.mindspore.ir_statements import IRStatement, Statements
from explorer.engines.mindspore.operators import unwritten_absence, unwritten_outputs
from explorer.engines.mindspore.views import RESHAPE, chain_of_views, values_of_views
from explorer.model.arrays import AnyArray, Summary, carrier
from explorer.model.graph import Absence, Output
from explorer.numeric.summaries import summarise_all

FILE_NAME = re.compile(
    r"^[^.]+\.(?P<scope>.+)-op(?P<number>\d+)\.\d+\.\d+\.(?P<time>\d+)"
    r"\.output\.(?P<slot>\d+)\.[^.]+\.\w+\.npy$"
)
"""Kernel type, scope, number of the operator, task, stream, time, slot, format, dtype (2.10.0)."""

HELD = {"<f2": "<f4", "<E2": "<f4", "<f8": "<f4", "<i8": "<i4"}
"""Types in headers of files that may hold another one of 4 bytes all the same (2.10.0).

MindSpore writes them where a kernel hands that one on: on the CPU ReduceSum and TensorMove float32,
max pooling with padding the int32 places of its maxima.
"""

LEFT = 256 << 20
"""How many bytes of earlier runs' values are left until the process ends."""

BFLOAT16 = "<E2"
"""The type under which MindSpore writes bfloat16, and which numpy does not know."""


class DumpedOutput(NamedTuple):
    """An output of a kernel: when its last run wrote it, the file, and how often it ran."""

    time: int
    path: Path
    runs: int = 1


Kernel = dict[int, DumpedOutput]
"""The outputs of one kernel by slot."""


def kernels_in(folders: Iterable[Path]) -> dict[str, list[Kernel]]:
    """The kernels that dumped into some folders, by scope and in the order of their numbers.

    A kernel that ran several times counts with its last run.
    """
    numbered: dict[str, dict[int, Kernel]] = {}
    for folder in folders:
        for path in folder.rglob("*.output.*.npy"):
            name = FILE_NAME.match(path.name)
            if name is None:
                continue
            kernel = numbered.setdefault(name["scope"], {}).setdefault(int(name["number"]), {})
            # In a loop a kernel runs several times, and dumps each time.
            slot = int(name["slot"])
            written = DumpedOutput(int(name["time"]), path)
            earlier = kernel.get(slot)
            if earlier is not None:
                runs = earlier.runs + 1
                written = max(earlier, written)._replace(runs=runs)
            kernel[slot] = written
    kernels: dict[str, list[Kernel]] = {}
    for scope, by_number in numbered.items():
        kernels[scope] = [kernel for _, kernel in sorted(by_number.items())]
    return kernels


def make_room(folders: Iterable[Path], left: int = LEFT) -> None:
    """Remove what earlier runs dumped into some folders, once it takes more than ``left`` bytes.

    Less is left where it is: ext4 looks at each file that was removed in the last seconds before it
    makes another, and where 2000 were removed, the next 2000 take 2 s longer.
    """
    folders = list(folders)
    size = 0
    for folder in folders:
        size += sum(path.stat().st_size for path in folder.rglob("*.npy"))
    if size > left:
        for folder in folders:
            # Errors are ignored: an earlier run's last files may still be on their way.
            shutil.rmtree(folder, ignore_errors=True)


def load(path: Path) -> AnyArray:
    """A dumped array; bfloat16 as float32.

    numpy's own reader knows neither the type of bfloat16 nor that a file may hold another type, or
    more elements, than its header says.
    """
    data = path.read_bytes()
    # Bytes 8 and 9 are the length of the header, which begins behind them.
    start = 10 + int.from_bytes(data[8:10], "little")
    dtype, shape, order = _header(data[10:start])
    if len(data) - start == 4 * int(np.prod(shape)):
        dtype = HELD.get(dtype, dtype)
    if dtype == BFLOAT16:
        # A bfloat16 is the upper half of a float32.
        upper = np.frombuffer(data, "<u2", offset=start).astype(np.uint32) << 16
        plain: AnyArray = upper.view(np.float32)
    else:
        plain = np.frombuffer(data, dtype, offset=start)
    if plain.size != int(np.prod(shape)):
        return plain  # a view's file holds all of the memory that it is a view of (2.10.0)
    return plain.reshape(shape, order=order)


@cache  # thousands of files share a few headers
def _header(text: bytes) -> tuple[str, tuple[int, ...], Literal["C", "F"]]:
    """dtype, shape and order of a file (numpy.lib.format, version 1.0)."""
    header = ast.literal_eval(text.decode("latin1"))
    return header["descr"], header["shape"], "F" if header["fortran_order"] else "C"


EXPANSION = re.compile(r"^Expand__(.+)_([A-Za-z0-9]+)$")
"""The scope of a kernel that an operator was expanded into: the operator, and the kernel's kind."""

BRANCH_NUMBER = re.compile(r"[▸◂](\d+)_[✓✗↰↱]")
"""A branch and its backward carry one number in their graphs' names (2.10.0)."""

CAST = "Cast"
"""The kind of kernel that comes before an operator whose operands have other dtypes."""

Kinds = dict[str, list[Kernel]]
"""The kernels into which the statements of an operator were expanded, by their kinds."""

Arrays = dict[int, AnyArray]
"""Observed values by output slot."""


class KernelValues:
    """The arrays of every statement of a program that a kernel computed.

    ``kernels`` are those that dumped, by scope. ``idle`` are the subgraphs that did not run:
    branches that were not taken.
    """

    def __init__(self, kernels: dict[str, list[Kernel]], statements: Statements) -> None:
        self.idle: frozenset[str] = frozenset()
        self._kernels = kernels
        self._entry = next(iter(statements), "")  # which MindSpore prints first (2.10.0)
        self._arrays: dict[int, Arrays] = {}
        self._workspaces: dict[int, Arrays] = {}
        self._repeated: set[int] = set()
        self._untold: set[int] = set()
        by_scope: dict[str, list[IRStatement]] = {}
        by_op: dict[str, list[IRStatement]] = {}
        for body in statements.values():
            for statement in body:
                scope = _kernel_scope(statement)
                if scope in kernels:
                    by_scope.setdefault(scope, []).append(statement)
                else:
                    by_op.setdefault(statement.op, []).append(statement)
        # The kernels of a scope can be counted off only without branches that did not run.
        self.idle = self._left_out(by_scope, statements)
        self._join_by_scope(by_scope)
        for op, group in by_op.items():
            self._join_expanded(op, group)
        self._read_views(statements)
        # Nor did a branch run in which nothing has a value.
        self.idle |= self._without_values(statements)
        self._summaries = self._summarised(statements)

    def of(self, statement: IRStatement) -> Arrays:
        """The arrays of a statement by output slot; empty where no kernel is its own."""
        return self._arrays.get(id(statement), {})

    def workspaces(self, statement: IRStatement) -> Arrays:
        """The arrays of a statement that have another size than the IR says, by output slot."""
        return self._workspaces.get(id(statement), {})

    def repeats(self, statement: IRStatement) -> bool:
        """Whether the kernel of a statement ran several times; its last run is what counts."""
        return id(statement) in self._repeated

    def outputs(self, statement: IRStatement) -> tuple[tuple[Output, ...], dict[str, Absence]]:
        """The outputs of a statement, and the reason where values of them are missing.

        A workspace has the shape that it had at run time.
        """
        arrays = self.of(statement)
        workspaces = self.workspaces(statement)
        unwritten = unwritten_outputs(statement.op, statement.flags)
        outputs = []
        complete = True
        for slot, (shape, dtype) in enumerate(statement.outputs):
            if slot in arrays and slot not in unwritten:
                outputs.append(Output(shape, dtype, self._summaries[id(statement), slot]))
            else:
                # The IR has a placeholder: it says (1, 1) of an LSTM's 28 KB (2.10.0).
                if slot in workspaces:
                    shape = workspaces[slot].shape
                outputs.append(Output(shape, dtype))
                complete = False
        if complete:
            return tuple(outputs), {}
        return tuple(outputs), {"values": self._why_missing(statement, unwritten)}

    def _summarised(self, statements: Statements) -> dict[tuple[int, int], Summary]:
        """The summaries of all arrays, by the ``id`` of their statement and output slot.

        They are made together, which takes a fraction of the time.
        """
        places = []
        arrays = []
        dtypes = []
        for body in statements.values():
            for statement in body:
                for slot, array in self.of(statement).items():
                    _, dtype = statement.outputs[slot]
                    places.append((id(statement), slot))
                    arrays.append(array.astype(carrier(dtype), copy=False))
                    dtypes.append(dtype)
        return dict(zip(places, summarise_all(arrays, dtypes), strict=True))

    def _why_missing(self, statement: IRStatement, unwritten: tuple[int, ...]) -> Absence:
        if unwritten and self.of(statement):
            return unwritten_absence(unwritten)
        if statement.op == "call":
            return Absence("inside_subgraph")
        if statement.graph in self.idle:
            return Absence("branch_not_run")
        if id(statement) in self._untold:
            return Absence("ambiguous_kernel")
        return Absence("fused_kernel")

    def _left_out(
        self, groups: dict[str, list[IRStatement]], graphs: Iterable[str]
    ) -> frozenset[str]:
        """The ``graphs`` of branches that did not run, known by how many kernels are missing."""
        left_out: set[str] = set()
        for scope, group in groups.items():
            graph = _graph_left_out(group, len(self._kernels[scope]))
            if graph is not None:
                left_out.add(graph)
        return frozenset(left_out | _of_the_same_branches(left_out, graphs))

    def _join_by_scope(self, groups: dict[str, list[IRStatement]]) -> None:
        """Join statements to the kernels of the same scope.

        Kernels are numbered on through the life of the process, the IR counts anew: both count in
        one order, and ranks agree.
        """
        for scope, group in groups.items():
            kernels = self._kernels[scope]
            ran = group
            if len(group) != len(kernels):
                ran = [statement for statement in group if statement.graph not in self.idle]
            ran = _in_order_of_kernels(ran)
            for statements, of_them in self._by_runs(ran, kernels):
                self._join_in_order(statements, of_them)

    def _by_runs(
        self, statements: list[IRStatement], kernels: list[Kernel]
    ) -> list[tuple[list[IRStatement], list[Kernel]]]:
        """Statements and kernels apart by whether they run once, where that settles it.

        The statements of the entry run once. A subgraph that several calls enter has its kernels
        numbered behind those of its callers, whatever the order in the IR (2.10.0).
        """
        once = [kernel for kernel in kernels if _runs(kernel) == 1]
        own = [statement for statement in statements if statement.graph == self._entry]
        if len(once) != len(own) or len(statements) != len(kernels):
            return [(statements, kernels)]
        again = [kernel for kernel in kernels if _runs(kernel) > 1]
        others = [statement for statement in statements if statement.graph != self._entry]
        return [(own, once), (others, again)]

    def _join_in_order(self, statements: list[IRStatement], kernels: list[Kernel]) -> None:
        if len(statements) != len(kernels):
            self._join_by_shape(statements, kernels)
            return
        for statement, kernel in zip(statements, kernels, strict=True):
            self._join(statement, kernel)

    def _join_by_shape(self, statements: list[IRStatement], kernels: list[Kernel]) -> None:
        """Join what sizes alone decide, where some statements were folded into other kernels.

        Shapes decide less: the kernel of a Reshape dumps the shape of its operand (2.10.0).
        """
        for statement in statements:
            alike = [other for other in statements if _sizes(other) == _sizes(statement)]
            fitting = [kernel for kernel in kernels if 0 in _arrays(statement, kernel)[0]]
            if len(alike) == len(fitting) == 1:
                self._join(statement, fitting[0])

    def _join_expanded(self, op: str, statements: list[IRStatement]) -> None:
        """Join the statements of an operator that was expanded on its way to the kernels.

        The last kernel of an expansion gives its value. An operator with several outputs may have a
        kernel for each instead: a split becomes one slice for each part.
        """
        kinds = self._expansions(op)
        if op in KINDS:
            last = _of_known_kinds(op, statements, kinds)
        else:
            last = last_of_shares(kinds, len(statements))
        for statement, kernel in _of_one_kind(statements, last):
            if not kernel:
                self._untold.add(id(statement))
            elif len(statement.outputs) <= len(kernel):
                self._join(statement, kernel)
        if max(map(_count_outputs, statements), default=0) > 1:
            self._join_parts(statements, kinds)

    def _expansions(self, op: str) -> Kinds:
        """The kernels into which an operator was expanded."""
        kinds: Kinds = {}
        for scope, kernels in self._kernels.items():
            expansion = EXPANSION.match(scope)
            if expansion and expansion[1] == op:
                kinds[expansion[2]] = kernels
        return kinds

    def _join_parts(self, statements: list[IRStatement], kinds: Kinds) -> None:
        """Join outputs that have a kernel each, where there are as many of one kind as outputs."""
        outputs = sum(map(_count_outputs, statements))
        fitting = [kernels for kernels in kinds.values() if len(kernels) == outputs]
        if len(fitting) != 1:
            return
        position = 0
        for statement in statements:
            parts: Kernel = {}
            for slot in range(len(statement.outputs)):
                kernel = fitting[0][position]
                position += 1
                if 0 in kernel:
                    parts[slot] = kernel[0]
            self._join(statement, parts)

    def _join(self, statement: IRStatement, kernel: Kernel) -> None:
        arrays, workspaces = _arrays(statement, kernel)
        if arrays:
            self._arrays[id(statement)] = arrays
        if workspaces:
            self._workspaces[id(statement)] = workspaces
        if _runs(kernel) > 1:
            self._repeated.add(id(statement))

    def _read_views(self, statements: Statements) -> None:
        """Read the values of views out of the memory that their kernels dumped."""
        for body in statements.values():
            by_number = {statement.node.index: statement for statement in body}
            for statement in body:
                chain = chain_of_views(statement, by_number)
                if not chain:
                    continue
                held = {**self.of(statement), **self.workspaces(statement)}
                self._arrays.pop(id(statement), None)
                self._workspaces.pop(id(statement), None)
                if 0 in held:
                    views = values_of_views(held[0], chain)
                    self._arrays[id(statement)] = dict(enumerate(views))

    def _without_values(self, statements: Statements) -> frozenset[str]:
        """The branches in which no statement has a value."""
        idle = set()
        for graph, body in statements.items():
            is_observed = any(id(statement) in self._arrays for statement in body)
            if BRANCH_NUMBER.search(graph) and not is_observed:
                idle.add(graph)
        return frozenset(idle)


def _runs(kernel: Kernel) -> int:
    """How often a kernel ran."""
    return max((output.runs for output in kernel.values()), default=1)


def _count_outputs(statement: IRStatement) -> int:
    return len(statement.outputs)


def _sizes(statement: IRStatement) -> list[int]:
    """How many elements each output of a statement has."""
    return [int(np.prod(shape)) for shape, _ in statement.outputs]


def _kernel_scope(statement: IRStatement) -> str:
    """The scope under which the kernel of a statement dumps; "" where it has none."""
    name = statement.full_name.rpartition("-op")[0]
    # Such a Transpose is a Reshape to the kernels (2.10.0).
    if _moves_no_elements(statement):
        name = f"{name.rpartition('/')[0]}/{RESHAPE}"
    return name.replace("/", "_")


def _moves_no_elements(statement: IRStatement) -> bool:
    """Whether a statement is a Transpose that moves axes of length 1 alone."""
    if statement.op != "Transpose":
        return False
    axes = statement.operands[1]
    shape = statement.node.inputs[0].shape
    if not isinstance(axes, SequenceValue) or not isinstance(shape, TensorShape):
        return False
    sizes = shape.sizes
    long_axes = []
    for axis in axes.values:
        if not isinstance(axis, Scalar):
            return False
        place = int(axis.value) % len(sizes)
        if sizes[place] != 1:
            long_axes.append(place)
    return long_axes == sorted(long_axes)


def _in_order_of_kernels(statements: list[IRStatement]) -> list[IRStatement]:
    """The statements of one scope in the order in which their kernels are numbered."""
    if len({statement.op for statement in statements}) == 1:
        return sorted(statements, key=_number_of_operator)
    # The numbers of several operators are not of one count; each counts in printed order.
    return statements


def _number_of_operator(statement: IRStatement) -> int:
    return int(statement.full_name.rpartition("-op")[2])


def last_of_shares(kinds: Kinds, count: int) -> list[Kernel]:
    """The kernel that ran last of each of ``count`` statements that an operator was expanded from.

    ``kinds`` are the kernels of all of them, each kind in the order of the statements. A kernel
    without outputs stands for a statement whose last one is not known; nothing at all where
    statements were expanded differently.
    """
    if not kinds:
        return []
    if any(len(kernels) % count for kernels in kinds.values()):
        return _last_kind(kinds, count)

    last = []
    places = set()
    for statement in range(count):
        share: dict[tuple[str, int], Kernel] = {}
        for kind, kernels in kinds.items():
            size = len(kernels) // count
            for step in range(size):
                share[kind, step] = kernels[statement * size + step]
        place = max(share, key=lambda place: _time_of_last(share[place]))
        places.add(place)
        last.append(share[place])
    # All of them end with the same step, or the shares are no shares.
    if len(places) != 1:
        return []
    return last


def _product_kind(statement: IRStatement) -> str:
    """The kind of kernel that computes a product of matrices."""
    shapes = [operand.shape for operand in statement.node.inputs[:2]]
    are_batches = [isinstance(shape, TensorShape) and len(shape.sizes) > 2 for shape in shapes]
    return "BatchMatMul" if any(are_batches) else "MatMul"


KINDS: dict[str, Callable[[IRStatement], str]] = {"MatMulExt": _product_kind}
"""Operators whose value one kernel computes, of a kind that depends on the operands (2.10.0).

The kernels around it reshape its operands and its value.
"""


def _of_known_kinds(op: str, statements: list[IRStatement], kinds: Kinds) -> list[Kernel]:
    """The kernels that compute the values of statements of an operator in KINDS, in order."""
    chosen_kinds = list(map(KINDS[op], statements))
    waiting = {}
    for kind in set(chosen_kinds):
        kernels = kinds.get(kind, [])
        if len(kernels) != chosen_kinds.count(kind):
            return []
        waiting[kind] = iter(kernels)
    return [next(waiting[kind]) for kind in chosen_kinds]


def _of_one_kind(
    statements: list[IRStatement], kernels: list[Kernel]
) -> Iterator[tuple[IRStatement, Kernel]]:
    """Statements with their kernels, in order; where numbers differ, in order among those of a kind.

    A sum of booleans may run before a sum of floats that comes before it in the program, and the
    sum that makes the loss after one in backward, whose value has another size (2.10.0).
    """
    if len(statements) != len(kernels):
        return
    wanted = list(map(_numbers_of_statement, statements))
    written = list(map(_numbers_of_kernel, kernels))
    if sorted(wanted) != sorted(written):
        wanted = [(kind, 0) for kind, _ in wanted]
        written = [(kind, 0) for kind, _ in written]
    if sorted(wanted) != sorted(written):
        yield from zip(statements, kernels, strict=True)
        return
    waiting: dict[Numbers, list[Kernel]] = {}
    for numbers, kernel in zip(written, kernels, strict=True):
        waiting.setdefault(numbers, []).append(kernel)
    for numbers, statement in zip(wanted, statements, strict=True):
        yield statement, waiting[numbers].pop(0)


Numbers = tuple[str, int]
"""The kind of numbers, as numpy abbreviates it ("f", "i", "u" or "b"), and how many there are."""


def _numbers_of_statement(statement: IRStatement) -> Numbers:
    _, dtype = statement.outputs[0]
    return carrier(dtype).kind, _sizes(statement)[0]


def _numbers_of_kernel(kernel: Kernel) -> Numbers:
    if 0 not in kernel:
        return "", 0
    array = load(kernel[0].path)
    return array.dtype.kind, array.size


def _last_kind(kinds: Kinds, count: int) -> list[Kernel]:
    """The kernels of the kind that ran last of all, if there are ``count`` of them.

    Where a cast comes before an operator for some of its statements alone, the operator's own kind
    has a kernel for each. Another kernel between two of them may be the end of the one statement as
    well as the beginning of the next: clamp by two bounds is a maximum and a minimum, by one it is one.
    """
    last = max(kinds, key=lambda kind: max(map(_time_of_last, kinds[kind])))
    if len(kinds[last]) != count:
        return []
    steps: list[int] = []
    for kind, kernels in kinds.items():
        if kind not in (last, CAST):
            steps += map(_time_of_last, kernels)
    last_kernels: list[Kernel] = []
    for kernel, following in pairwise(kinds[last]):
        start, end = _time_of_last(kernel), _time_of_last(following)
        is_open = any(start < step < end for step in steps)
        if is_open:
            kernel = {}
        last_kernels.append(kernel)
    return [*last_kernels, kinds[last][-1]]


def _time_of_last(kernel: Kernel) -> int:
    """When the last output of a kernel was written."""
    return max(output.time for output in kernel.values())


def _graph_left_out(statements: list[IRStatement], ran: int) -> str | None:
    """The branch that was not taken: without it as many statements remain as kernels ran.

    None where all statements ran, or where more than one graph could be the branch.
    """
    if len(statements) == ran:
        return None
    counts: dict[str, int] = {}
    for statement in statements:
        counts[statement.graph] = counts.get(statement.graph, 0) + 1
    fitting = [graph for graph, count in counts.items() if len(statements) - count == ran]
    if len(fitting) != 1:
        return None
    return fitting[0]


def _of_the_same_branches(graphs: Iterable[str], others: Iterable[str]) -> set[str]:
    """The graphs of ``others`` that are the forward or the backward of a branch in ``graphs``."""
    numbers = set()
    for graph in graphs:
        branch = BRANCH_NUMBER.search(graph)
        if branch:
            numbers.add(branch[1])
    same = set()
    for graph in others:
        branch = BRANCH_NUMBER.search(graph)
        if branch and branch[1] in numbers:
            same.add(graph)
    return same


def _arrays(statement: IRStatement, kernel: Kernel) -> tuple[Arrays, Arrays]:
    """A kernel's arrays in the shapes of a statement, and apart from them those of other sizes.

    A workspace has another size than the IR says.
    """
    arrays: Arrays = {}
    workspaces: Arrays = {}
    for slot, output in sorted(kernel.items()):
        if slot < len(statement.outputs):
            array = load(output.path)
            shape, _ = statement.outputs[slot]
            if array.size == int(np.prod(shape)):
                arrays[slot] = array.reshape(shape)
            else:
                workspaces[slot] = array
    return arrays, workspaces
