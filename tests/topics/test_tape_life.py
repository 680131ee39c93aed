"""The life of the tape: as recorded, what is said where figures are known, and liveness analysed."""

from typing import Any

import msgspec
import pytest

from explorer.model.cases import GradCase
from explorer.model.errors import ExplorerError
from explorer.model.failures import Failure
from explorer.model.graph import Edge, GradGraph, Node, NodeKind, Output, Phase
from explorer.model.measurement import Measured
from explorer.model.results import Captured, Result
from explorer.scenario.find import find
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import Question, Target
from explorer.topics.studies import Telling
from explorer.topics.tape_life.figures import Life, Step, correctness, refusal, unwrapped
from explorer.topics.tape_life.findings import bytes_over_time
from explorer.topics.tape_life.liveness import (
    Watch,
    captured_graph,
    first_output_case,
    savers,
    steps,
    unpack,
)
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    CALLED_AGAIN,
    COMPILED,
    FORWARD_ALONE,
    LIFETIME,
    TOPIC,
)
from explorer.workers.workers import Workers
from tests.support.tellings import Answers, telling_text, told
from tests.support.topics import recorded_study


def figures_of(question: Question, engine: str) -> dict[str, Any]:
    """A copy of what an engine answered to a question."""
    return dict(recorded_study("tape-life")[question.measurement_name(engine)].figures)


def test_the_joint_graph_keeps_what_pytorchs_tape_keeps() -> None:
    # Of the hidden layer [4, 5] the result of relu, of the outputs [4, 3] log-softmax, the weight's
    # sum, and the labels, which are int64.
    expected = 4 * (4 * 5 + 4 * 3 + 1) + 8 * 4
    for engine in ("torch-tape", "torch-graph"):
        assert max(step["bytes"] for step in figures_of(LIFETIME, engine)["steps"]) == expected
    between = figures_of(LIFETIME, "torch-graph")["between"]
    assert between["least memory"]["bytes"] == expected
    assert between["as written"]["bytes"] >= expected


@pytest.mark.whole
@pytest.mark.mindspore
def test_what_a_backward_saves_is_nothing_that_its_forward_left(workers: Workers) -> None:
    # The backward of a checkpoint computes its forward again, and saves as it does so.
    asked = [FORWARD_ALONE.on("checkpointing"), LIFETIME.on("checkpointing")]
    figures: dict[str, Measured] = {}
    for question in asked:
        (measurement,) = question.by("mindspore-tape").measurements(Target())
        figures |= measure([measurement], workers)
    alone, life = (outcome.figures for outcome in figures.values())
    saved_in_all = sum(life["savers"].values())
    saved = alone["inside a gradient"]["saved"]
    assert saved == msgspec.convert(life, Life).after_forward.tensors
    assert 0 < saved < saved_in_all


@pytest.mark.whole
@pytest.mark.torch
def test_a_net_that_cannot_be_compiled_spoils_no_later_measurement(workers: Workers) -> None:
    def measured(question: Question, scenario: str) -> Measured:
        target = Target(str(find(scenario)))
        (outcome,) = measure(question.measurements(target), workers).values()
        return outcome

    # It differentiates inside, where torch.func forbids the hooks that the compiler is watched by.
    failed = measured(COMPILED, "physics_informed")
    assert failed.error is not None
    assert "saved tensor hooks" in failed.error.message
    # And a net without weights is compiled like any other.
    for question in (LIFETIME.by("torch-tape"), COMPILED):
        assert measured(question, "polynomial").error is None


REFUSED = {"raised": "RuntimeError", "message": "no. Hint"}


@pytest.mark.parametrize(
    ("figure", "outcome"),
    [
        ([0.0, 2.0, 4.0], "right"),
        ([0.0, 2.0, 4.00003], "right"),
        ([0.0, 2.0, 4.00005], "wrong"),
        ([0.0, 2.0], "wrong"),
        (REFUSED, "raises"),
    ],
)
def test_a_derivative_is_judged_by_its_closed_form(figure: object, outcome: str) -> None:
    assert correctness(figure, [0, 2, 4]) == outcome


def test_a_refusal_is_the_type_and_the_beginning_of_why() -> None:
    assert refusal(REFUSED) == "RuntimeError: no"
    assert len(refusal({"raised": "RuntimeError", "message": "x" * 500})) < 120


def test_a_gradient_is_taken_out_of_the_lists_around_it() -> None:
    assert unwrapped([[[2.0, 4.0]]]) == [2.0, 4.0]
    assert unwrapped([[3.0]]) == 3.0


