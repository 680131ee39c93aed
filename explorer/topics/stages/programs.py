"""Programs in MindSpore's IR: loops that are compiled, what each holds, and the passes that leave them."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from explorer.engines.mindspore.ir import IRNode, Module, Subgraph, read
from explorer.engines.mindspore.ir.records import NodeRef
from explorer.engines.mindspore.operators import BOOKKEEPING
from explorer.model.message import Text, message
from explorer.model.passes import FINAL, TYPED

SIGNS = {"inputs times 1": 1, "inputs times -1": -1}
"""What a net's inputs are multiplied with, so that a branch on a value goes both ways."""


def while_positive(x: Any, w: Any, n: Any) -> Any:
    """x·wⁿ summed, by a loop whose length is a value."""
    while n > 0:
        x = x * w
        n = n - 1
    return x.sum()


def four_times(x: Any, w: Any) -> Any:
    """x·w⁴ summed, by a loop whose length stands in the program."""
    for _ in range(4):
        x = x * w
    return x.sum()


PLACEHOLDER = "BpropMetaFuncGraph_BpropMetaFuncGraph"
"""What an operator's derivative is called until it is looked up (2.10.0)."""

PHASES = ("forward", "backward", "update", "bookkeeping")
"""Where a node can belong."""


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How many nodes a program has in each phase, and how many graphs they are in."""

    forward: int
    backward: int
    update: int
    bookkeeping: int
    graphs: int = 0

    @property
    def total(self) -> int:
        """All nodes."""
        return self.computing + self.bookkeeping

    @property
    def computing(self) -> int:
        """The nodes that compute something."""
        return self.forward + self.backward + self.update


class Pass(Size, frozen=True, kw_only=True, rename={"name": "pass"}):
    """What a pass made of a program: its size afterwards, and which operators it changed."""

    name: str
    appeared: dict[str, int]
    vanished: dict[str, int]

    @property
    def changes_operators(self) -> bool:
        """Whether it changed any."""
        return bool(self.appeared or self.vanished)


class Passes(msgspec.Struct, frozen=True):
    """All passes over a program, the calls that its author wrote, and the kernels it runs as."""

    passes: tuple[Pass, ...]
    kernels: int
    written: tuple[str, ...] = ()

    @property
    def last(self) -> Pass:
        """The last pass."""
        return self.passes[-1]

    @property
    def largest(self) -> Pass:
        """The first of the passes after which the program has the most nodes."""
        return max(self.passes, key=lambda step: step.total)

    @property
    def shown(self) -> list[Pass]:
        """The passes that changed operators, and the first and last whether or not they did."""
        ends = (self.passes[0], self.passes[-1])
        return [step for step in self.passes if step.changes_operators or step in ends]


class Compiled(Size, frozen=True, kw_only=True, rename={"compiled_again": "compiled again"}):
    """A compiled program, and whether a call with other values compiled it once more."""

    fingerprint: str
    compiled_again: bool


UPDATE = "/optimizer-"
"""What the scope of a node holds that an attribute called ``optimizer`` brought in."""

COPY_NUMBERS = re.compile(r"^(?:\d+_)*|_\d+$")
"""What the compiler puts before and after the name of a graph to tell copies apart."""

PARAMETER_NAME = re.compile(r'("label":"para\d+)_[^"]*')
"""A parameter's label in an operand, with the name that ends it."""


def counts(module: Module) -> dict[str, int]:
    """How many nodes of each phase a program has, in how many graphs."""
    nodes: Counter[str] = Counter()
    for graph in module.subgraphs:
        nodes.update(phases(graph))
    by_phase = {phase: nodes[phase] for phase in PHASES}
    return {**by_phase, "graphs": len(module.subgraphs)}


def phases(graph: Subgraph) -> list[str]:
    """The phase of each node of a graph, in their order.

    "bookkeeping" are calls too. "update" is what an attribute called ``optimizer`` does. "backward"
    is what the compiler marks so, what stands in a backpropagator (◂), and what is computed from
    these.
    """
    backward: set[int] = set()
    node_phases = []
    for node in graph.nodes:
        phase = _phase(node, graph, backward)
        # Bookkeeping too: a tuple of gradients passes the backward on to what takes it apart.
        if phase == "backward":
            backward.add(node.index)
        computes = node.kind != "call" and node.op not in BOOKKEEPING
        node_phases.append(phase if computes else "bookkeeping")
    return node_phases


def _phase(node: IRNode, graph: Subgraph, backward: set[int]) -> str:
    """Forward, backward or update; ``backward`` are the indices of the nodes known to be so."""
    if UPDATE in node.scope:
        return "update"
    if _is_marked_backward(node) or "◂" in graph.name:
        return "backward"
    operands = [operand.index for operand in node.operands if isinstance(operand, NodeRef)]
    return "forward" if backward.isdisjoint(operands) else "backward"


def _is_marked_backward(node: IRNode) -> bool:
    if node.scope.startswith("Gradients") or PLACEHOLDER in node.op:
        return True
    return node.forward_unique_id is not None


def operators(module: Module) -> Counter[str]:
    """How often each operator stands in a program; calls count under "call"."""
    return Counter(_name(node) for graph in module.subgraphs for node in graph.nodes)


def _name(node: IRNode) -> str:
    # A call has no operator; an operator's derivative that is not looked up yet has a long one.
    return node.op.replace(PLACEHOLDER, "bprop of ") or "call"


