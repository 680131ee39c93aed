"""The higher-order study: orders 1 to 5 against closed forms, what they cost, and where derivatives
end or go wrong.
"""

import copy
from typing import Any

import msgspec
import numpy as np
import pytest
from explorer.topics.starting import drawn

from explorer.model.arrays import pack, unpack
from explorer.model.engines import ENGINES
from explorer.model.measurement import Measured, Measurement
from explorer.model.requests import Description, ParameterSpec
from explorer.scenario.contract import find
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import (
    STUDY,
    WAVE,
    given,
    nodes,
    operators,
    orders,
    reference,
    transformations,
)
from explorer.topics.higher_order.reading import apart
from explorer.topics.higher_order.telling_derivatives import held, outcome
from explorer.topics.measuring import measure
from explorer.topics.studying import Telling, target
from explorer.workers.workers import Workers
from tests.measured_once import once

DENSE = str(find("dense_mse"))
TAPES = ("mindspore-tape", "torch-tape")
DOUBLED = ("mindspore-graph", "mindspore-tape", "torch-tape", "torch-func")
ASKED = (
    *(orders(engine) for engine in ENGINES),
    *(nodes(engine) for engine in ENGINES),
    *(operators("by shape", engine) for engine in DOUBLED),
    *(operators("by layer", engine) for engine in ("mindspore-tape", "torch-tape", "torch-func")),
    *(transformations(given.BY_MATRIX, engine) for engine in given.TRANSFORMING),
    *(transformations(given.BY_ELEMENT, "torch-func"),),
    *(orders(engine, DENSE) for engine in TAPES),
    reference(DENSE),
)
"""What is looked at here: enough to see every kind of outcome, at a fraction of the whole study's
time.
"""


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return once(workers, ASKED)


@pytest.fixture(scope="module")
def told(measured: dict[str, Measured]) -> Telling:
    return STUDY.tell(Evidence(measured))


def elements(
    measured: dict[str, Measured], engine: str, name: str, order: int, scenario: str = WAVE
) -> Any:
    return measured[orders(engine, scenario).name].figures["by input"][name][str(order)]["elements"]


