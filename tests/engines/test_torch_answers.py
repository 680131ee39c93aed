"""What the two PyTorch engines answer, asked of them through their worker."""

import re
from typing import Any

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, Nothing
from explorer.model.results import About, ResultNote
from explorer.model.trees import Branch, branch
from explorer.numeric.cotangents import cotangent
from explorer.scenario.matrix import matrix, structure
from explorer.workers.workers import Workers
from tests.support.listings import Listings
from tests.support.torch_requests import EVERYTHING, TORCH_ENGINES, Torch, got, values
from tests.support.worker_targets import Word

pytestmark = pytest.mark.torch

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")


@pytest.fixture(scope="module")
def torch(workers: Workers) -> Torch:
    return Torch(workers)


def test_about_tells_the_version_and_the_devices(workers: Workers) -> None:
    about = got(workers.call("torch", "explorer.engines.torch.about:about", Nothing(), About))
    assert about.versions["torch"].startswith("2.")
    assert about.devices[0] == "cpu"


def test_the_tape_does_not_wait_for_the_parts_that_make_graphs(torch: Torch) -> None:
    request = CaseRequest(torch.net("dense_mse", "torch-tape"), GradCase("grad", 0, "all"))
    with Workers() as fresh:
        target = "tests.support.worker_targets:capture_then_look"
        assert fresh.call("torch", target, request, Word) == Word("autograd")


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_every_case_comes_back_in_mindspore_s_structure(torch: Torch, engine: str) -> None:
    for case in matrix(2, True):
        result = torch.answer("dense_mse", engine, case)
        if case.must_fail:
            assert (result.outcome, result.leaves) == ("raised", ())
        else:
            assert result.structure == structure(
                case, ("x", "y"), ("fc.weight",), branch("loss", "logits")
            )


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_weight_that_the_forward_writes_to_has_the_gradient_of_what_it_held(
    torch: Torch, engine: str
) -> None:
    weight, x = np.array([[0.25, 1], [-0.75, 0.5]]), np.array([1, -2])
    through_tanh = np.array([4, 6]) * (1 - np.tanh(weight @ x) ** 2)
    result = torch.answer("data_clamped", engine, GradCase("grad", 0, "all"))
    assert result.outcome == "ok", result.error
    found = np.array(values(result)["dfc.weight"])
    assert np.allclose(found, np.outer(through_tanh, x), rtol=1e-5)


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_has_aux_false_differentiates_the_sum_of_the_outputs_and_true_the_first(
    torch: Torch, engine: str
) -> None:
    assert values(torch.answer("dense_mse", engine, GradCase("grad", 0))) == {"dx": [[6, 9, 12]]}
    both = values(torch.answer("dense_mse", engine, GradCase("grad", (0, 1), "all", has_aux=True)))
    assert both == {"dx": [[4, 6, 8]], "dy": -2, "dfc.weight": [[2, 4, 6]], "logits": 20}
    assert values(torch.answer("dense_mse", engine, EVERYTHING))["loss"] == 1


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_sens_param_brings_cotangents_that_differ_from_output_to_output(
    torch: Torch, engine: str
) -> None:
    case = GradCase("GradOperation", 0, sens_param=True)
    loss, logits = (float(cotangent(index, (), "float32")) for index in (0, 1))
    assert values(torch.answer("dense_mse", engine, case)) == {
        "dx": [[loss * 2 * w + logits * w for w in (2, 3, 4)]]
    }


def test_a_tape_sums_over_both_uses_of_one_tensor_and_a_graph_keeps_positions_apart(
    torch: Torch,
) -> None:
    case = GradCase("grad", (0, 1))
    assert values(torch.answer("aliased_input", "torch-tape", case)) == {
        "da": [2, 4, 6],
        "db": [2, 4, 6],
    }
    assert values(torch.answer("aliased_input", "torch-graph", case)) == {
        "da": [1, 2, 3],
        "db": [1, 2, 3],
    }


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_nested_gradient_is_that_of_the_sum_of_the_gradient_before(
    torch: Torch, engine: str
) -> None:
    x, z = 2.0, 0.5
    assert values(torch.answer("polynomial", engine, GradCase("grad", 0))) == {"dx": -2 * x - 2 * z}
    assert values(torch.answer("polynomial", engine, GradCase("grad", 2, order=2))) == {
        "dz": 6 * -1 * z
    }
    assert values(torch.answer("polynomial", engine, GradCase("grad", 2, order=3))) == {"dz": -6}


def test_beyond_the_last_dependence_a_graph_has_zeros_and_a_tape_raises(torch: Torch) -> None:
    case = GradCase("grad", 1, order=2)
    assert values(torch.answer("polynomial", "torch-graph", case)) == {"dy": 0}
    raised = torch.answer("polynomial", "torch-tape", case)
    assert raised.error
    assert "does not require grad" in raised.error.message


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_zeros_that_are_only_marked_as_such_are_zeros(torch: Torch, engine: str) -> None:
    case = GradCase("grad", 0, order=2)
    answer = torch.answer("torch_marked_zeros", engine, case)
    assert values(answer) == {"dx": [0, 0, 0]}
    assert torch.capture("torch_marked_zeros", engine, case).result == answer


