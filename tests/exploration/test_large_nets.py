"""Large nets: what they demand is said first, the engines' answers come early, one framework's noise does."""

import math

import numpy as np
import pytest

from explorer.exploration import large_nets as demands
from explorer.exploration.explore import explore
from explorer.exploration.jobs import JobKey, Jobs
from explorer.exploration.large_nets import Demand, FirstAnswer, demand_of, first_answer
from explorer.exploration.options import Callbacks
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.report import Report
from explorer.model.requests import NetRequest
from explorer.model.results import Result
from explorer.scenario.common_start import Nets
from explorer.scenario.find import SHIPPED, names
from explorer.scenario.load import load
from explorer.words.demand import demand_text, first_answer_text
from explorer.workers.workers import REQUEST_SECONDS, Workers
from tests.support.results import dx

CASE = GradCase("grad", 0, "all")
ENGINES = ("mindspore-graph", "mindspore-tape", "torch-tape", "torch-graph")


def nets(elements: int, engines: tuple[str, ...] = ENGINES) -> Nets:
    start = {"w": pack(np.zeros(elements, np.float32))}
    requests = {name: NetRequest(scenario="net.py", engine=name, device="cpu") for name in engines}
    return Nets(requests, start, ("w",), 1, False, {})


# Demand


@pytest.mark.parametrize(
    ("elements", "trains", "is_large", "is_noise_of_one"),
    [
        (demands.LARGE_NET, False, False, False),
        (demands.LARGE_NET + 1, False, True, False),
        (demands.ONE_NOISE, False, True, False),
        (demands.ONE_NOISE + 1, False, True, True),
        (demands.ONE_NOISE + 1, True, True, False),
    ],
)
def test_what_is_left_out_depends_on_the_number_of_parameters(
    elements: int, trains: bool, is_large: bool, is_noise_of_one: bool
) -> None:
    demand = demand_of(nets(elements), trains, 2.0)
    assert (demand.elements, demand.is_large) == (elements, is_large)
    assert demand.is_noise_of_one is is_noise_of_one


def test_a_demand_grows_with_the_parameters_and_with_the_first_look() -> None:
    small, large = demand_of(nets(1000), False, 2.0), demand_of(nets(10_000), False, 2.0)
    assert large.bytes - small.bytes == demands.COPIES * 4 * 9000
    assert demand_of(nets(1000), False, 4.0).seconds == 2 * small.seconds


def test_a_demand_is_said_with_what_is_left_out() -> None:
    text = demand_text("net", Demand(23_520_842, 20.0, 3_300_000_000, is_noise_of_one=True))
    assert text == (
        "net has 23.5 million parameters: about 3 minutes and 3.3 GB of memory; rounding noise is"
        " measured in one framework only"
    )
    assert demand_text("net", Demand(6_000_000, 1.7, 10**9)).endswith(
        "12 seconds and 1.0 GB of memory"
    )


def test_a_large_net_gets_more_time_for_a_request_unless_a_limit_was_given() -> None:
    large = Demand(demands.LARGE_NET + 1, 20.0, 0)
    assert large.request_seconds(REQUEST_SECONDS) == 20.0 * demands.PATIENCE
    assert large.request_seconds(30.0) == 30.0
    quick = Demand(demands.LARGE_NET + 1, 1.0, 0)
    assert quick.request_seconds(REQUEST_SECONDS) == REQUEST_SECONDS
    small = Demand(demands.LARGE_NET, 20.0, 0)
    assert small.request_seconds(REQUEST_SECONDS) == REQUEST_SECONDS


# Noise of one framework


