"""Graphs in the builder that captures fill, written as text: a line a node, with what it reads.

``dh Mul back @2,7 of h in block: g x`` is the node ``dh``, an op of backward at the lines 2 and 7 of net.py
that derives from ``h``, stands in the module ``block``, and reads the first outputs of ``g`` and ``x``. An op
is called as its node where the line says no other; ``input``, ``parameter``, ``constant`` and ``output`` are
nodes of that kind, ``sum`` is a sum of gradients.
"""

from explorer.engines.capture.builder import GraphBuilder
from explorer.model.graph import NodeKind, Output
from tests.support.written_nets import fields_of

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
        fields = {"phase": "forward", **fields_of(words, numbers)}
        op = fields.pop("name", name)
        kind = KINDS.get(op, "op")
        slots = tuple((numbers[read], 0) for read in reads.split())
        if kind == "accumulate":
            fields["phase"] = "backward"
        numbers[name] = builder.add(op, kind, inputs=slots, outputs=SCALAR, **fields)
    return builder, numbers
