"""The record of a gradient graph: nodes of forward and backward with their values, and edges."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, Union

import msgspec

from explorer.model.arrays import SMALL, Array, Summary
from explorer.model.failures import Failure

ProofGap = Literal[
    "random",
    "unsteady",
    "communicates",
    "repeated",
    "overwritten_operand",
    "written_in_part",
    "no_tensor",
    "no_value",
    "no_input",
    "no_operator",
    "mixed_tuple",
    "odd_operand",
    "unannounced",
    "raises_alone",
    "fewer_gradients",
    "single_precision",
    "cut_constant",
    "large_graph",
]
"""Why a value is unproven.

- "random", "communicates": the op would yield something else if it ran again
- "unsteady": it does: it yields other values from the same inputs
- "repeated": it may run several times, of which the last is recorded
- "overwritten_operand": another op overwrites memory that it reads
- "written_in_part": it writes a part of a tensor, which is recorded whole
- "no_tensor", "no_value", "no_input": it returns no tensor, or a value was not
  recorded
- "no_operator": no single operator of the framework computes it;
  "mixed_tuple": it takes a tuple with something other than tensors;
  "odd_operand": an operand is a ``detail``
- "unannounced": the framework reports no operator for it
- "raises_alone": it raises ``error`` when it is run alone
- "fewer_gradients": run alone it gives ``detail`` gradients, and more in the
  graph
- "single_precision": run alone it takes a float64 constant in single precision
- "cut_constant": the compiler's output has its constant with six digits
- "large_graph": graphs of more than ``detail`` op nodes are proven on request
"""

LineGap = Literal["line_of_gradient", "line_of_forward", "line_of_neighbour", "added_by_capture"]
"""Why a node has no line of its own, or which node's line it has."""

LinkGap = Literal[
    "unlinked_in_joint", "unlinked_on_tape", "before_pass", "outside_pass", "merged", "removed"
]
"""Why a backward node has no forward link.

- "unlinked_in_joint", "unlinked_on_tape": the framework does not record it
- "before_pass": the node was created before the backward pass; so it has no
  line either
- "outside_pass": the program ran the op itself, on what a backward pass had left
- "merged": the compiler merged several nodes into it
- "removed": the compiler removed its forward node, a ``detail``
"""

ValueGap = Literal[
    "unwritten",
    "unwritten_outputs",
    "not_in_ir",
    "inside_subgraph",
    "branch_not_run",
    "ambiguous_kernel",
    "fused_kernel",
]
"""Why values are missing.

- "unwritten", "unwritten_outputs": the op does not write all of its outputs,
  or not ``detail``
- "not_in_ir": the compiler's output leaves elements of the constant out
- "inside_subgraph": the values are those of the nodes inside
- "branch_not_run": the other branch was taken
- "ambiguous_kernel": its kernels cannot be distinguished from those of a
  similar node
- "fused_kernel": the backend fuses it into another kernel
"""

ArgumentGap = Literal["unannounced", "unnamed_arguments", "long_argument", "computed_argument"]
"""Why arguments of an op are missing.

- "unannounced": the framework reports no operator for the node
- "unnamed_arguments": the framework does not say what the arguments are called
- "long_argument": ``detail`` are sequences of more numbers than are recorded
- "computed_argument": ``detail`` are numbers that the net computes as it runs, and which are not
  observed
"""

AbsenceKind = ProofGap | LineGap | LinkGap | ValueGap | ArgumentGap


class Absence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why something of a node is missing.

    ``detail`` is a name or a number; ``error`` is what an op raises that is run alone.
    """

    kind: AbsenceKind
    detail: str = ""
    error: Failure | None = None


Setting: TypeAlias = Union[bool, int, float, str, None]  # noqa: UP007 - msgspec reads it at runtime on 3.10
"""A plain value; a dtype goes by its name, a complex number by its text."""

ArgumentValue: TypeAlias = Union[  # noqa: UP007 - as above
    Setting, tuple[Union[Setting, tuple[Setting, ...]], ...]  # noqa: UP007 - as above
]
"""A plain value, or a sequence of such or of such sequences."""

Arguments: TypeAlias = dict[str, ArgumentValue]
"""Values by the names of the framework's documentation."""


class Layer(msgspec.Struct, frozen=True):
    """A layer of a framework in a net: its class, "nn.BatchNorm2d", and how it was made.

    ``settings`` are the arguments of its constructor, with defaults filled in.
    """

    name: str
    settings: Arguments = {}


