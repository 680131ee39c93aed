"""What nets return in tuples, lists, dicts and dataclasses, as each engine answers with it."""

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.common_start import Nets, settle
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.workers.workers import Workers
from tests.support.engine_requests import answer, capture
from tests.support.nets import net_file
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NESTED, DICT, COMPLEX = "nested_outputs", "dict_output", "complex_inside"
OPTIONAL, DATACLASS = "optional_argument", "dataclass_output"

BOTH = GradCase("value_and_grad", 0, "all")
SET_ASIDE = GradCase("grad", 0, "all", has_aux=True)

STATES = "{'states': [first, second]}"


@pytest.fixture(scope="module")
def settled(workers: Workers) -> dict[str, Nets]:
    nets = {}
    for name in (NESTED, DICT, COMPLEX, OPTIONAL, DATACLASS):
        devices = dict.fromkeys(ENGINES, "cpu")
        nets[name] = settle(load(net_file(name)), workers, tuple(ENGINES), devices)
    return nets


def answered(workers: Workers, nets: Nets, engine: str, case: GradCase) -> Result:
    return answer(workers, CaseRequest(nets.requests[engine], case))


@pytest.mark.parametrize("engine", ENGINES)
def test_gradients_stand_beside_outputs_that_nest_as_the_net_returned_them(
    workers: Workers, settled: dict[str, Nets], engine: str
) -> None:
    result = answered(workers, settled[NESTED], engine, BOTH)
    assert result.outcome == "ok", result.error
    # MindSpore's compiler makes tuples of lists in dicts (2.10.0).
    written = result.written.replace("(first, second)", "[first, second]")
    assert written == f"((loss, (key, value), None, {STATES}), (dx, (dw,)))"
    values = {leaf.name: unpack(leaf.value).tolist() for leaf in result.leaves}
    assert values["value"] == [3, 16]
    assert values["dx"] == [2 * 8, 5 * 8]  # 1 + 1 + 1 + 2 + 3 uses of the product


@pytest.mark.parametrize("engine", ENGINES)
def test_has_aux_sets_aside_whole_containers(
    workers: Workers, settled: dict[str, Nets], engine: str
) -> None:
    result = answered(workers, settled[NESTED], engine, SET_ASIDE)
    written = result.written.replace("(first, second)", "[first, second]")
    assert written == f"((dx, (dw,)), ((key, value), None, {STATES}))"
    assert unpack(result.leaves[0].value).tolist() == [2, 5]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dict_is_an_output_and_nothing_to_split(
    workers: Workers, settled: dict[str, Nets], engine: str
) -> None:
    assert not settled[DICT].has_auxiliary
    result = answered(workers, settled[DICT], engine, GradCase("value_and_grad", 0))
    assert result.written == "({'loss': out0, 'logits': out1}, dx)"
    refused = answered(workers, settled[DICT], engine, GradCase("grad", 0, has_aux=True))
    assert refused.outcome == "raised"
    assert refused.error
    assert "has_aux" in refused.error.message


@pytest.mark.parametrize("name", [NESTED, DICT])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_captured_graph_has_every_tensor_of_the_answer_as_a_result(
    workers: Workers, settled: dict[str, Nets], engine: str, name: str
) -> None:
    request = CaseRequest(settled[name].requests[engine], GradCase("value_and_grad", 0))
    captured = capture(workers, request)
    graph = captured.graphs[-1]
    assert lint(graph) == []
    results = {node.name for node in graph.nodes if node.kind == "output"}
    assert results == {leaf.name for leaf in captured.result.leaves}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_complex_output_is_answered_and_its_graph_summarised(
    workers: Workers, settled: dict[str, Nets], engine: str
) -> None:
    result = answered(workers, settled[COMPLEX], engine, GradCase("grad", 0, has_aux=True))
    assert result.outcome == "ok", result.error
    gradient, spectrum = (unpack(leaf.value) for leaf in result.leaves)
    assert spectrum.tolist() == [1 + 1j, 2 + 4j, 4 + 16j]
    # The modulus of x + ix² is x√(1 + x²), whose slope is (1 + 2x²)/√(1 + x²).
    x = np.array([1.0, 2, 4])
    np.testing.assert_allclose(gradient, (1 + 2 * x**2) / np.sqrt(1 + x**2), rtol=1e-6)


@pytest.mark.parametrize(
    "case",
    [
        GradCase("grad", 0),
        GradCase("value_and_grad", 0),
        GradCase("GradOperation", 0),
        GradCase("GradOperation", 0, sens_param=True),
    ],
    ids=lambda case: case.label,
)
@pytest.mark.parametrize("engine", ENGINES)
def test_arguments_with_defaults_are_left_to_them_in_graphs_too(
    workers: Workers, settled: dict[str, Nets], engine: str, case: GradCase
) -> None:
    plain = answered(workers, settled[OPTIONAL], engine, case)
    captured = capture(workers, CaseRequest(settled[OPTIONAL].requests[engine], case))
    assert captured.result.leaves == plain.leaves
    assert captured.graphs
    gradient = unpack(plain.leaves[-1].value)
    cotangent_of_output = gradient[0] / 6
    assert case.sens_param or cotangent_of_output == 1
    np.testing.assert_allclose(gradient, np.array([6, 12]) * cotangent_of_output)


@pytest.mark.parametrize("engine", ENGINES)
def test_mindspore_takes_no_gradient_of_a_dataclass_and_a_finding_says_so(
    workers: Workers, settled: dict[str, Nets], engine: str
) -> None:
    nets = settled[DATACLASS]
    (finding,) = nets.findings
    assert (finding.kind, finding.names, finding.expected) == ("output", ("Output",), False)
    result = answered(workers, nets, engine, GradCase("value_and_grad", 0))
    assert result.outcome == "ok", result.error
    assert result.written == "(Output(loss=out0, logits=out1), dx)"
    is_taken = ENGINES[engine].framework == "torch"
    assert unpack(result.leaves[2].value).tolist() == ([4, 12] if is_taken else [0, 0])


def test_a_graph_that_lacks_outputs_is_refused_with_the_reason(
    workers: Workers, settled: dict[str, Nets]
) -> None:
    request = CaseRequest(settled[DATACLASS].requests["mindspore-graph"], GradCase("grad", 0))
    captured = capture(workers, request)
    assert captured.graphs == ()
    assert captured.result.error
    assert "dataclass" in message(captured.result.error)