@pytest.mark.parametrize("order", given.ORDERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_nested_gradients_of_the_wave_match_its_closed_form(
    measured: dict[str, Measured], engine: str, order: int
) -> None:
    assert elements(measured, engine, "x", order) == pytest.approx([given.wave(order)], rel=1e-12)


def test_the_closed_form_is_the_derivative_of_the_one_before() -> None:
    for order in given.ORDERS:
        slope = (given.wave(order - 1, 0.7 + 1e-6) - given.wave(order - 1, 0.7 - 1e-6)) / 2e-6
        assert given.wave(order) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_gradient_grows_with_every_order(measured: dict[str, Measured], engine: str) -> None:
    by_order = measured[nodes(engine).name].figures["by order"]
    counts = [list(by_order[str(order)].values())[-1] for order in given.ORDERS]
    assert counts == sorted(set(counts))


def test_tapes_more_than_double_and_the_compiled_graph_does_not(
    measured: dict[str, Measured],
) -> None:
    counts = {engine: measured[nodes(engine).name].figures["by order"] for engine in ENGINES}
    for engine in TAPES:
        assert counts[engine]["5"]["tape"] > 2 * counts[engine]["4"]["tape"]
    assert (
        counts["mindspore-graph"]["5"]["validate"] < 2 * counts["mindspore-graph"]["4"]["validate"]
    )


def test_the_second_order_is_drawn_for_every_engine(measured: dict[str, Measured]) -> None:
    for engine in ENGINES:
        (graph,) = measured[nodes(engine).name].graphs
        assert graph.case == "grad(grad(net, 0), 0)"


def test_every_order_is_timed(measured: dict[str, Measured]) -> None:
    for engine in ENGINES:
        assert len(measured[orders(engine).name].timings) == 2 * len(given.ORDERS)


def test_mindspores_tape_loses_the_second_derivative_of_the_guides_net_without_a_message(
    measured: dict[str, Measured],
) -> None:
    wanted = measured[reference(DENSE).name].figures["by input"]["x"]["2"]["elements"]
    assert wanted == [36, 54, 72]
    assert elements(measured, "torch-tape", "x", 2, DENSE) == wanted
    assert elements(measured, "mindspore-tape", "x", 2, DENSE) == [0, 0, 0]


@pytest.mark.parametrize("engine", ["mindspore-graph", "torch-tape", "torch-func"])
def test_second_derivatives_that_are_returned_are_how_the_first_changes(
    measured: dict[str, Measured], engine: str
) -> None:
    outcomes = {
        name: outcome(each)
        for name, each in measured[operators("by shape", engine).name].figures.items()
    }
    assert "wrong" not in outcomes.values()
    assert list(outcomes.values()).count("agrees") >= 7


def test_the_tape_loses_terms_behind_reductions_products_and_broadcasts(
    measured: dict[str, Measured],
) -> None:
    figures = measured[operators("by shape", "mindspore-tape").name].figures
    assert figures["cube_of_sum"]["second"] == [0, 0, 0, 0]
    assert figures["cube_of_sum"]["change of first"] == pytest.approx([115.2] * 4)
    wrong = {name for name, each in figures.items() if outcome(each) == "wrong"}
    assert wrong == {
        "cube_of_sum",
        "cube_of_mean",
        "norm",
        "matrix_product",
        "concatenation",
        "broadcast",
    }


@pytest.mark.parametrize("engine", ["torch-tape", "torch-func"])
def test_flash_attention_has_no_second_derivative(
    measured: dict[str, Measured], engine: str
) -> None:
    figures = measured[operators("by layer", engine).name].figures
    assert outcome(figures["attention"]) == "agrees"
    assert figures["flash_attention"]["second"] == {
        "raised": "RuntimeError",
        "message": "derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward is not implemented",
    }


def test_operators_without_a_further_rule_say_so_in_mindspores_words(
    measured: dict[str, Measured],
) -> None:
    figures = measured[operators("by layer", "mindspore-tape").name].figures
    assert (
        figures["log_softmax"]["second"]["message"]
        == "Illegal primitive LogSoftmaxGrad's bprop not defined"
    )
    assert (
        "MaxPoolGradWithArgmaxV2's bprop not defined" in figures["max_pooling"]["second"]["message"]
    )


def test_torch_func_agrees_with_every_closed_form(measured: dict[str, Measured]) -> None:
    for net in given.CLOSED:
        for name, figure in measured[transformations(net, "torch-func").name].figures.items():
            assert held(figure, given.closed_forms()[name]) == "agrees", name


def test_a_hessian_by_vmap_over_a_matrix_product_is_wrong_in_mindspore(
    measured: dict[str, Measured],
) -> None:
    name = f"Hessian, jacrev of grad, {given.BY_MATRIX}"
    for style in ("mindspore-graph", "mindspore-tape"):
        figure = measured[transformations(given.BY_MATRIX, style).name].figures[name]
        assert held(figure, given.closed_forms()[name]).startswith("wrong: off by")


def test_closed_forms_are_derivatives_of_each_other() -> None:
    def energy_slope(x: Any) -> Any:
        return 2 * (given.MATRIX * np.cos(x)).T @ given.MATRIX @ np.sin(x)

    columns = [
        (energy_slope(given.POINT + step) - energy_slope(given.POINT - step)) / 2e-6
        for step in 1e-6 * np.eye(3)
    ]
    assert np.transpose(columns) == pytest.approx(
        given.CLOSED[given.BY_MATRIX]["Hessian, jacrev of grad"], rel=1e-6
    )


def test_findings_count_what_agrees_and_what_is_wrong(told: Telling) -> None:
    text = " ".join(told.findings)
    assert "wave, MindSpore, graph: 5 of 5 nested gradients agree with the closed form" in text
    assert "wave, MindSpore, tape (tape): 9, 24, 56, 125, 274 operators" in text
    assert (
        "of cube of sum it is [0, 0, 0, 0] where the first changes by [115.2, 115.2, 115.2, 115.2]"
        in text
    )
    assert "dense_mse, MindSpore, tape:" in text
    assert [chart.name for chart in told.charts] == ["nodes_wave", "seconds", "second_derivatives"]


def test_a_planted_error_is_found(measured: dict[str, Measured]) -> None:
    doctored = copy.deepcopy({name: each.figures for name, each in measured.items()})
    doctored[orders("torch-graph").name]["by input"]["x"]["3"]["elements"][0] *= 1.001
    told = STUDY.tell(
        Evidence({name: Measured(outcome="ok", figures=each) for name, each in doctored.items()})
    )
    (finding,) = [each for each in told.findings if each.startswith("wave, PyTorch, graph:")]
    assert "4 of 5 nested gradients agree" in finding
    assert "first by x at order 3, off by 0.001" in finding


def test_the_same_figures_come_at_every_run(
    measured: dict[str, Measured], workers: Workers
) -> None:
    again = [
        operators("by shape", "mindspore-tape"),
        operators("by layer", "torch-func"),
        nodes("torch-graph"),
    ]
    for name, each in measure(again, workers).items():
        assert each.figures == measured[name].figures


@pytest.mark.parametrize("asked", [nodes("torch-tape"), orders("torch-graph")])
def test_a_graph_that_has_grown_too_large_is_the_last_that_is_asked_for(
    asked: Measurement, workers: Workers
) -> None:
    small = msgspec.structs.replace(
        asked, name="small", options={**asked.options, "largest": 20, "timed": False}
    )
    figures = measure([small], workers)["small"].figures
    by_order = figures["by order"] if "by order" in figures else figures["by input"]["x"]
    assert not any("raised" in by_order[order] for order in ("1", "2"))
    assert [by_order[order]["raised"] for order in ("3", "4", "5")] == ["NotAsked"] * 3
    assert by_order["3"]["message"].startswith("the graph of order 2 has ")


def test_without_evidence_there_are_no_findings() -> None:
    told = STUDY.tell(Evidence({}))
    assert told.findings == ()
    assert told.charts == ()
    assert any("MindSpore, graph: not measured." in table.note for table in told.tables)


def test_one_framework_alone_is_told_about(measured: dict[str, Measured]) -> None:
    told = STUDY.tell(Evidence({name: each for name, each in measured.items() if ".torch" in name}))
    assert any("wave, PyTorch, tape: 5 of 5" in finding for finding in told.findings)
    assert not any("MindSpore" in finding for finding in told.findings)


def test_the_study_asks_every_engine_about_the_wave_and_the_scenario() -> None:
    asked = [each.name for each in STUDY.measurements(target(STUDY, None, "cpu"))]
    assert len(set(asked)) == len(asked)
    for engine in ENGINES:
        wanted = {
            f"higher-order.{what}.{net}.{engine}"
            for what in ("orders", "nodes")
            for net in ("wave", "polynomial")
        }
        assert wanted <= set(asked)


def test_nets_without_values_of_their_own_start_alike_by_name_and_shape() -> None:
    def seen(*names: str) -> Description:
        specs = [
            ParameterSpec(
                name, f"own.{name}", name != "fc.mean", pack(np.zeros((2, 3), np.float32))
            )
            for name in names
        ]
        return Description(parameters=tuple(specs))

    one, other = drawn(seen("fc.weight", "fc.mean")), drawn(seen("conv.weight", "fc.weight"))
    assert one.keys() == {"fc.weight"}
    assert one["fc.weight"] == other["fc.weight"] != other["conv.weight"]
    assert np.abs(unpack(one["fc.weight"])).max() <= 1 / np.sqrt(3)


def test_a_difference_is_a_share_of_the_greatest_element() -> None:
    assert apart([1.0, 101.0], [1.0, 100.0]) == pytest.approx(0.01)
    assert apart([0.0], [0.0]) == 0
    assert apart([1.0, 2.0], [1.0]) == float("inf")
    assert apart(["NaN"], [1.0]) == float("inf")
