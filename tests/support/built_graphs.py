"""Graphs in the builder that captures fill, written as text: a line a node, with what it reads.

``dh Mul back @2,7 of h in block: g x`` is the node ``dh``, an op of backward at the lines 2 and 7 of net.py
that derives from ``h``, stands in the module ``block``, and reads the first outputs of ``g`` and ``x``. An op
is called as its node where the line says no other; ``input``, ``parameter``, ``constant`` and ``output`` are
nodes of that kind, ``sum`` is a sum of gradients.
"""

from typing import Any

from explorer.engines.capture.builder import GraphBuilder
from explorer.model.graph import NodeKind, Output, Phase

SCALAR = (Output((), "float32"),)

KINDS: dict[str, NodeKind] = {
    "input": "input",
    "parameter": "parameter",
    "constant": "constant",
    "output": "output",
    "sum": "accumulate",
}
"""The kinds of nodes that are no ops, by what a text calls them."""


def built(text: str) -> tuple[GraphBuilder, dict[str, int]]:
    """The builder that holds the nodes of a text, and their numbers by their names."""
    builder = GraphBuilder()
    numbers: dict[str, int] = {}
    for line in text.strip().splitlines():
        head, _, reads = line.partition(":")
        name, *words = head.split()
        op = name
        kind: NodeKind = "op"
        phase: Phase = "forward"
        fields: dict[str, Any] = {}
        waiting = iter(words)
        for word in waiting:
            if word.startswith("@"):
                fields["source"] = tuple(f"net.py:{number}" for number in word[1:].split(","))
            elif word == "of":
                fields["forward"] = numbers[next(waiting)]
            elif word == "in":
                fields["scope"] = next(waiting)
            elif word == "back":
                phase = "backward"
            else:
                op, kind = word, KINDS.get(word, "op")
        slots = tuple((numbers[read], 0) for read in reads.split())
        if kind == "accumulate":
            phase = "backward"
        numbers[name] = builder.add(op, kind, phase, slots, outputs=SCALAR, **fields)
    return builder, numbers
