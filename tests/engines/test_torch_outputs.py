"""What Dynamo and AOTAutograd do not keep as the net has it.

Outputs that share memory, tied weights, and derivatives inside of the forward.
"""

import numpy as np
import pytest

from explorer.compare.results.comparison import BesideOracle
from explorer.engines.capture.lint import lint
from explorer.model.cases import GradCase
from explorer.scenario.matrix import matrix
from explorer.scenario.selection import covering
from tests.support.engine_requests import TORCH_ENGINES, EngineRequests, compared, values

pytestmark = pytest.mark.torch

SHARED, TIED, SLOPE = "torch_shared_outputs", "torch_tied_head", "torch_inner_gradient"

EVERY_OUTPUT = GradCase("value_and_grad", (0, 1), "all")
ALL_WEIGHTS = GradCase("value_and_grad", 0, "all")


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_an_output_that_is_a_leaf_or_a_view_of_one_adds_its_share_to_the_gradient(
    torch: EngineRequests, engine: str
) -> None:
    x, y, w = (1, 2), (3, 5), (2, 4)
    gradients = values(torch.answer(SHARED, engine, GradCase("grad", (0, 1), "all")))
    assert gradients == {
        "dx": [1 + y[k] * w[k] for k in (0, 1)],
        "dy": [x[k] * w[k] for k in (0, 1)],
        "dw": [1 + x[k] * y[k] for k in (0, 1)],
    }


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        (SHARED, covering(matrix(2, True))),
        *[pytest.param(name, matrix(1, True), marks=pytest.mark.whole) for name in (TIED, SLOPE)],
        pytest.param(SHARED, matrix(2, True), marks=pytest.mark.whole),
    ],
)
def test_both_styles_answer_every_case_alike(
    torch: EngineRequests, name: str, cases: tuple[GradCase, ...]
) -> None:
    answered = 0
    for case in cases:
        tape, graph = (torch.answer(name, engine, case) for engine in TORCH_ENGINES)
        assert tape.outcome == graph.outcome, case.label
        if tape.outcome == "ok":
            assert values(graph) == values(tape), case.label
            answered += 1
    assert answered >= 4


def test_what_checks_for_errors_and_parts_of_spectra_have_their_gradients_in_both_styles(
    torch: EngineRequests,
) -> None:
    # ∂Σ(a⁻¹b) is −a⁻ᵀ1·(a⁻¹b)ᵀ and a⁻ᵀ1; of the eigenvalues 2 and 5 the greatest has the left and
    # right vectors (2, 1) and (1, 1); b twice has as coefficients twice its sum, 0 and twice its difference.
    solution, weights = np.array([0.1, 0.6]), np.array([0.1, 0.3])
    case = GradCase("grad", (0, 1))
    for engine in TORCH_ENGINES:
        found = values(torch.answer("torch_solved", engine, case))
        by_a = -np.outer(weights, solution) + np.array([[2, 2], [1, 1]]) / 3
        np.testing.assert_allclose(found["da"], by_a, rtol=1e-5)
        np.testing.assert_allclose(found["db"], np.add(weights, (16, 32)), rtol=1e-5)
    captured = torch.capture("torch_solved", "torch-graph", case)
    assert lint(captured.graphs[-1]) == []
    assert captured.result.outcome == "ok"


def test_a_copy_that_the_capture_makes_of_an_output_is_no_step_of_the_graph(
    torch: EngineRequests,
) -> None:
    tape, graph = (
        compared(torch.capture(SHARED, engine, EVERY_OUTPUT)) for engine in TORCH_ENGINES
    )
    for captured in (tape, graph):
        outputs = {node.id: node.name for node in captured.nodes if node.kind == "output"}
        origins = captured.by_id()
        from_leaf = {}
        for edge in captured.edges:
            if edge.target in outputs and origins[edge.origin].kind in ("input", "parameter"):
                from_leaf[outputs[edge.target]] = origins[edge.origin].name
        assert from_leaf == {"out2": "w"}
    assert not [node for node in graph.nodes if "clone" in node.op]


def test_a_tied_weight_is_one_leaf_by_its_first_name(torch: EngineRequests) -> None:
    for engine in TORCH_ENGINES:
        graph = compared(torch.capture(TIED, engine, ALL_WEIGHTS))
        parameters = sorted(node.name for node in graph.nodes if node.kind == "parameter")
        assert parameters == ["spare.weight", "wte.weight"]


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_central_differences_confirm_a_gradient_through_a_derivative_in_the_forward(
    torch: EngineRequests, engine: str
) -> None:
    answer = torch.answer(SLOPE, engine, ALL_WEIGHTS)
    oracle = torch.estimate(SLOPE, ALL_WEIGHTS)
    assert len(oracle.estimates) == 3
    assert BesideOracle(answer, oracle).agrees


def test_a_nested_gradient_that_cannot_be_traced_spoils_no_later_answer(
    torch: EngineRequests,
) -> None:
    nested = torch.answer("checkpointing", "torch-graph", GradCase("grad", 0, order=2))
    assert nested.outcome == "raised"
    assert torch.answer("checkpointing", "torch-graph", GradCase("grad", 0)).outcome == "ok"
