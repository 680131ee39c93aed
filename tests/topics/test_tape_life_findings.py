"""What is said of the tape's life, where figures are missing and where they are known."""

from typing import Any

import pytest

from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.question import Question, Target
from explorer.topics.studies import Telling
from explorer.topics.tape_life.figures import Step, correctness, refusal, unwrapped
from explorer.topics.tape_life.findings import bytes_over_time
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    CALLED_AGAIN,
    COMPILED,
    LIFETIME,
    TOPIC,
)
from tests.support.tellings import telling_text

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
