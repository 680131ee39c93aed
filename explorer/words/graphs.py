"""Why a graph is missing, or something of one of its nodes, in words."""

from collections.abc import Iterable

from explorer.model import passes
from explorer.model.graph import Absence, AbsenceKind, GradGraph, GraphNote
from explorer.model.report import Ungraphed
from explorer.text.failures import message, typed
from explorer.text.language import _, later

ABSENCES: dict[AbsenceKind, str] = {
    "random": later("it draws random numbers"),
    "unsteady": later("it yields other values each time from the same inputs"),
    "communicates": later("it communicates with other processes"),
    "repeated": later("it may run several times, and only the last run is recorded"),
    "overwritten_operand": later("it reads memory that another op overwrites"),
    "written_in_part": later("it writes a part of a tensor, and the whole tensor is recorded"),
    "no_tensor": later("it returns no tensor"),
    "no_value": later("its value was not recorded"),
    "no_input": later("the value of an input was not recorded"),
    "no_operator": later("no single operator of the framework computes it"),
    "mixed_tuple": later(
        "no single operator of the framework computes it: a tuple contains something that is not a"
        " tensor"
    ),
    "odd_operand": later(
        "no single operator of the framework computes it: an operand is a {detail}"
    ),
    "unannounced": later("MindSpore reports no operator for it"),
    "raises_alone": later("it raises when it is recomputed on its own: {detail}"),
    "fewer_gradients": later(
        "it raises when it is recomputed on its own: recomputed on its own it gives {detail} gradients,"
        " and more in the graph"
    ),
    "single_precision": later(
        "recomputed on its own, it takes a float64 constant in single precision"
    ),
    "cut_constant": later("the compiler's output gives its constant with six digits only"),
    "large_graph": later("graphs of more than {detail} op nodes are proven only with --prove"),
    "line_of_gradient": later(
        "the framework records no source line here; this is the line of the node's gradient"
    ),
    "line_of_forward": later(
        "the framework records no source line here; this is the line of the forward node"
    ),
    "line_of_neighbour": later(
        "the framework records no source line here; this is the line of a neighbouring node"
    ),
    "added_by_capture": later(
        "the capture added this node to nest gradients or to separate outputs; it has no source line"
    ),
    "unlinked_in_joint": later(
        "the joint graph does not record from which forward node it derives"
    ),
    "unlinked_on_tape": later("the tape does not record from which forward node it derives"),
    "before_pass": later("created before the backward pass, not by a node of the tape"),
    "outside_pass": later("the program ran it itself, on what a backward pass had left"),
    "merged": later(
        "the compiler merged several nodes into this one; their forward nodes are not recorded"
    ),
    "removed": later("the compiler removed the forward node {detail}, whose value is not needed"),
    "unwritten": later("the operator does not write it, or uses it as workspace"),
    "unwritten_outputs": later(
        "the kernel does not write outputs {detail}, or uses them as workspace"
    ),
    "not_in_ir": later("the IR does not contain its elements"),
    "inside_subgraph": later("the values of a subgraph are those of the nodes inside it"),
    "branch_not_run": later("this branch did not run for this input: the other branch was taken"),
    "ambiguous_kernel": later("its kernels cannot be distinguished from those of a similar node"),
    "fused_kernel": later(
        "the backend fuses this node into another kernel, and only that kernel's value is dumped"
    ),
    "unnamed_arguments": later("the framework does not record their names"),
    "long_argument": later("{detail}: sequences of more numbers than are recorded"),
    "computed_argument": later("{detail}: computed by the net as it runs, and not observed"),
}
"""The reasons why something of a node is missing."""

NOTES: dict[GraphNote, str] = {
    "whole_forward": later(
        "captured with value_and_grad, which keeps the whole forward (ms.grad drops what only the"
        " outputs need); the gradients are the same"
    ),
    "op_by_op": later(
        "values are those of each operation run on its own; the answer is the compiled program's, which may"
        " round otherwise"
    ),
}
"""The notes on graphs."""


STAGES = {
    passes.TYPED.stage: later("1 forward program"),
    passes.EXPANDED.stage: later("2 with its gradient"),
    passes.FINAL.stage: later("3 as it is run"),
    "jaxpr": later("1 as it is derived"),
    "hlo": later("2 as it is compiled"),
}
"""The captured stages of compilers that show several, each compiler's in their order."""


def in_order_of_stages(graphs: Iterable[GradGraph]) -> list[GradGraph]:
    """One engine's graphs in the order in which its compiler makes them."""
    order = list(STAGES)
    return sorted(graphs, key=lambda it: order.index(it.stage) if it.stage in order else -1)


def why_missing(absence: Absence) -> str:
    """Why something of a node is missing."""
    detail = absence.detail
    if absence.error:
        lines = message(absence.error).splitlines()
        detail = lines[0] if lines else absence.error.type
    return _(ABSENCES[absence.kind]).format(detail=detail)


def what_is_missing(name: str) -> str:
    """What a node lacks, by the key of the absence: "no source", "missing arguments"."""
    if name == "arguments":
        # Those that are known may be there all the same.
        return _("missing arguments")
    return _("no {what}").format(what=_(name))


def note(kind: GraphNote) -> str:
    """A note on a graph."""
    return _(NOTES[kind])


def why_no_graph(ungraphed: Ungraphed) -> str:
    """Why an engine has no graph."""
    if ungraphed.while_recorded:
        text = _("the call raises only while its graph is recorded: {error}")
        return text.format(error=typed(ungraphed.error))
    return message(ungraphed.error)
