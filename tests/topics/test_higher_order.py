"""Higher orders as they are recorded, against closed forms; how they are asked; and what is told of them."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.errors import UsageError
from explorer.scenario.find import find
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import nested, transformations, wave
from explorer.topics.higher_order.findings_nested import (
    Standing,
    change_of_size,
    difference_of,
    outcomes_of,
)
from explorer.topics.higher_order.findings_nested import standing as standing_of
from explorer.topics.higher_order.operators import outcome
from explorer.topics.higher_order.questions import (
    NODES,
    NODES_OF_WAVE,
    ORDERS,
    ORDERS_OF_WAVE,
    REFERENCE,
    REFERENCE_OF_WAVE,
    SECOND_DERIVATIVES,
    TOPIC,
    WAVE,
)
from explorer.topics.higher_order.transformations import (
    BATCH,
    BY_BROADCAST,
    BY_ELEMENT,
    BY_MATRIX,
    BY_REDUCTION,
    COTANGENT,
    DIRECTION,
    MATRIX,
    NEAR,
    POINT,
    STANDINGS,
    standing,
)
from explorer.topics.measurements import measure
from explorer.topics.question import Question, Target
from explorer.topics.studies import target
from explorer.words.messages import text
from explorer.workers.workers import Workers
from tests.support.results import answer
from tests.support.standard_engines import ENGINES
from tests.support.tellings import telling_text, told, told_after
from tests.support.topics import put, recorded_study

WAVE_NAME = "the wave eˣ·sin x"


# The wave


def test_the_closed_form_is_the_derivative_of_the_one_before() -> None:
    step = 1e-6
    for order in nested.EVERY_ORDER:
        rise = wave.derivative(order - 1, 0.7 + step) - wave.derivative(order - 1, 0.7 - step)
        assert wave.derivative(order) == pytest.approx(rise / (2 * step), rel=1e-6)


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("engine", ENGINES)
def test_the_second_order_is_drawn_for_every_engine(workers: Workers, engine: str) -> None:
    measurements = NODES_OF_WAVE.by(engine).measurements(Target())
    (outcome,) = measure(measurements, workers).values()
    (graph,) = outcome.graphs
    assert graph.case == "grad(grad(net, 0), 0)"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_order_is_timed(engine: str) -> None:
    timings = recorded_study("higher-order")[ORDERS_OF_WAVE.measurement_name(engine)].timings
    assert len(timings) == 2 * len(nested.EVERY_ORDER)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("question", "key"),
    [(NODES_OF_WAVE, "by order"), pytest.param(ORDERS_OF_WAVE, "", marks=pytest.mark.whole)],
)
@pytest.mark.parametrize(
    ("party", "limit", "last", "why"),
    [
        ("torch-graph", {"largest": 20}, 2, {"order", "operators"}),
        ("torch-tape", {"longest": 0.0}, 1, {"order", "seconds"}),
    ],
)
def test_an_order_that_is_too_large_or_took_too_long_is_the_last_that_is_asked_for(
    question: Question,
    key: str,
    party: str,
    limit: dict[str, Any],
    last: int,
    why: set[str],
    workers: Workers,
) -> None:
    (measurement,) = question.by(party).measurements(Target())
    options = {**measurement.options, **limit, "timed": False}
    limited = msgspec.structs.replace(measurement, name="limited", options=options)
    figures = measure([limited], workers)["limited"].figures
    by_order = figures[key] if key else figures["by input"]["x"]
    for order, figure in by_order.items():
        assert nested.is_not_asked(figure) == (int(order) > last)
        if nested.is_not_asked(figure):
            assert figure[nested.NOT_ASKED].keys() == why
            assert figure[nested.NOT_ASKED]["order"] == last


# The scenario looked at


def test_the_study_asks_every_engine_about_the_wave_and_the_scenario() -> None:
    measurements = TOPIC.measurements(target(TOPIC, None, "cpu"))
    scenarios = {measurement.name: measurement.scenario for measurement in measurements}
    assert len(scenarios) == len(measurements)
    for engine in ENGINES:
        for question in (ORDERS_OF_WAVE, NODES_OF_WAVE):
            assert scenarios[question.measurement_name(engine)] == WAVE
        for question in (ORDERS, NODES):
            assert scenarios[question.measurement_name(engine)].endswith("polynomial.py")


def test_the_wave_is_asked_about_once_when_it_is_looked_at() -> None:
    names = [measurement.name for measurement in TOPIC.measurements(Target(WAVE))]
    assert ORDERS_OF_WAVE.measurement_name("torch-tape") in names
    assert REFERENCE_OF_WAVE.measurement_name("torch") in names
    for question in (ORDERS, REFERENCE, NODES):
        assert question.measurement_name(question.asks[0]) not in names


def test_the_wave_is_told_about_once_when_it_is_looked_at() -> None:
    evidence = Evidence(recorded_study("higher-order"), Target(WAVE))
    telling = telling_text(TOPIC, evidence)
    titles = [table.title for table in telling.tables]
    assert titles.count(f"Derivatives of {WAVE_NAME}, orders 1 to 5") == 1
    assert not any("dense_mse" in title for title in titles)


# Single operators


def test_a_second_derivative_is_what_the_change_of_the_first_says() -> None:
    refused = {"raised": "RuntimeError", "message": "no"}
    assert outcome({"change of first": [100.0], "second": [101.9]}) == "agrees"
    assert outcome({"change of first": [100.0], "second": [102.1]}) == "wrong"
    assert outcome({"change of first": refused, "second": [1.0]}) == "wrong"
    assert outcome({"change of first": [1.0], "second": refused}) == "raises"


# Jacobians, products and Hessians


def test_float64_agrees_with_closed_forms() -> None:
    sine, cosine = np.sin(POINT), np.cos(POINT)
    identity = np.eye(3)
    total = sine.sum()
    of_matrix = MATRIX * cosine
    # By hand: d/dxₖ of xᵢ·sin xⱼ is δᵢₖ·sin xⱼ + xᵢ·δⱼₖ·cos xⱼ.
    products = np.einsum("ik,j->ijk", identity, sine)
    products += np.einsum("i,jk->ijk", POINT, identity * cosine)
    jacobians = {
        BY_ELEMENT: np.diag(wave.derivative(1, POINT)),
        BY_MATRIX: of_matrix,
        BY_BROADCAST: products.reshape(9, 3),
        BY_REDUCTION: identity * total + np.outer(POINT, cosine),
    }
    bend = np.diag(-2 * sine * (MATRIX.T @ MATRIX @ sine))
    # Of Σxᵢ²·Σsin²xⱼ = p·q: p''q + p'q' + q'p' + pq''.
    p, q, p1, q1 = (POINT**2).sum(), (sine**2).sum(), 2 * POINT, np.sin(2 * POINT)
    mixed = np.outer(p1, q1) + np.outer(q1, p1)
    hessians = {
        BY_ELEMENT: np.diag(wave.derivative(2, POINT)),
        BY_MATRIX: 2 * of_matrix.T @ of_matrix + bend,
        BY_BROADCAST: 2 * q * identity + mixed + p * np.diag(2 * np.cos(2 * POINT)),
        BY_REDUCTION: 6 * total * np.outer(cosine, cosine) - 3 * total**2 * np.diag(sine),
    }
    assert jacobians.keys() == hessians.keys() == transformations.NETS.keys()
    for net, jacobian in jacobians.items():
        values = transformations.in_float64(net)
        cotangent = COTANGENT[: len(jacobian)]
        assert values["jacrev"] == pytest.approx(jacobian, rel=1e-12, abs=1e-12)
        assert values["vjp"] == pytest.approx(jacobian.T @ cotangent, rel=1e-12)
        assert values["jvp"] == pytest.approx(jacobian @ DIRECTION, rel=1e-12)
        assert values["Hessian"] == pytest.approx(hessians[net], rel=1e-7, abs=1e-7)
        times_vector = values["Hessian times vector, vjp of grad"]
        assert times_vector == pytest.approx(hessians[net] @ DIRECTION, rel=1e-7)
        # The first row of the batch is the point itself.
        assert BATCH[0].tolist() == POINT.tolist()
        sums = hessians[net].sum(axis=0)
        assert values["vmap of grad of grad"][0] == pytest.approx(sums, rel=1e-7)


def test_what_is_wrong_without_a_message_is_a_class_of_its_own() -> None:
    inside, outside = 1 + 0.9 * NEAR, 1 + 1.1 * NEAR
    refused = {"raised": "RuntimeError", "message": "no"}
    figures = ([[1.0, inside]], [[1.0, outside]], [[1.0, 1.0], [1.0, 1.0]], refused)
    kinds = [standing(figure, [[1.0, 1.0]]) for figure in figures]
    right, wrong, raised = STANDINGS
    assert kinds == [right, wrong, wrong, raised]


# The findings


def test_a_planted_error_is_found() -> None:
    off = {"elements": [1.001 * wave.derivative(3)]}
    planted = put(ORDERS_OF_WAVE, ["torch-graph"], "by input", "x", "3", value=off)
    findings = told_after("higher-order", planted).findings
    place = findings.index(
        f"{WAVE_NAME}, PyTorch, graph: of 5 nested gradients 1 wrong without a message, the first by"
        " x at order 3 (relative error 0.001); 4 right."
    )
    assert "PyTorch graph" not in findings[place + 1]


def of_wave(elements: dict[str, Any]) -> dict[str, Any]:
    """What an engine may say of the wave: an element an order, or another figure."""
    by_order = {}
    for order, element in elements.items():
        is_number = isinstance(element, float)
        by_order[order] = {"elements": [element]} if is_number else element
    return {"by input": {"x": by_order}}


def test_what_this_study_did_not_ask_is_not_laid_at_a_frameworks_door() -> None:
    elements: dict[str, Any] = {"1": wave.derivative(1), "2": wave.derivative(2) + 1}
    elements["3"] = {"raised": "RuntimeError", "message": "no rule"}
    elements["4"] = elements["5"] = nested.not_asked(nested.too_large(2, 2345))
    telling = told(TOPIC, {(ORDERS_OF_WAVE, "torch-graph"): of_wave(elements)})
    assert telling.findings == (
        f"{WAVE_NAME}, PyTorch, graph: of 5 nested gradients 1 wrong without a message, the"
        " first by x at order 2 (relative error 0.32); 1 refused, from order 3 on (RuntimeError: no"
        " rule); 2 not asked by this study, from order 4 on, since the graph of order 2 has 2345"
        " operators already; 1 right.",
    )
    table = telling.tables[0]
    column = table.columns.index("PyTorch, graph")
    cells = [str(row[column]) for row in table.rows]
    assert cells[2] == "RuntimeError: no rule"
    assert cells[3] == "not asked, since the graph of order 2 has 2345 operators already"


def test_a_gradient_at_the_limit_of_nearness_is_near() -> None:
    known = {("x", "1"): {"elements": [1e5]}}
    for element, is_near in ((1e5, True), (1e5 + 1, True), (1e5 - 1, True), (1e5 + 2, False)):
        figures = {"by input": {"x": {"1": {"elements": [element]}}}}
        stands = standing_of(figures, known)
        assert (len(stands.near), len(stands.far)) == (is_near, not is_near)


def test_overflow_in_the_float_of_the_inputs_is_no_wrong_number() -> None:
    def found(truth: float, element: str | float, dtype: str) -> bool:
        figure = {"elements": [element], "dtype": dtype}
        known = {("x", "1"): {"elements": [truth]}}
        return bool(standing_of({"by input": {"x": {"1": figure}}}, known).far)

    # The greatest float16 is 65504; what rounds to it is no overflow.
    assert not found(131200.0, "Infinity", "float16")
    assert not found(-131200.0, "-Infinity", "float16")
    assert found(-131200.0, "Infinity", "float16")
    assert found(131200.0, "Infinity", "float32")
    assert found(65504.0, "Infinity", "float16")


def test_a_derivative_has_the_float_that_its_numbers_are_in() -> None:
    for dtype, carried in (("float16", "float16"), ("bfloat16", "float32")):
        ones = np.ones(2, carried)
        figure = nested.derivative(answer(ones, structure="dx", dtype=dtype))
        assert (figure["dtype"], figure["elements"]) == (carried, [1.0, 1.0])


def test_the_gradient_by_a_tensor_is_no_wrong_gradient_by_an_argument() -> None:
    far = [(("a", "1"), 1.0), (("c", "2"), math.inf)]
    slow = [(5, nested.too_slow(4, seconds)) for seconds in (36.2, 42)]
    stands = Standing([0.0], far, {}, slow)
    wrong, by_tensor, left_out, right = map(text, outcomes_of(stands, ["a", "b"]))
    assert wrong.startswith("1 wrong without a message, the first by c at order 2 (not finite")
    assert by_tensor == "1 not those by each argument alone (a and b are one tensor)"
    assert left_out.startswith(
        "2 not asked by this study, from order 5 on, since order 4 took 36 s and"
    )
    assert right == "1 right"
    first = text(outcomes_of(stands)[0])
    assert first.startswith("2 wrong without a message, the first by a at order 1 (rel")


def test_inputs_that_are_one_array_are_found() -> None:
    assert nested.one_tensor(str(find("aliased_input"))) == ["a", "b"]
    assert nested.one_tensor(str(find("polynomial"))) == []


@pytest.mark.parametrize(
    ("elements", "truth", "difference"),
    [
        (["NaN", 2.0], ["NaN", 2.0], 0.0),
        (["Infinity"], ["Infinity"], 0.0),
        (["NaN", 3.0], ["NaN", 2.0], 0.5),
        (["NaN", 2.0], [1.0, 2.0], math.inf),
        (["Infinity"], ["NaN"], math.inf),
        ([1.0], [1.0, 1.0], math.inf),
    ],
)
def test_the_same_nan_or_infinity_is_no_difference(
    elements: list[Any], truth: list[Any], difference: float
) -> None:
    assert difference_of(elements, truth) == difference


def test_a_long_message_stands_in_a_finding_with_its_first_sentence_alone() -> None:
    message = "You call requires_grad_() in a transform. " + "This is unsupported. " * 15
    elements: dict[str, Any] = {"1": wave.derivative(1)}
    elements["2"] = {"raised": "RuntimeError", "message": message}
    (finding,) = told(TOPIC, {(ORDERS_OF_WAVE, "torch-graph"): of_wave(elements)}).findings
    assert "from order 2 on (RuntimeError: You call requires_grad_() in a transform);" in finding


@pytest.mark.whole
@pytest.mark.torch
def test_a_net_that_cannot_be_traced_spoils_no_later_measurement(workers: Workers) -> None:
    checkpointing = Target(str(find("checkpointing")))
    (nested_graphs,) = ORDERS.by("torch-graph").measurements(checkpointing)
    (operators,) = SECOND_DERIVATIVES["by shape"].by("torch-tape").measurements(checkpointing)
    by_order = measure([nested_graphs], workers)[nested_graphs.name].figures["by input"]["x"]
    assert {order for order, figure in by_order.items() if "raised" in figure} == set("2345")
    # What is asked next needs no net of a scenario, and finds torch.func as it must be.
    figures = measure([operators], workers)[operators.name].figures
    assert {outcome(figure) for figure in figures.values()} == {"agrees"}


def test_graphs_of_orders_that_were_not_asked_are_no_part_of_the_growth() -> None:
    left_out = nested.not_asked(nested.too_large(4, 134))
    not_asked = put(NODES_OF_WAVE, ["torch-graph"], "by order", "5", value=left_out)
    said = " ".join(told_after("higher-order", not_asked).findings)
    assert "grows from 9 to 134 operators in PyTorch graph (orders 1 to 4: 9, 27, 62, 134)" in said


@pytest.mark.parametrize(
    ("operators", "words"),
    [
        ({1: 9, 5: 9}, "ends with the 9 operators that it starts with"),
        ({1: 9, 2: 5, 3: 10}, "grows from 9 to 10 operators"),
        ({1: 9, 2: 50, 3: 8}, "shrinks from 9 to 8 operators"),
    ],
)
def test_growth_is_told_from_the_first_order_to_the_last(
    operators: dict[int, int], words: str
) -> None:
    assert text(change_of_size(operators)) == words


def test_a_scenario_without_a_floating_input_is_refused_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="embedding_repeats has none of a floating dtype"):
        target(TOPIC, "embedding_repeats", "cpu")
    assert target(TOPIC, "lstm", "cpu").name == "lstm"
