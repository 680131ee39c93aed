"""What a program in MindSpore's IR holds: its operators, counted by phase, and a fingerprint."""

import hashlib
import re
from collections import Counter
from typing import Any

import msgspec

from explorer.engines.mindspore.ir import IRNode, Module, Subgraph
from explorer.engines.mindspore.ir.records import NodeRef
from explorer.engines.mindspore.operators import BOOKKEEPING

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
