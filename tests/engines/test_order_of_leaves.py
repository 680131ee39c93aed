"""What belongs to what: a cotangent to its output, a gradient to its weight, whatever the order."""

import msgspec
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.workers.workers import Workers
from tests.support.engine_requests import (
    EVERYTHING,
    MINDSPORE_ENGINES,
    EngineRequests,
    answer,
    compared,
    each,
    requests_of,
)
from tests.support.standard_engines import ENGINES

WITH_SEEDS = GradCase("GradOperation", (0,), "all", get_all=True, get_by_list=True, sens_param=True)

X, FIRST, SECOND = [2.0, -1.0], [3.0, 5.0], [7.0, 11.0]
"""The net's input and weights; it returns what is cut off, and x · first + second²."""


def gradients(
    workers: Workers, engine: str, case: GradCase, trainable: tuple[str, ...]
) -> list[tuple[str, list[float]]]:
    """The gradients of a case in the order in which they come, with their names."""
    net = requests_of(workers, engine).net("ordered_leaves", engine)
    net = msgspec.structs.replace(net, trainable=trainable)
    result = answer(workers, CaseRequest(net, case))
    assert result.outcome == "ok", result.error
    return [(leaf.name, unpack(leaf.value).tolist()) for leaf in result.leaves]


@pytest.mark.parametrize("engine", each(ENGINES))
def test_an_output_that_is_cut_off_leaves_the_next_one_its_own_cotangent(
    workers: Workers, engine: str
) -> None:
    # The cotangent of output 1 of two elements is [1.5, 2.5]; that of output 0 is [0.5, 1.5].
    seeds = [1.5, 2.5]
    assert dict(gradients(workers, engine, WITH_SEEDS, ("first", "second"))) == {
        "dx": [FIRST[0] * seeds[0], FIRST[1] * seeds[1]],
        "dfirst": [X[0] * seeds[0], X[1] * seeds[1]],
        "dsecond": [2 * SECOND[0] * seeds[0], 2 * SECOND[1] * seeds[1]],
    }


@pytest.mark.parametrize("engine", each(ENGINES))
def test_weights_come_in_the_order_that_was_fixed_and_not_in_the_net_s(
    workers: Workers, engine: str
) -> None:
    of_first, of_second = ("dfirst", X), ("dsecond", [2 * SECOND[0], 2 * SECOND[1]])
    by_all = GradCase("grad", None, "all")
    assert gradients(workers, engine, by_all, ("second", "first")) == [of_second, of_first]
    assert gradients(workers, engine, by_all, ("first", "second")) == [of_first, of_second]
    # "One weight" is the first of that order.
    by_one = GradCase("grad", None, "one")
    assert gradients(workers, engine, by_one, ("second", "first")) == [of_second]


@pytest.mark.mindspore
def test_a_compiled_capture_answers_what_was_asked(mindspore: EngineRequests) -> None:
    # What is compiled is value_and_grad: the answer to grad is taken out of what it returns.
    case = GradCase("grad", 0, "all", has_aux=True)
    result = mindspore.answer("ms_dense", "mindspore-graph", case)
    captured = mindspore.capture("ms_dense", "mindspore-graph", case).result
    assert captured.outcome == result.outcome == "ok", captured.error
    assert captured.structure == result.structure
    assert captured.leaves == result.leaves


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_a_captured_graph_ends_in_the_gradients_and_not_in_the_values_beside_them(
    mindspore: EngineRequests, engine: str
) -> None:
    graph = compared(mindspore.capture("ms_dense", engine, EVERYTHING))
    ends = [node for node in graph.nodes if node.kind == "output"]
    backward = {node.name for node in ends if node.phase == "backward"}
    assert backward == {"dx", "dfc.weight"}