def calls_written(module: Module, name: str) -> list[str]:
    """What the graph of the user's own function computes or calls, as its author wrote it.

    Packing is left out.
    """
    fullest: tuple[IRNode, ...] = ()
    for graph in module.subgraphs:
        # Several graphs may end so: the fullest is the function itself, the others surround it.
        if COPY_NUMBERS.sub("", graph.name).endswith(name) and len(graph.nodes) > len(fullest):
            fullest = graph.nodes
    return [node.op or "call" for node in fullest if node.op not in BOOKKEEPING]


def fingerprint(module: Module) -> str:
    """A short digest of a program: equal for equal programs, whatever the compiler calls them."""
    lines = []
    numbers = {graph.name: f"graph {number}" for number, graph in enumerate(module.subgraphs)}
    # Longest names first: one graph's name may begin another's.
    names = re.compile("|".join(sorted(map(re.escape, numbers), key=len, reverse=True)))
    for graph in module.subgraphs:
        for node in graph.nodes:
            # As JSON, in which a digest does not depend on what the records' classes are called.
            operands = msgspec.json.encode(node.operands).decode()
            line = f"{numbers[graph.name]} {_name(node)} {operands}"
            line = names.sub(lambda match: numbers[match[0]], line)
            lines.append(PARAMETER_NAME.sub(r"\1", line))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def change(before: Counter[str], after: Counter[str]) -> dict[str, Any]:
    """What appeared and what vanished between two programs' operators."""
    return {
        "appeared": dict(sorted((after - before).items())),
        "vanished": dict(sorted((before - after).items())),
    }


STEP = re.compile(r"^(\w+?)_r(\d+)_j\d+_\d+_(.+?)_*$")
"""A step within a pass, as its file is called: "opt_a_r1_j0_34_meta_fg_expand"."""

SUBSTEP = re.compile(r"^(\w+)\.r(\d+)\.(\w+)\.(\w+)$")
"""A step within a step: "opt_a.r1.a_2.merge_addn"."""

WITH_A_MEANING = frozenset(
    {
        "bootstrap",
        TYPED.file,
        "auto_monad",
        "meta_fg_expand",
        "renormalize",
        "a_1",
        "cse",
        "merge_addn",
        "updatestate_depend_eliminate",
        "updatestate_loads_eliminate",
        FINAL.file,
    }
)
"""The passes, by the last part of their names, of which words/ says what they are for."""


def readable(name: str) -> Text:
    """A pass's name without its numbers: "opt_a, round 1: meta_fg_expand"."""
    step = STEP.match(name)
    if step:
        return message("stages.round", name_of_pass=step[1], round=step[2], step=step[3])
    substep = SUBSTEP.match(name)
    if substep:
        return message("stages.round", name_of_pass=substep[1], round=substep[2], step=substep[4])
    return name


def short(name: str) -> str:
    """The last part of a pass's name: "meta_fg_expand"."""
    step = STEP.match(name)
    if step:
        return step[3]
    substep = SUBSTEP.match(name)
    return substep[4] if substep else name


FILE = re.compile(r"^(?:\d+_|opt_pass_\d+_|opt_substep_)?(.+?)_(\d+)$")
"""The name of a pass's file (2.10.0).

How its kind is numbered, the pass, and the running number.
"""

KERNELS = "graph_build_*.ir"
"""The texts of what goes to the kernels (2.10.0)."""


def written(folder: Path) -> list[Path]:
    """The texts of the passes from first to last, in the order in which they were written."""
    numbered = []
    for path in folder.glob("*.ir"):
        match = FILE.match(path.stem)
        if match:
            numbered.append((int(match[2]), path))
    # By the running number: the name begins with another one, which starts anew for some kinds.
    return [path for _, path in sorted(numbered)]


def after_each_pass(folder: Path, entry: str) -> Iterator[tuple[str, Module]]:
    """Each pass's name, and what it made of the program with the entry graph ``entry``.

    Up to the last pass; passes over parts of the program are left out.
    """
    previous_text = b""
    module: Module | None = None
    for path in written(folder):
        text = path.read_bytes()
        # Most passes change nothing, and parsing is what takes time: read each text once.
        if text != previous_text or module is None:
            previous_text = text
            module = read(path)
        name = FILE.sub(r"\1", path.stem)
        # "in": numbers that tell copies apart stand around the name.
        if entry in module.entry:
            yield name, module
            if name == FINAL.file:
                return


def program_after(folder: Path, entry: str, name: str) -> Module:
    """What the pass called ``name`` made of a program; LookupError where it did not run."""
    for pass_name, module in after_each_pass(folder, entry):
        if pass_name == name:
            return module
    raise LookupError(f"no pass {name!r} over {entry!r} was written to {folder}")


def final_program(folder: Path, entry: str) -> Module:
    """The program as it goes to the kernels."""
    return program_after(folder, entry, FINAL.file)


def sequence(folder: Path, entry: str) -> dict[str, Any]:
    """The counts of a program after every pass, and how many kernels it runs as.

    With each pass stands what it added and took away.
    """
    rows: list[dict[str, Any]] = []
    before: Counter[str] | None = None
    for name, module in after_each_pass(folder, entry):
        now = operators(module)
        # The first pass has nothing before it to have changed.
        changed = change(now if before is None else before, now)
        rows.append({"pass": name, **counts(module), **changed})
        before = now
    return {"passes": rows, "kernels": kernels(folder)}


def kernels(folder: Path) -> int:
    """How many nodes that compute something go to the kernels."""
    count = 0
    for path in sorted(folder.glob(KERNELS)):
        for graph in read(path).subgraphs:
            count += sum(phase != "bookkeeping" for phase in phases(graph))
    return count
