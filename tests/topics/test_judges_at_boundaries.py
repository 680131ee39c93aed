"""Judges on worlds that lie just on either side of what they ask: figures made by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import wave
from explorer.topics.higher_order.claims import BY_SHAPE
from explorer.topics.higher_order.questions import NODES_OF_WAVE
from explorer.topics.higher_order.questions import TOPIC as HIGHER_ORDER
from explorer.topics.operators.questions import BATCH_NORM_STATES
from explorer.topics.operators.questions import TOPIC as OPERATORS
from explorer.topics.question import Question
from tests.support.topics import ruled

Figures = dict[str, Any]


def evidence(answers: dict[Question, dict[str, Figures]]) -> Evidence:
    """What a judge sees where parties answered questions so."""
    measured = {}
    for question, by_party in answers.items():
        for party, figures in by_party.items():
            name = question.measurement_name(party)
            measured[name] = Measured(outcome="ok", figures=figures)
    return Evidence(measured)


# Row 26: each order has more operators than the one before


def nested(sizes: Sequence[int], error: float = 0.0) -> Figures:
    """The wave's nested gradients at orders 1 to 4, with graphs of some sizes."""
    values = {}
    for order in range(1, 5):
        values[str(order)] = {"elements": [wave.derivative(order) * (1 + error)]}
    by_order = {str(order): {"nodes": size} for order, size in enumerate(sizes, start=1)}
    return {"by order": by_order, "values": values}


def second_derivative(returned: float) -> Figures:
    """One operator's second derivative of 2 as it was returned, and how the first changes."""
    return {"sum": {"dtype": "float64", "change of first": [2.0], "second": [returned]}}


def verdict_on_nesting(graph: Figures, tape: Figures, second: float = 2.0) -> str:
    parties = dict.fromkeys(NODES_OF_WAVE.asks, tape) | {"mindspore-graph": graph}
    right = dict.fromkeys(BY_SHAPE.asks, second_derivative(2.0))
    world = {
        NODES_OF_WAVE: parties,
        BY_SHAPE: right | {"mindspore-tape": second_derivative(second)},
    }
    claim = HIGHER_ORDER.claims[26]
    return claim.judge(evidence(world), claim.expects).verdict or ""


GROWS, STANDS, SHRINKS = [9, 24, 56, 57], [9, 24, 56, 56], [9, 24, 56, 55]


@pytest.mark.row(26)
@pytest.mark.parametrize(
    ("graph", "tape", "verdict"),
    [
        (GROWS, GROWS, "holds"),
        (STANDS, GROWS, "depends_on_style"),
        (GROWS, STANDS, "depends_on_style"),
        (STANDS, STANDS, "does_not_hold"),
        (SHRINKS, SHRINKS, "does_not_hold"),
    ],
)
def test_a_graph_that_is_no_larger_has_not_grown(
    graph: list[int], tape: list[int], verdict: str
) -> None:
    assert verdict_on_nesting(nested(graph), nested(tape)) == verdict


@pytest.mark.row(26)
@pytest.mark.parametrize(("error", "verdict"), [(0.0, "holds"), (1e-2, "does_not_hold")])
def test_a_derivative_that_is_off_is_not_right(error: float, verdict: str) -> None:
    both = nested(GROWS, error)
    assert verdict_on_nesting(both, both) == verdict


def test_a_term_that_one_style_loses_decides_by_style() -> None:
    assert verdict_on_nesting(nested(GROWS), nested(GROWS), second=0.0) == "depends_on_style"


# Row 42: a state's counterpart has the same outputs and gradients

STATES = ("training", "inference")


def state(output: float = 1.0, gradient: float = 0.5) -> Figures:
    """A batch norm with one output, three gradients, and running statistics that move."""
    return {
        "output": [[output]],
        "running": [[0.1], [0.9]],
        "gradients": [[[gradient]], [0.25], [2.0]],
    }


def batch_norms(settings: Sequence[str]) -> Figures:
    return {f"{setting}, {mode}": state() for setting in settings for mode in STATES}


def verdict_on_states(change: Callable[[dict[str, Figures]], None]) -> str:
    mindspore = [f"use_batch_statistics={value}" for value in (None, True, False)]
    torch = [f"track_running_stats={value}" for value in (True, False)]
    world = {
        "mindspore-graph": batch_norms(mindspore),
        "mindspore-tape": batch_norms(mindspore),
        "torch-tape": batch_norms(torch),
        "torch-graph": batch_norms(torch),
        "keras": batch_norms(["trainable=True"]),
    }
    change(world)
    figures = {(BATCH_NORM_STATES, party): states for party, states in world.items()}
    return ruled(OPERATORS.claims[42], figures).verdict


TRAINING = "use_batch_statistics=None, training"


def set_state(engines: Sequence[str], new: Figures) -> Callable[[dict[str, Figures]], None]:
    def change(world: dict[str, Figures]) -> None:
        for engine in engines:
            world[engine][TRAINING] = new

    return change


GRAPH, TAPE = "mindspore-graph", "mindspore-tape"
REFUSED = {"raised": "ValueError", "message": "no"}


@pytest.mark.row(42)
@pytest.mark.parametrize(
    ("engines", "new", "verdict"),
    [
        ([GRAPH], state(), "holds"),
        ([GRAPH], state(output=1 + 0.9e-5), "holds"),
        ([GRAPH], state(gradient=0.5 + 0.9e-5), "holds"),
        ([GRAPH], state(gradient=0.5 + 1.1e-5), "depends_on_style"),
        ([TAPE], state(gradient=0.6), "depends_on_style"),
        ([TAPE], state(output=1 + 1.1e-5), "depends_on_style"),
        ([GRAPH, TAPE], state(gradient=0.6), "does_not_hold"),
        ([GRAPH, TAPE], state(output=1.1), "does_not_hold"),
        ([TAPE], REFUSED, "depends_on_style"),
    ],
)
def test_outputs_and_gradients_must_both_be_the_counterpart_s(
    engines: list[str], new: Figures, verdict: str
) -> None:
    assert verdict_on_states(set_state(engines, new)) == verdict


def test_any_of_the_three_gradients_decides() -> None:
    for place, gradient in enumerate(([[0.6]], [0.26], [2.1])):
        new = state()
        new["gradients"][place] = gradient
        assert verdict_on_states(set_state([GRAPH], new)) == "depends_on_style"


def test_running_statistics_may_differ() -> None:
    new = state() | {"running": np.zeros((2, 1)).tolist()}
    assert verdict_on_states(set_state([GRAPH, TAPE], new)) == "holds"