def test_forward_and_backward_have_length_one_whatever_their_operators() -> None:
    def step(phase: str, kept: int) -> Step:
        return Step(phase=phase, tensors=1, bytes=kept, own=0)

    moments, kept = bytes_over_time(
        [step("forward", 0), step("forward", 8), *[step("backward", 8)] * 3, step("backward", 0)]
    )
    assert moments == (0.0, 1.0, 2.0)
    assert kept == (0.0, 8.0, 0.0)


def life(*kept: int) -> dict[str, Any]:
    """What is kept after each operator: the first half of them are of the forward."""
    steps = []
    for number, size in enumerate(kept):
        phase = "forward" if number < len(kept) / 2 else "backward"
        step = {"phase": phase, "op": "", "tensors": int(size > 0), "bytes": size}
        steps.append({**step, "of inputs and parameters": 4})
    return {"steps": steps, "savers": {}}


def told_of(tape: tuple[int, ...], graph: tuple[int, ...]) -> Telling:
    """What is told of what PyTorch's tape and its graph keep."""
    lives = {"torch-tape": life(*tape), "torch-graph": life(*graph)}
    return told(TOPIC, {(LIFETIME, name): kept for name, kept in lives.items()}, "/nets/mine.py")


def test_who_keeps_least_stands_first_and_what_stays_is_said() -> None:
    telling = told_of((0, 28728, 28728, 0), (0, 192, 192, 8))
    assert telling.findings == (
        "mine keeps for its backward: 192 bytes, 1 tensor (PyTorch graph); 28,728 bytes, 1 tensor"
        " (PyTorch tape). Inputs and parameters are among the tensors, and not in the bytes.",
        "Of these it keeps, once the gradients are there and no output is held: nothing (PyTorch"
        " tape); 1 tensor (PyTorch graph).",
    )


def test_lines_far_apart_are_drawn_on_a_logarithmic_axis() -> None:
    chart = told_of((0, 201, 201, 0), (0, 10, 10, 0)).charts[0]
    assert chart.log == ("y",)
    tape = chart.series[0]
    # It begins where something is kept, and ends where nothing is kept any more.
    assert tape.x == (0.0, 1.0, 2.0, 2.0)
    assert tape.y == (None, 201.0, 201.0, None)
    near = told_of((0, 200, 200, 0), (0, 10, 10, 0)).charts[0]
    assert near.log == ()
    assert near.series[0].y == (0.0, 200.0, 0.0)
    nothing = told_of((0, 0), (0, 10, 10, 0)).charts[0]
    assert nothing.log == ()


def test_gradients_that_differ_from_call_to_call_are_listed() -> None:
    zeroed = {"zero_grad(set_to_none=False)": [[0.0]], "zero_grad()": None}
    answers: Answers = {
        (ACCUMULATION, "torch-tape"): {".grad after each backward": [[[1.0]], [[2.0]]], **zeroed},
        (CALLED_AGAIN, "mindspore-tape"): {"gradients": [[[1.0]], [[1.0]]]},
        (CALLED_AGAIN, "torch-graph"): {"gradients": [[[1.0]], [[2.0]]]},
    }
    assert told(TOPIC, answers).findings == (
        "In general: PyTorch's .grad is 1 after one backward and 2 after two; gradients"
        " that are returned are 1 every time (MindSpore tape); 1, then 2 (PyTorch graph).",
    )


def test_a_long_message_is_shortened_and_stands_once() -> None:
    trace = "Attempted to wrap RNN\n  Explanation: Dynamo does not.\n" + "from user code\n" * 50
    lost = Measured(outcome="raised", error=Failure("Unsupported", trace))
    telling = telling_text(TOPIC, Evidence({COMPILED.measurement_name("torch-graph"): lost}))
    notes = " ".join(table.note for table in telling.tables)
    assert notes.count("Attempted to wrap RNN") == 1
    assert "from user code" not in notes


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


def node(
    number: int,
    op: str,
    phase: Phase,
    kind: NodeKind = "op",
    body: str = "",
    dtype: str = "float32",
) -> Node:
    """A node that yields six numbers: of float32, 24 bytes."""
    output = Output((2, 3), dtype)
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
    made = node(0, "aten.exp.default", "forward", dtype=dtype)
    edges = (Edge("n0", "n1", kind="saved"),)
    joint = graph(made, node(1, "aten.mul.Tensor", "backward"), edges=edges)
    assert steps(joint)[0]["bytes"] == 6 * item
