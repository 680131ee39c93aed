"""Why something of a node is missing: values, a line, its forward link, its proof."""

from typing import Literal

import msgspec

from explorer.model.failures import Failure

ProofGap = Literal[
    "random",
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

LinkGap = Literal["unlinked_in_joint", "unlinked_on_tape", "before_pass", "merged", "removed"]
"""Why a backward node has no forward link.

- "unlinked_in_joint", "unlinked_on_tape": the framework does not record it
- "before_pass": the node was created before the backward pass; so it has no
  line either
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

AbsenceKind = ProofGap | LineGap | LinkGap | ValueGap


class Absence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why something of a node is missing.

    ``detail`` is a name or a number; ``error`` is what an op raises that is run alone.
    """

    kind: AbsenceKind
    detail: str = ""
    error: Failure | None = None
