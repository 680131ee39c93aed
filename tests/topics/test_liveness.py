"""What a tape and a graph keep for the backward: saved tensors watched, and liveness analysed."""

import pytest

from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.failures import Failure
from explorer.model.graph import Edge, GradGraph, Node, NodeKind, Output, Phase
from explorer.model.results import Captured, Result
from explorer.topics.tape_life.liveness import (
    Watch,
    captured_graph,
    first_output_case,
    savers,
    steps,
    unpack,
)


def test_a_watch_counts_a_storage_once_and_forgets_what_died() -> None:
    watch = Watch({7})
    boxes = [watch.pack(None, 3, 12), watch.pack(None, 3, 12), watch.pack(None, 7, 4)]
    assert watch.kept() == {"tensors": 3, "bytes": 12, "of inputs and parameters": 4}
    boxes.pop()
    assert watch.kept() == {"tensors": 2, "bytes": 12, "of inputs and parameters": 0}
    boxes.clear()
    assert watch.kept() == {"tensors": 0, "bytes": 0, "of inputs and parameters": 0}


def test_a_saved_tensor_counts_for_the_operator_that_ran_last() -> None:
    watch = Watch(set())
    watch.last = "Exp"
    box = watch.pack("tensor", 1, 4)
    assert watch.savers == {"Exp": 1}
    assert unpack(box) == "tensor"


def node(number: int, op: str, phase: Phase, kind: NodeKind = "op", body: str = "") -> Node:
    """A node that yields a float32 tensor of 24 bytes."""
    output = Output((2, 3), "float32")
    return Node(
        id=f"n{number}", op=op, kind=kind, phase=phase, order=number, outputs=(output,), body=body
    )


def graph(*nodes: Node, edges: tuple[Edge, ...] = ()) -> GradGraph:
    return GradGraph(engine="torch-graph", case="", stage="joint", nodes=nodes, edges=edges)


def test_a_forward_value_is_kept_from_its_making_to_its_last_reader_also_through_a_view() -> None:
    joint = graph(
        node(0, "parameter", "forward", "parameter"),
        node(1, "aten.exp.default", "forward"),
        node(2, "aten.t.default", "forward"),
        node(3, "aten.mul.Tensor", "backward"),
        node(4, "aten.mm.default", "backward"),
        edges=(
            Edge("n0", "n1"),
            Edge("n1", "n2"),
            Edge("n1", "n3", kind="saved"),
            Edge("n2", "n4", kind="saved"),
            Edge("n0", "n3", kind="saved"),
        ),
    )
    kept = [(step["op"], step["bytes"], step["of inputs and parameters"]) for step in steps(joint)]
    assert kept == [
        ("aten.exp.default", 24, 24),
        ("aten.t.default", 24, 24),
        ("aten.mul.Tensor", 24, 0),
        ("aten.mm.default", 0, 0),
    ]
    assert savers(joint) == {"aten.exp.default": 1, "parameter": 1}


def test_what_the_graph_only_returns_is_not_kept() -> None:
    joint = graph(
        node(0, "aten.exp.default", "forward"),
        node(1, "output", "backward", "output"),
        edges=(Edge("n0", "n1", kind="saved"),),
    )
    assert savers(joint) == {}


def test_a_graph_of_closures_is_refused_since_what_they_keep_cannot_be_read_off_it() -> None:
    captured = Captured((graph(node(0, "Switch", "forward", body="loop")),), Result(outcome="ok"))
    with pytest.raises(ExplorerError, match="closures"):
        captured_graph(captured)


def test_a_capture_that_failed_says_why() -> None:
    failed = Result(outcome="raised", error=Failure("RuntimeError", "no kernel"))
    with pytest.raises(ExplorerError, match="RuntimeError: no kernel"):
        captured_graph(Captured((), failed))


def test_the_first_output_alone_is_differentiated_with_respect_to_weights_or_the_first_input() -> (
    None
):
    assert first_output_case(has_weights=True, several_outputs=True) == GradCase(
        "value_and_grad", None, "all", has_aux=True
    )
    assert first_output_case(has_weights=False, several_outputs=False) == GradCase(
        "value_and_grad", 0, None
    )


INTEGERS = ("bool", "int8", "uint8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_an_element_costs_the_bits_that_its_dtype_names(dtype: str) -> None:
    bits = "".join(filter(str.isdecimal, dtype))
    item = int(bits) // 8 if bits else 1
    made = Node(
        id="n0",
        op="aten.exp.default",
        kind="op",
        phase="forward",
        order=0,
        outputs=(Output((2, 3), dtype),),
    )
    edges = (Edge("n0", "n1", kind="saved"),)
    joint = graph(made, node(1, "aten.mul.Tensor", "backward"), edges=edges)
    assert steps(joint)[0]["bytes"] == 6 * item
