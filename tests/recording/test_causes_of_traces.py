"""Why recorded steps part: their ops are computed again from what the traces have, in either framework."""

from typing import Any

import pytest

from explorer.api.results import Recorded
from explorer.exploration.recordings import report_on
from explorer.model.alignment import Alignment, Untried
from explorer.model.errors import MissingFrameworkError
from explorer.model.failures import Loss
from explorer.model.trace import Trace
from explorer.words.causes import attempts
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.recording.conftest import Steps

pytestmark = pytest.mark.torch


@pytest.fixture
def in_torch(first_steps: Steps) -> dict[str, Trace]:
    return {name: step.trace for name, step in first_steps("torch").items()}


def _aligned(traces: dict[str, Trace], workers: Workers | None) -> Alignment:
    (alignment,) = report_on(traces, workers).alignments
    return alignment


def _two(traces: dict[str, Trace], one: str, other: str) -> dict[str, Trace]:
    return {one: traces[one], other: traces[other]}


def _arguments(alignment: Alignment) -> dict[str, Any]:
    """What the first divergence's cause has in the place of an op's own arguments."""
    cause = alignment.seen[0].cause
    assert cause is not None
    assert cause.proven == "computed_again"
    assert cause.form == "arguments"
    return dict(cause.arguments)


@pytest.mark.parametrize(
    ("other", "arguments"), [("eps", {"eps": 0.01}), ("tanh", {"approximate": "tanh"})]
)
def test_two_steps_of_pytorch_part_by_an_argument(
    in_torch: dict[str, Trace], workers: Workers, other: str, arguments: dict[str, Any]
) -> None:
    alignment = _aligned(_two(in_torch, "torch", f"torch_{other}"), workers)
    assert _arguments(alignment) == arguments
    assert alignment.untried == ""


@pytest.mark.mindspore
@pytest.mark.parametrize(
    ("one", "arguments"), [("value_and_grad", {"epsilon": 1e-3}), ("torch", {"eps": 1e-3})]
)
def test_a_step_of_mindspore_parts_from_one_of_either_framework_by_an_argument(
    of_both: dict[str, Recorded], workers: Workers, one: str, arguments: dict[str, Any]
) -> None:
    traces = {name: of_both[name].trace for name in (one, "large_epsilon")}
    alignment = _aligned(traces, workers)
    assert _arguments(alignment) == pytest.approx(arguments)
    assert alignment.untried == ""


def test_an_op_whose_values_were_not_kept_is_not_tried(
    in_torch: dict[str, Trace], workers: Workers
) -> None:
    alignment = _aligned(_two(in_torch, "torch_in_figures", "torch_eps_in_figures"), workers)
    assert alignment.seen[0].cause is None
    assert alignment.untried == "values"
    assert "explorer.record(…, values=N) keeps those" in attempts(alignment)


class Without(Workers):
    """Workers that have no framework, or that end."""

    def __init__(self, answer: Exception | Lost) -> None:
        super().__init__()
        self._answer = answer

    def call(self, *_: Any) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "untried", "said"),
    [
        (None, "trace", "nothing was computed again"),
        (MissingFrameworkError("torch is missing"), "framework", "is not found here"),
        (Lost("crashed", Loss(kind="died")), "lost", "the process that computed ops again ended"),
    ],
)
def test_where_nothing_can_be_tried_it_says_why(
    in_torch: dict[str, Trace], answer: Exception | Lost | None, untried: Untried, said: str
) -> None:
    workers = Without(answer) if answer else None
    alignment = _aligned(_two(in_torch, "torch", "torch_eps"), workers)
    assert alignment.untried == untried
    assert said in attempts(alignment)