@pytest.mark.parametrize(
    ("engines", "tape"), [(ENGINES, "torch-tape"), (ENGINES[:2], "mindspore-tape")]
)
def test_noise_of_one_framework_is_that_of_pytorchs_tape_or_else_of_mindspores(
    engines: tuple[str, ...], tape: str
) -> None:
    jobs = Jobs(nets=nets(4, engines), main=CASE, most=CASE, of_one=True)
    (results,), (levels,) = jobs.noise([CASE]), jobs.levels()
    assert (results.key.what, results.key.engine) == ("noise", tape)
    assert levels.key == JobKey("levels", tape)
    assert levels.request.net.engine == tape  # type: ignore[attr-defined]


def test_otherwise_each_framework_is_measured() -> None:
    jobs = Jobs(nets=nets(4), main=CASE, most=CASE)
    assert (len(jobs.noise([CASE])), len(jobs.levels())) == (2, 3)


# The first answer


ONE = np.array([1.0, -4.0], np.float32)


def test_the_first_answer_is_the_greatest_difference_as_a_share_of_the_greatest_element() -> None:
    other = ONE + np.array([0.0, 1.0], np.float32)
    answer = first_answer({"a": dx(ONE), "b": dx(ONE), "c": dx(other)})
    assert answer == FirstAnswer(("a", "b", "c"), 0.25, "dx", ("a", "c"))
    text = first_answer_text(answer)
    assert "2.5e-01" in text
    assert "(dx, a and c)" in text


def test_equal_answers_are_equal_bit_for_bit_also_where_they_are_nan() -> None:
    nan = np.array([np.nan, 1.0], np.float32)
    assert first_answer({"a": dx(nan), "b": dx(nan)}).apart is None
    answer = first_answer({"torch-tape": dx(ONE), "torch-graph": dx(ONE)})
    assert "bit for bit" in first_answer_text(answer)


@pytest.mark.parametrize(
    "other",
    [
        np.array([np.nan, -4.0], np.float32),
        np.array([np.inf, -4.0], np.float32),
        np.array([1.0, -4.0, 0.0], np.float32),
    ],
)
def test_numbers_that_are_not_finite_and_other_shapes_differ_by_no_share(other: AnyArray) -> None:
    answer = first_answer({"a": dx(ONE), "b": dx(other)})
    assert math.isinf(answer.greatest)
    assert first_answer_text(answer) == "first answer: a and b differ in dx"


def test_complex_gradients_differ_by_their_imaginary_parts() -> None:
    one, other = np.array([1 + 2j], np.complex64), np.array([1 - 2j], np.complex64)
    assert first_answer({"a": dx(one), "b": dx(other)}).greatest == 2.0


def test_engines_without_a_result_are_not_named() -> None:
    answer = first_answer({"a": dx(ONE), "b": Result(outcome="raised")})
    assert answer.engines == ("a",)
    assert first_answer({"b": Result(outcome="raised")}).engines == ()
    assert "no engine" in first_answer_text(FirstAnswer(()))


# A run


@pytest.mark.mindspore
@pytest.mark.torch
def test_a_large_net_is_announced_answered_early_and_judged_as_a_small_one(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = load(names(SHIPPED)["dense_mse"])
    heard: list[str] = []

    def run() -> Report:
        callbacks = Callbacks(
            before=lambda _demand: heard.append("demand"),
            early=lambda _answer: heard.append("answer"),
            first=lambda _report: heard.append("report"),
        )
        return explore(scenario, workers, selection="main", callbacks=callbacks)

    small = run()
    assert heard == ["report"]
    monkeypatch.setattr(demands, "LARGE_NET", -1)
    monkeypatch.setattr(demands, "ONE_NOISE", -1)
    heard.clear()
    large = run()
    assert heard == ["demand", "answer", "report"]
    for one, other in zip(small.cases, large.cases, strict=True):
        assert (one.verdict, one.expected) == (other.verdict, other.expected)
    assert [pair.divergence for pair in small.alignments] == [
        pair.divergence for pair in large.alignments
    ]
    measured = []
    for node in next(graph for graph in large.graphs if graph.stage == "tape").nodes:
        measured += [output.noise for output in node.outputs if output.noise is not None]
    assert measured