@pytest.mark.parametrize("api", ["grad", "value_and_grad"])
@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_what_no_output_depends_on_gets_zeros_and_a_note_where_they_are_made_up(
    torch: Torch, engine: str, api: Any
) -> None:
    result = torch.answer("torch_odd", engine, GradCase(api, 2, "all"))
    assert values(result)["dspare"] == [0, 0]
    notes = {"grad": None, "value_and_grad": ResultNote("grad_is_none", "spare")}
    joint = ResultNote("joint_has_none", "spare")
    assert result.note == (joint if engine == "torch-graph" else notes[api])


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_asking_for_nothing_and_for_an_integer_are_pytorch_s_own_errors(
    torch: Torch, engine: str
) -> None:
    nothing = torch.answer("dense_mse", engine, GradCase("grad")).error
    assert nothing
    assert nothing.type == "RuntimeError"
    assert "empty" in nothing.message
    integer = torch.answer("torch_odd", engine, GradCase("grad", 1)).error
    assert integer
    assert "floating point dtype can require gradients" in integer.message


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_has_aux_on_a_net_with_one_bare_output_is_refused(torch: Torch, engine: str) -> None:
    error = torch.answer("polynomial", engine, GradCase("grad", 0, has_aux=True)).error
    assert error
    assert "(output, aux) if has_aux is True" in error.message


def test_a_branch_on_a_value_is_unsupported_in_the_graph_with_the_user_s_line(torch: Torch) -> None:
    result = torch.answer("branch_on_value", "torch-graph", GradCase("grad", 0))
    assert result.outcome == "unsupported"
    assert result.error
    assert result.error.message.startswith("Data-dependent branching")
    assert re.fullmatch(r"branch_on_value\.py:\d+", result.error.source)
    assert len(result.error.message) <= 600
    assert torch.answer("branch_on_value", "torch-tape", GradCase("grad", 0)).outcome == "ok"


def test_a_forward_that_raises_is_described_with_the_user_s_line(torch: Torch) -> None:
    described = torch.describe("torch_raises")
    assert described.error
    assert described.error.source == "torch_raises.py:19"
    assert "mat1 and mat2 shapes cannot be multiplied" in described.error.message
    assert [spec.name for spec in described.parameters] == ["fc.weight", "fc.bias"]


def test_a_description_names_parameters_buffers_and_outputs(torch: Torch) -> None:
    described = torch.describe("conv_bn_relu_pool")
    trainable = {spec.name: spec.trainable for spec in described.parameters}
    assert trainable["bn.weight"]
    assert not trainable["bn.running_mean"]
    assert described.outputs[0].shape == ()
    assert isinstance(described.returned, Branch)


@pytest.mark.parametrize(
    ("name", "engine", "case"),
    [
        ("dense_mse", "torch-tape", GradCase("grad", 0, "all", has_aux=True)),
        ("dense_mse", "torch-tape", GradCase("value_and_grad", (0, 1), "one")),
        ("dense_mse", "torch-tape", GradCase("grad", 0, order=2)),
        ("dense_mse", "torch-tape", GradCase("GradOperation", 0, sens_param=True)),
        ("dense_mse", "torch-graph", GradCase("grad", 0, "all", has_aux=True)),
        ("dense_mse", "torch-graph", GradCase("GradOperation", 0, sens_param=True)),
        ("dense_mse", "torch-graph", GradCase("grad", 0, order=2)),
        # The first output of this net is cut off.
        ("ordered_leaves", "torch-tape", GradCase("grad", 0, "all")),
        ("ordered_leaves", "torch-tape", GradCase("GradOperation", 0, "all", sens_param=True)),
        ("ordered_leaves", "torch-graph", GradCase("GradOperation", 0, "all", sens_param=True)),
        # This one writes to a weight: what that holds afterwards has a cotangent of 0.
        ("data_clamped", "torch-graph", GradCase("grad", 0, "all")),
        ("data_clamped", "torch-graph", GradCase("GradOperation", 0, "all", sens_param=True)),
    ],
)
def test_the_code_beside_a_result_prints_the_same_numbers(
    torch: Torch, listings: Listings, name: str, engine: str, case: GradCase
) -> None:
    result = torch.answer(name, engine, case)
    assert result.leaves
    printed = re.sub(r"<\w+>|dtype=\S+", "", listings.run(result.code))
    numbers = [float(number) for number in NUMBER.findall(printed)]
    for leaf in result.leaves:
        for number in unpack(leaf.value).ravel().tolist():
            assert np.isclose(numbers, number).any(), (leaf.name, number, printed)
