"""What is said of the tape's life, where figures are missing and where they are known."""

from typing import Any

import pytest

from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.question import Question, Target
from explorer.topics.studies import Telling
from explorer.topics.tape_life.figures import TRUE_IN_PLACE, Step, correctness, refusal, unwrapped
from explorer.topics.tape_life.findings import bytes_over_time
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    CALLED_AGAIN,
    COMPILED,
    FORWARD_ALONE,
    FREEING,
    IN_PLACE,
    LIFETIME,
    TOPIC,
)
from tests.support.tellings import rows_by_first, table_of, telling_text

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


def told(question: Question, **by_engine: dict[str, Any]) -> Telling:
    """What is told where engines answered one question; an engine's hyphen is an underscore."""
    measured = {}
    for engine, figures in by_engine.items():
        name = question.measurement_name(engine.replace("_", "-"))
        measured[name] = Measured(outcome="ok", figures=figures)
    return telling_text(TOPIC, Evidence(measured, Target("/nets/mine.py")))


def test_who_keeps_least_stands_first_and_what_stays_is_said() -> None:
    telling = told(LIFETIME, torch_tape=life(0, 28728, 28728, 0), torch_graph=life(0, 192, 192, 8))
    assert telling.findings == (
        "mine keeps for its backward: 192 bytes, 1 tensor (PyTorch graph); 28,728 bytes, 1 tensor"
        " (PyTorch tape). Inputs and parameters are among the tensors, and not in the bytes.",
        "Of these it keeps, once the gradients are there and no output is held: nothing (PyTorch"
        " tape); 1 tensor (PyTorch graph).",
    )


def test_lines_far_apart_are_drawn_on_a_logarithmic_axis() -> None:
    chart = told(LIFETIME, torch_tape=life(0, 201, 201, 0), torch_graph=life(0, 10, 10, 0)).charts[
        0
    ]
    assert chart.log == ("y",)
    tape = chart.series[0]
    # It begins where something is kept, and ends where nothing is kept any more.
    assert tape.x == (0.0, 1.0, 2.0, 2.0)
    assert tape.y == (None, 201.0, 201.0, None)
    near = told(LIFETIME, torch_tape=life(0, 200, 200, 0), torch_graph=life(0, 10, 10, 0)).charts[0]
    assert near.log == ()
    assert near.series[0].y == (0.0, 200.0, 0.0)
    nothing = told(LIFETIME, torch_tape=life(0, 0), torch_graph=life(0, 10, 10, 0)).charts[0]
    assert nothing.log == ()


def alive(nodes: int, tensors: int) -> dict[str, int]:
    """What a tape holds at a moment."""
    return {"nodes": nodes, "tensors": tensors, "bytes": 0, "of inputs and parameters": 0}


def test_what_pytorchs_tape_frees_is_counted() -> None:
    moments = {
        "after the forward": alive(7, 8),
        "after backward": alive(6, 1),
        "after backward(retain_graph=True)": alive(7, 5),
    }
    assert told(FREEING, torch_tape=moments).findings == (
        "PyTorch's tape frees 7 of 8 saved tensors in the backward, with retain_graph=True 3; 6 of"
        " 7 nodes stay while the outputs live.",
    )


def test_what_mindspores_tape_frees_is_counted() -> None:
    moments = {
        "inside the call, after the forward": alive(7, 8),
        "after the call, the loss kept": alive(5, 2),
        "after the call, the loss dropped": alive(0, 1),
    }
    (finding,) = told(FREEING, mindspore_tape=moments).findings
    assert "frees 6 of 8 saved tensors when" in finding
    assert "5 of 7 nodes and 2 tensors stay" in finding
    assert finding.endswith(" 1 tensor.")


def test_what_one_forward_leaves_is_told_by_how_it_is_called() -> None:
    figures = {
        "by itself": {"nodes": 0, "saved": 0},
        "inside a gradient": {"nodes": 5, "saved": 1},
        "compiled": {"nodes": 2, "saved": None},
        "without recording": REFUSED,
        "MindSpore has no_grad": True,
    }
    telling = told(FORWARD_ALONE, mindspore_tape=figures)
    (finding,) = telling.findings
    _, _, ways = finding.partition(": ")
    assert ways.rstrip(".").split("; ") == [
        "by itself: 0 nodes and 0 saved tensors",
        "inside a gradient: 5 nodes and 1 saved tensor",
        "compiled: 2 nodes, and what it saved cannot be observed",
        "without recording: RuntimeError: no",
    ]
    rows = rows_by_first(table_of(telling, "gradient afterwards"))
    assert rows["MindSpore, tape: a forward inside a gradient"] == (5, 1, None)
    assert rows["MindSpore, tape: a forward without recording"] == (None, None, "RuntimeError: no")


def test_a_wrong_gradient_after_a_change_in_place_stands_first() -> None:
    def of_exp(result: Any) -> dict[str, Any]:
        return {"result": result, "operand": TRUE_IN_PLACE["operand"]}

    right = of_exp(TRUE_IN_PLACE["result"])
    (finding,) = told(
        IN_PLACE,
        torch_tape=of_exp(REFUSED),
        mindspore_tape=right,
        # A wrong operand is another question's: the finding is about the result of exp.
        torch_graph={**right, "operand": [1.0, 1.0, 1.0]},
        mindspore_graph=of_exp([2.0, 3.0, 4.0]),
    ).findings
    _, _, outcomes = finding.rstrip(".").partition(" gives ")
    assert outcomes.split("; ") == [
        "a wrong gradient without a message in MindSpore graph ([2, 3, 4] for [1, 2.718, 7.389])",
        "an error in PyTorch tape (RuntimeError: no)",
        "the right gradient in MindSpore tape, PyTorch graph",
    ]


def test_gradients_that_differ_from_call_to_call_are_listed() -> None:
    steady = {"gradients": [[[1.0]], [[1.0]]]}
    moving = {"gradients": [[[1.0]], [[2.0]]]}
    zeroed = {"zero_grad(set_to_none=False)": [[0.0]], "zero_grad()": None}
    figures = {".grad after each backward": [[[1.0]], [[2.0]]], **zeroed}
    sums = Measured(outcome="ok", figures=figures)
    measured = {ACCUMULATION.measurement_name("torch-tape"): sums}
    for engine, returned in (("mindspore-tape", steady), ("torch-graph", moving)):
        name = CALLED_AGAIN.measurement_name(engine)
        measured[name] = Measured(outcome="ok", figures=returned)
    assert telling_text(TOPIC, Evidence(measured)).findings == (
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