NodeKind = Literal["op", "input", "parameter", "constant", "accumulate", "call", "output"]
Phase = Literal["forward", "backward"]
EdgeKind = Literal["data", "saved", "control"]
Proof = Literal["", "proven", "refuted", "unproven"]

GraphNote = Literal["whole_forward", "op_by_op"]
"""How a graph differs from that of the plain call.

- "whole_forward": the graph is that of ``value_and_grad``, which keeps the whole forward.
- "op_by_op": values are those of the program's operations run one by one; the answer is the compiled one's.
"""


class Output(msgspec.Struct, frozen=True):
    """One tensor that a node yields: its shape, its dtype name, and its values.

    ``values`` is None where they were not observed. ``noise`` is how far the values move under
    rounding: a root mean square over the elements, in their own units; None where it was not
    measured. ``levels`` are that of each example, along the first axis; empty where none moves far
    less than all do.
    """

    shape: tuple[int, ...]
    dtype: str
    values: Summary | None = None
    noise: float | None = None
    levels: tuple[float, ...] = ()

    @property
    def whole(self) -> Array | None:
        """All elements, where they are known."""
        return self.values.whole if self.values else None


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
    ``arguments`` are what the op takes beside tensors, defaults filled in, but for what changes no
    value, such as a device.
    ``missing`` says why a value, a source, a forward link, a proof or an argument is absent: keys
    "values", "source", "forward", "proof", "arguments".
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
    arguments: Arguments = {}
    missing: dict[str, Absence] = {}

    @property
    def main(self) -> Output | None:
        """The output that stands for it: the first one, an index only where there is nothing else."""
        numbers = [output for output in self.outputs if "int" not in output.dtype]
        return next(iter(numbers or self.outputs), None)

    def whole(self, output: int) -> Array | None:
        """All elements of an output, where they are known."""
        return self.outputs[output].whole if output < len(self.outputs) else None


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


Slot = tuple[str, int]
"""An output: the id of its node, and its number."""


class GradGraph(msgspec.Struct, frozen=True, kw_only=True):
    """One engine's gradient graph of one case.

    ``stage`` is a compiler pass ("validate"), "joint", "jaxpr", "hlo" or "tape". ``notes`` say what the
    engine could not observe. ``layers`` are the layers of the framework that nodes run in, by the path
    of the module ("block.conv").
    """

    engine: str
    case: str
    stage: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    notes: tuple[GraphNote, ...] = ()
    layers: dict[str, Layer] = {}

    def by_id(self) -> dict[str, Node]:
        """The nodes, keyed by id."""
        return {node.id: node for node in self.nodes}


def with_outputs(graph: GradGraph, change: Callable[[Slot, Output], Output]) -> GradGraph:
    """The graph with what ``change`` makes of each output, which may be the same one."""
    nodes = []
    for node in graph.nodes:
        outputs = tuple(change((node.id, place), it) for place, it in enumerate(node.outputs))
        if any(new is not old for new, old in zip(outputs, node.outputs, strict=True)):
            node = msgspec.structs.replace(node, outputs=outputs)
        nodes.append(node)
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def with_whole(output: Output, whole: Array | None) -> Output:
    """An output with other elements, or with its figures alone."""
    values = output.values and msgspec.structs.replace(output.values, whole=whole)
    return msgspec.structs.replace(output, values=values)


def without_large(graph: GradGraph) -> GradGraph:
    """The graph as a report keeps it: of values of more than SMALL elements their figures alone."""

    def brief(_slot: Slot, output: Output) -> Output:
        is_large = output.whole is not None and output.whole.size > SMALL
        return with_whole(output, None) if is_large else output

    return with_outputs(graph, brief)


def with_values(graph: GradGraph, whole: Mapping[Slot, Array | None]) -> GradGraph:
    """The graph with the elements of some outputs, by the ids of their nodes; None: as it was."""

    def known(slot: Slot, output: Output) -> Output:
        value = whole.get(slot)
        return output if value is None else with_whole(output, value)

    return with_outputs(graph, known)


FRAMEWORK_PACKAGES = ("mindspore", "torch", "keras", "jax")
"""The packages that are not a user's; their files are named by the path: "torch/nn/functional.py"."""


def is_users(place: str) -> bool:
    """Whether a node's place lies in the user's code: "net.py:3", "own/torch/models.py:3"."""
    package, slash, _ = place.partition("/")
    return not slash or package not in FRAMEWORK_PACKAGES


SideName = Literal["left", "right"]
"""One of the two graphs; records have what belongs to the left one first."""

OTHER: dict[SideName, SideName] = {"left": "right", "right": "left"}
"""The other side of each."""
