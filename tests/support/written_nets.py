"""Nets that are written as text: a line a node, with its op, its place and what numpy makes of it.

``h = Exp @3 in block: np.exp(x)`` is an op at line 3 of net.py in a module (``@3,7``: called at line 7);
it reads the nodes that its expression names, in their order. Behind the op may stand further words:

- ``of y`` is an op of backward that belongs to ``y``, ``back`` one that belongs to no op of forward;
- ``input``, ``parameter`` and ``constant`` in the place of an op are leaves, named by the word behind;
- ``unobserved`` is a value that was not recorded.

A line that begins with "- " is of the left one of two nets alone, one with "+ " of the right one alone.
An expression that gives a tuple makes an op of several outputs: ``h[1]`` is the second one. The result is
the node ``out``, or what ``result NAME = NODE`` and ``gradient NAME = NODE`` say. Without an ``x`` of its
own a net reads a random matrix of four rows and columns.
"""

import ast
from typing import Any

import msgspec
import numpy as np

from explorer.model.graph import Arguments, GradGraph, NodeKind, Phase, SideName
from tests.support.computed_graphs import ComputedGraph

X = "x = input: np.random.default_rng(1).standard_normal((4, 4))"

ACCUMULATE = "accumulate"
"""The op whose node is of that kind: a sum of gradients."""

LEAVES: dict[str, NodeKind] = {"input": "input", "parameter": "parameter", "constant": "constant"}
RESULTS: dict[str, Phase] = {"result": "forward", "gradient": "backward"}

Change = tuple[str, str]
"""A piece of a text, and what stands there instead."""

Slot = tuple[int, int]
"""A node and one of its outputs."""


def net(
    engine: str, text: str, *changes: Change, side: SideName = "left", **known: Any
) -> GradGraph:
    """The net of a text in which some pieces are changed; expressions know numpy and ``known``."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    mark, other = ("- ", "+ ") if side == "left" else ("+ ", "- ")
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    lines = [line.removeprefix(mark).strip() for line in lines if not line.startswith(other)]
    return written(ComputedGraph(engine), "\n".join(lines), **known)


def written(graph: ComputedGraph, text: str, **known: Any) -> GradGraph:
    """The net of a text, written into a graph that may add noise or spoil a value."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not any(line.startswith("x = input") for line in lines):
        lines.insert(0, X)
    if not any(line.startswith(tuple(RESULTS)) for line in lines):
        lines += ["result out = out"] * any(line.startswith("out = ") for line in lines)
    net = _Written(graph, {"np": np, **known})
    for line in lines:
        net.add(line)
    return graph.record()


def two_nets(text: str, **known: Any) -> tuple[GradGraph, GradGraph]:
    """The nets "a" and "b", left and right, of a text whose marked lines are of one of them."""
    return net("a", text, **known), net("b", text, side="right", **known)


def given(graph: GradGraph, line: str, arguments: Arguments) -> GradGraph:
    """A graph in which the op of a line has arguments."""
    nodes = (
        msgspec.structs.replace(node, arguments=arguments) if node.source == (line,) else node
        for node in graph.nodes
    )
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def fields_of(words: list[str], nodes: dict[str, int]) -> dict[str, Any]:
    """What is said of a node behind its op, or its name."""
    fields: dict[str, Any] = {}
    waiting = iter(words)
    for word in waiting:
        if word.startswith("@"):
            fields["source"] = tuple(f"net.py:{line}" for line in word[1:].split(","))
        elif word == "in":
            fields["scope"] = next(waiting)
        elif word == "of":
            fields |= {"phase": "backward", "forward": nodes[next(waiting)]}
        elif word == "back":
            fields["phase"] = "backward"
        elif word == "unobserved":
            fields["observed"] = False
        else:
            fields["name"] = word
    return fields


class _Written:
    """A net that is read line by line."""

    def __init__(self, graph: ComputedGraph, known: dict[str, Any]) -> None:
        self.graph = graph
        self.known = known
        self.nodes: dict[str, int] = {}

    def add(self, line: str) -> None:
        head, _, code = line.partition(": ")
        name, _, rest = head.partition(" = ")
        result, _, called = name.partition(" ")
        if result in RESULTS:
            ((node, output),) = self._read(rest)
            self.graph.result(called, node, RESULTS[result], output)
            return
        op, *words = rest.split()
        fields = fields_of(words, self.nodes)
        value = eval(code, self.known)
        values = value if isinstance(value, tuple) else (value,)
        if op in LEAVES:
            if op != "constant":
                fields.setdefault("name", name)
            self.nodes[name] = self.graph.hold(op, *values, kind=LEAVES[op], **fields)
        else:
            kind: NodeKind = "accumulate" if op == ACCUMULATE else "op"
            reads = self._read(code)
            self.nodes[name] = self.graph.hold(op, *values, inputs=reads, kind=kind, **fields)
        made = self.graph.values[self.nodes[name]]
        self.known[name] = made if len(made) > 1 else made[0]

    def _read(self, code: str) -> tuple[Slot, ...]:
        """The outputs that an expression reads, in the order in which it names them."""
        slots: dict[Slot, None] = {}
        tree = ast.parse(code, mode="eval")
        names: list[ast.Name] = []
        outputs: dict[ast.expr, int] = {}
        for part in ast.walk(tree):
            match part:
                case ast.Name() if part.id in self.nodes:
                    names.append(part)
                case ast.Subscript(slice=ast.Constant(value=int(output))):
                    outputs[part.value] = output
        for name in sorted(names, key=lambda it: (it.lineno, it.col_offset)):
            node = self.nodes[name.id]
            # An index into a single value is of its elements.
            slots[node, outputs.get(name, 0) if len(self.graph.values[node]) > 1 else 0] = None
        return tuple(slots)
