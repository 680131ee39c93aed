"""The record of a gradient graph: nodes of forward and backward with their values, and edges."""

from typing import Literal

import msgspec

from explorer.model.absences import Absence
from explorer.model.arrays import Summary

NodeKind = Literal["op", "input", "parameter", "constant", "accumulate", "call", "output"]
Phase = Literal["forward", "backward"]
EdgeKind = Literal["data", "saved", "control"]
Proof = Literal["", "proven", "refuted", "unproven"]

GraphNote = Literal["whole_forward"]
"""How a graph differs from that of the plain call.

"whole_forward": the graph is that of ``value_and_grad``, which keeps the whole forward.
"""


class Output(msgspec.Struct, frozen=True):
    """One tensor that a node yields: its shape, its dtype name, and its values.

    ``values`` is None where they were not observed. ``noise`` is how far the values move under
    rounding: a root mean square over the elements, in their own units; None where it was not
    measured.
    """

    shape: tuple[int, ...]
    dtype: str
    values: Summary | None = None
    noise: float | None = None


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One operator, leaf, or result of a gradient graph.

    ``id`` is "n0", "n1", … in traversal order. ``name`` is what a reader calls it: an input, a
    parameter, a gradient ("dx"), or empty. ``scope`` is the module path ("fc", "block.conv"),
    ``source`` is "file:line" with the user's line first. ``forward`` is the id of the forward node
    that a backward node derives from. ``order`` is the position in execution order. ``body`` names
    the subgraph that holds the node ("" for the main graph); a "call" node names those it enters in
    ``calls``. ``saved_bytes`` counts unique storages kept for backward. ``tape`` names the node of
    PyTorch's tape that ran the operator ("AddmmBackward0"). ``proof`` says whether the op, computed
    again alone from its recorded inputs, yields its recorded values: "" where that was not tried.
    ``missing`` says why a value, a source, a forward link or a proof is absent: keys "values",
    "source", "forward", "proof".
    """

    id: str
    op: str
    kind: NodeKind
    phase: Phase
    name: str = ""
    scope: str = ""
    source: tuple[str, ...] = ()
    forward: str | None = None
    order: int = 0
    outputs: tuple[Output, ...] = ()
    body: str = ""
    calls: tuple[str, ...] = ()
    saved_bytes: int = 0
    tape: str = ""
    proof: Proof = ""
    missing: dict[str, Absence] = {}


class Edge(
    msgspec.Struct,
    frozen=True,
    # The keys of JSON; "from" and "in" are keywords of Python.
    rename={"origin": "from", "target": "to", "output": "out", "input": "in"},
):
    """An edge from an output of one node to an input of another.

    It leaves output slot ``output`` of node ``origin``, and arrives at input slot ``input`` of node
    ``target``; slots count from 0. "saved" edges carry a forward value into backward, "control"
    edges only an order of execution.
    """

    origin: str
    target: str
    output: int = 0
    input: int = 0
    kind: EdgeKind = "data"


class GradGraph(msgspec.Struct, frozen=True, kw_only=True):
    """One engine's gradient graph of one case.

    ``stage`` is a compiler pass ("validate"), "joint" or "tape". ``notes`` say what the engine
    could not observe.
    """

    engine: str
    case: str
    stage: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    notes: tuple[GraphNote, ...] = ()

    def by_id(self) -> dict[str, Node]:
        """The nodes, keyed by id."""
        return {node.id: node for node in self.nodes}


FRAMEWORK_PACKAGES = ("mindspore", "torch", "keras")
"""The packages that are not a user's; their files are named by the path: "torch/nn/functional.py"."""


def is_users(place: str) -> bool:
    """Whether a node's place lies in the user's code: "net.py:3", "own/torch/models.py:3"."""
    package, slash, _ = place.partition("/")
    return not slash or package not in FRAMEWORK_PACKAGES
