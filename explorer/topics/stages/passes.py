"""Reads the IR texts that MindSpore's passes leave behind as a sequence of counts: forward,
backward, update, bookkeeping.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.engines.mindspore.ir import IRNode, Module, Subgraph, read
from explorer.engines.mindspore.ir.records import NodeRef

BOOKKEEPING = frozenset(
    {
        "Depend", "DictGetItem", "DoUnpackCall", "EnvironCreate", "EnvironGet", "EnvironSet", "J", "ListGetItem", "Load",
        "MakeDict", "MakeList", "MakeTuple", "Partial", "RefToEmbed", "Return", "StopGradient", "Switch", "TupleGetItem",
        "UpdateState", "getattr", "resolve", "switch",
    }
)  # fmt: skip
"""Operators that compute nothing: they order effects, pack values, close over them, choose a graph,
or await their expansion.
"""

PLACEHOLDER = "BpropMetaFuncGraph_BpropMetaFuncGraph"
"""How an operator's derivative is called until it is looked up."""

PHASES = ("forward", "backward", "update", "bookkeeping")
NUMBER = re.compile(r"^(?:\d+_)*|_\d+$")
"""What the compiler puts before and after the name of a graph to tell copies apart."""

LABEL = re.compile(r"(label='para\d+)_[^']*")

LAST = "validate"
"""The pass after which the graph goes to the backend."""

NAME = re.compile(r"^(?:\d+_|opt_pass_\d+_|opt_substep_)?(.+?)_(\d+)$")
KERNELS = "graph_build_*.ir"
UPDATE = "/optimizer-"


def written(folder: Path) -> list[Path]:
    """The texts of the passes from first to last, in the order in which they were written."""
    numbered = [
        (int(found[2]), path) for path in folder.glob("*.ir") if (found := NAME.match(path.stem))
    ]
    return [path for _, path in sorted(numbered)]


def steps(folder: Path, entry: str) -> Iterator[tuple[str, Module]]:
    """Each pass's name and what it made of the program whose entry graph is called ``entry``, up to
    the last pass.

    Passes over parts of it are left out. A text that repeats the one before it to the letter is not
    read twice.
    """
    before, module = b"", None
    for path in written(folder):
        text = path.read_bytes()
        if text != before or module is None:
            before, module = text, read(path)
        name = NAME.sub(r"\1", path.stem)
        if entry in module.entry:
            yield name, module
            if name == LAST:
                return


def counts(module: Module) -> dict[str, Any]:
    """How many nodes of each phase a program has, in how many graphs."""
    found = Counter(phase for graph in module.subgraphs for phase in phases(graph))
    return {**{name: found[name] for name in PHASES}, "graphs": len(module.subgraphs)}


def phases(graph: Subgraph) -> list[str]:
    """Where each node of a graph belongs.

    "bookkeeping" are calls too. "update" is what an attribute called ``optimizer`` does. "backward"
    is what the compiler marks so, what stands in a backpropagator (◂), and what is computed from
    these.
    """
    behind: set[int] = set()
    found = []
    for node in graph.nodes:
        lane = _lane(node, graph, behind)
        if lane == "backward":
            behind.add(node.index)
        found.append("bookkeeping" if node.kind == "call" or node.op in BOOKKEEPING else lane)
    return found


def _lane(node: IRNode, graph: Subgraph, behind: set[int]) -> str:
    if UPDATE in node.scope:
        return "update"
    marked = (
        node.scope.startswith("Gradients")
        or node.forward_unique_id is not None
        or "◂" in graph.name
    )
    fed = any(isinstance(operand, NodeRef) and operand.index in behind for operand in node.operands)
    return "backward" if marked or fed or PLACEHOLDER in node.op else "forward"


def operators(module: Module) -> Counter[str]:
    """How often each operator stands in a program; calls count under "call"."""
    return Counter(_name(node) for graph in module.subgraphs for node in graph.nodes)


def _name(node: IRNode) -> str:
    return node.op.replace(PLACEHOLDER, "bprop of ") or "call"


def change(before: Counter[str], after: Counter[str]) -> dict[str, dict[str, int]]:
    """What appeared and what vanished between two passes."""
    return {
        "appeared": dict(sorted((after - before).items())),
        "vanished": dict(sorted((before - after).items())),
    }


def sequence(folder: Path, entry: str) -> dict[str, Any]:
    """The counts of a program after every pass, and what each pass that changed its operators added
    and took away.
    """
    rows: list[dict[str, Any]] = []
    last: Counter[str] = Counter()
    for name, module in steps(folder, entry):
        now = operators(module)
        changed = change(last, now) if rows else change(now, now)
        rows.append({"pass": name, **counts(module), **changed})
        last = now
    built = [read(path) for path in sorted(folder.glob(KERNELS))]
    kernels = sum(
        phase != "bookkeeping"
        for module in built
        for graph in module.subgraphs
        for phase in phases(graph)
    )
    return {"passes": rows, "kernels": kernels}


def calls_written(module: Module, name: str) -> list[str]:
    """What the graph of the user's own function computes or calls, as its author wrote it; packing
    is left out.

    Of several graphs whose names end in ``name`` the fullest is the function itself, the others are
    made around it.
    """
    own = [graph for graph in module.subgraphs if NUMBER.sub("", graph.name).endswith(name)]
    nodes = max((graph.nodes for graph in own), key=len, default=())
    return [node.op or "call" for node in nodes if node.op not in BOOKKEEPING]


def shape(module: Module) -> list[str]:
    """A program without the names that change from one compilation to the next: every node's graph,
    operator and operands.
    """
    place = {graph.name: f"graph {number}" for number, graph in enumerate(module.subgraphs)}
    lines = [
        f"{place[graph.name]} {_name(node)} {node.operands}"
        for graph in module.subgraphs
        for node in graph.nodes
    ]
    names = re.compile("|".join(sorted(map(re.escape, place), key=len, reverse=True)))
    return [LABEL.sub(r"\1", names.sub(lambda found: place[found[0]], line)) for line in lines]


def fingerprint(module: Module) -> str:
    """A short digest of ``shape``: equal for equal programs."""
    return hashlib.sha256("\n".join(shape(module)).encode()).hexdigest()[:12]
