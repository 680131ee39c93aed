"""What the engines of every framework and style answer, asked of them through their workers."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, Framework
from explorer.model.requests import CaseRequest, NetRequest, Nothing
from explorer.model.results import About, Result, ResultNote
from explorer.model.trees import Branch, branch
from explorer.numeric.cotangents import cotangent
from explorer.scenario.matrix import matrix, structure
from explorer.scenario.selection import covering
from explorer.workers.environments import ROOT
from explorer.workers.workers import Workers
from tests.support.command_line import ran
from tests.support.engine_requests import (
    EACH_ENGINE,
    EACH_FRAMEWORK,
    EVERYTHING,
    JAX_ENGINES,
    MINDSPORE_ENGINES,
    TORCH_ENGINES,
    EngineRequests,
    each,
    requests_of,
    run_in_jax,
    values,
)
from tests.support.large_nets import written_net
from tests.support.listings import Listings
from tests.support.nets import net_file
from tests.support.worker_targets import Word

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")

NO_NUMBERS = re.compile(r"<\w+>|'[^']*'|shape=\[[^]]*\]|dtype=\S+|float32")
"""What a listing prints beside the numbers of its results."""


def answered(workers: Workers, name: str, engine: str, case: GradCase) -> Result:
    return requests_of(workers, engine).answer(name, engine, case)


# In every framework and style


@pytest.mark.parametrize("framework", EACH_FRAMEWORK)
def test_about_tells_the_version_and_the_devices(workers: Workers, framework: Framework) -> None:
    requests = EngineRequests(workers, framework)
    about = requests.call(f"explorer.engines.{framework}.about:about", Nothing(), About)
    assert re.fullmatch(r"\d+\.\d+.*", about.versions[framework])
    assert about.devices[0] == "cpu"


EVERY_CASE = matrix(2, True, order=2)


@pytest.mark.parametrize("engine", EACH_ENGINE)
@pytest.mark.parametrize(
    "cases",
    # MindSpore compiles each case: those beyond each way to ask once are for the whole run.
    [covering(EVERY_CASE), pytest.param(EVERY_CASE, marks=pytest.mark.whole)],
    ids=["each way", "every case"],
)
def test_every_case_comes_back_in_mindspore_s_structure(
    workers: Workers, engine: str, cases: tuple[GradCase, ...]
) -> None:
    for case in cases:
        result = answered(workers, "dense_mse", engine, case)
        if case.must_fail:
            assert (result.outcome, result.leaves) == ("raised", ())
            continue
        assert result.error is None, case.label
        wanted = structure(case, ("x", "y"), ("fc.weight",), branch("loss", "logits"))
        assert result.structure == wanted, case.label
        if ENGINES[engine].framework == "mindspore":
            assert result.natural == result.written


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_has_aux_false_differentiates_the_sum_of_the_outputs_and_true_the_first(
    workers: Workers, engine: str
) -> None:
    of_sum = answered(workers, "dense_mse", engine, GradCase("grad", 0))
    assert values(of_sum) == {"dx": [[6, 9, 12]]}
    of_weight = answered(workers, "dense_mse", engine, GradCase("grad", None, "one"))
    assert values(of_weight) == {"dfc.weight": [[3, 6, 9]]}
    by_all = GradCase("grad", (0, 1), "all", has_aux=True)
    gradients = {"dx": [[4, 6, 8]], "dy": -2, "dfc.weight": [[2, 4, 6]]}
    assert values(answered(workers, "dense_mse", engine, by_all)) == {**gradients, "logits": 20}
    assert values(answered(workers, "dense_mse", engine, EVERYTHING))["loss"] == 1


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_sens_param_brings_cotangents_that_differ_from_output_to_output(
    workers: Workers, engine: str
) -> None:
    loss, logits = (float(cotangent(index, (), "float32")) for index in (0, 1))
    seeded = answered(workers, "dense_mse", engine, GradCase("GradOperation", 0, sens_param=True))
    assert values(seeded) == {"dx": [[loss * 2 * w + logits * w for w in (2, 3, 4)]]}


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_a_tape_sums_over_both_uses_of_one_tensor_and_a_graph_keeps_positions_apart(
    workers: Workers, engine: str
) -> None:
    # JAX's arrays are values: it keeps them apart in either style.
    is_summed = engine in ("mindspore-tape", "torch-tape")
    both = values(answered(workers, "aliased_input", engine, GradCase("grad", (0, 1))))
    assert both == dict.fromkeys(("da", "db"), [2, 4, 6] if is_summed else [1, 2, 3])


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_a_nested_gradient_is_that_of_the_sum_of_the_gradient_before(
    workers: Workers, engine: str
) -> None:
    x, z = 2.0, 0.5
    derivatives = {(0, 1): -2 * x - 2 * z, (2, 2): 6 * -1 * z, (2, 3): -6}
    for (position, order), derivative in derivatives.items():
        case = GradCase("grad", position, order=order)
        (gradient,) = values(answered(workers, "polynomial", engine, case)).values()
        assert gradient == derivative, case.label


@pytest.mark.parametrize(
    ("engine", "name", "case", "error", "words"),
    [
        *each(TORCH_ENGINES, "dense_mse", GradCase("grad"), "RuntimeError", "empty"),
        *each(
            MINDSPORE_ENGINES,
            "dense_mse",
            GradCase("grad"),
            "ValueError",
            "`grad_position` and `weight` can not be None",
        ),
        *each(
            TORCH_ENGINES,
            "integer_input",
            GradCase("grad", 1),
            "RuntimeError",
            "floating point dtype can require gradients",
        ),
        *each(
            JAX_ENGINES,
            "integer_input",
            GradCase("grad", 1),
            "TypeError",
            "grad requires real- or complex-valued inputs",
        ),
        *each(
            TORCH_ENGINES,
            "polynomial",
            GradCase("grad", 0, has_aux=True),
            "",
            "(output, aux) if has_aux is True",
        ),
        *each(
            JAX_ENGINES,
            "polynomial",
            GradCase("grad", 0, has_aux=True),
            "",
            "expected function with aux output to return a two-element",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_the_framework_s_own_error(
    workers: Workers, engine: str, name: str, case: GradCase, error: str, words: str
) -> None:
    raised = answered(workers, name, engine, case)
    assert raised.outcome == "raised"
    assert raised.error
    assert error in ("", raised.error.type)
    assert words in raised.error.message


@pytest.mark.parametrize(
    ("engine", "name", "words"),
    [
        *each(["torch-graph"], "branch_on_value", "Data-dependent branching"),
        *each(["jax-graph"], "while_loop", ""),
    ],
)
def test_python_that_depends_on_a_value_runs_on_a_tape_and_is_unsupported_in_a_graph(
    workers: Workers, engine: str, name: str, words: str
) -> None:
    refused = answered(workers, name, engine, GradCase("grad", 0))
    assert refused.outcome == "unsupported"
    assert refused.error
    assert refused.error.message.startswith(words)
    assert re.fullmatch(rf"{name}\.py:\d+", refused.error.source)
    assert len(refused.error.message) <= 600
    tape = f"{ENGINES[engine].framework}-tape"
    assert answered(workers, name, tape, GradCase("grad", 0)).outcome == "ok"


@pytest.mark.parametrize(
    ("engine", "place"),
    [*each(["torch-tape"], "torch_raises.py:21"), *each(MINDSPORE_ENGINES, "ms_raises.py:21")],
)
def test_a_forward_that_raises_is_described_with_the_user_s_line(
    workers: Workers, engine: str, place: str
) -> None:
    described = requests_of(workers, engine).describe(place.partition(".")[0], engine)
    assert described.error
    assert described.error.source == place
    assert "/" not in described.error.message.split("\n")[0]


SEEDED = GradCase("GradOperation", 0, sens_param=True)
BY_ALL = GradCase("grad", 0, "all", has_aux=True)
SEEDED_WEIGHTS = GradCase("GradOperation", 0, "all", sens_param=True)
JAX_CASES = (
    GradCase("grad", 0, has_aux=True),
    GradCase("grad", (0, 1), "all", has_aux=True),
    GradCase("value_and_grad", 0, "one", has_aux=True),
    GradCase("value_and_grad", (0, 1), "all"),
)


@pytest.mark.parametrize(
    ("engine", "name", "case"),
    [
        *each(TORCH_ENGINES, "dense_mse", BY_ALL),
        *each(TORCH_ENGINES, "dense_mse", SEEDED),
        *each(TORCH_ENGINES, "dense_mse", GradCase("grad", 0, order=2)),
        *each(["torch-tape"], "dense_mse", GradCase("value_and_grad", (0, 1), "one")),
        # The first output of this net is cut off.
        *each(["torch-tape"], "ordered_leaves", GradCase("grad", 0, "all")),
        *each(TORCH_ENGINES, "ordered_leaves", SEEDED_WEIGHTS),
        # This one writes to a weight: what that holds afterwards has a cotangent of 0.
        *each(["torch-graph"], "data_clamped", GradCase("grad", 0, "all")),
        *each(["torch-graph"], "data_clamped", SEEDED_WEIGHTS),
        # Outputs that share memory, tied weights, and a derivative inside of the forward.
        *each(["torch-graph"], "torch_shared_outputs", GradCase("value_and_grad", (0, 1), "all")),
        *each(["torch-graph"], "torch_tied_head", GradCase("value_and_grad", 0, "all")),
        *each(["torch-graph"], "torch_inner_gradient", GradCase("value_and_grad", 0, "all")),
        # Operators that check for errors, and one that has no derivative for complex numbers.
        *each(["torch-graph"], "torch_solved", GradCase("value_and_grad", (0, 1))),
        *each(["torch-graph"], "torch_solved", SEEDED),
        *each(["mindspore-graph"], "dense_mse", BY_ALL),
        *each(["mindspore-tape"], "dense_mse", SEEDED, whole=True),
        *each(["mindspore-graph"], "dense_mse", GradCase("grad", 1, order=2), whole=True),
        *[one for case in JAX_CASES for one in each(JAX_ENGINES, "dense_mse", case)],
        *each(
            ["jax-graph"],
            "dense_mse",
            GradCase(
                "GradOperation", (0, 1), "all", get_all=True, get_by_list=True, sens_param=True
            ),
        ),
        *each(["jax-graph"], "vector_chain", GradCase("grad", 0, order=2)),
        # Inputs that are called as a listing's variables get other ones.
        *each(["jax-tape"], "jax_names", GradCase("grad", (0, 1), "all")),
        *each(["jax-tape"], "jax_names", GradCase("grad", 0, order=2)),
    ],
)
def test_the_code_beside_a_result_prints_the_same_numbers(
    workers: Workers,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    engine: str,
    name: str,
    case: GradCase,
) -> None:
    result = answered(workers, name, engine, case)
    assert result.leaves
    framework = ENGINES[engine].framework
    if framework == "torch":
        listings: Listings = request.getfixturevalue("listings")
        printed = listings.run(result.code)
    else:
        printed = run_in_jax(result.code) if framework == "jax" else pasted(result.code, tmp_path)
    numbers = [float(number) for number in NUMBER.findall(NO_NUMBERS.sub("", printed))]
    for leaf in result.leaves:
        for number in unpack(leaf.value).ravel().tolist():
            assert np.isclose(numbers, number).any(), (leaf.name, number, printed)
    if framework != "torch":
        expected = in_printed_order(case, result)
        # Where the net returns no number JAX's listing prints what it returns, too.
        assert numbers[-len(expected) :] == pytest.approx(expected)


def in_printed_order(case: GradCase, result: Result) -> list[float]:
    """The numbers of an answer in the order in which the framework's own call returns them."""
    by_name: dict[str, Any] = {leaf.name: unpack(leaf.value) for leaf in result.leaves}
    names = [name for name in by_name if name in ("loss", "logits")]
    gradients = [name for name in by_name if name not in names]
    is_last = case.api == "grad" and case.has_aux
    order = [*gradients, *names] if is_last else [*names, *gradients]
    return [number for name in order for number in by_name[name].ravel().tolist()]


def pasted(code: str, folder: Path) -> str:
    """What a listing of MindSpore prints in a Python of its own."""
    command = [sys.executable, "-c", code]
    own = {"PATH": os.environ["PATH"], "GLOG_v": "4", "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    return ran(*command, cwd=folder, env=own).stdout


# PyTorch alone


@pytest.mark.whole
@pytest.mark.torch
@pytest.mark.usefixtures("own_nurseries")
def test_the_tape_does_not_wait_for_the_parts_that_make_graphs(torch: EngineRequests) -> None:
    request = CaseRequest(torch.net("dense_mse", "torch-tape"), GradCase("grad", 0, "all"))
    with Workers() as fresh:
        target = "tests.support.worker_targets:capture_then_look"
        assert fresh.call("torch", target, request, Word) == Word("autograd")


@pytest.mark.parametrize("engine", each(TORCH_ENGINES))
def test_a_weight_that_the_forward_writes_to_has_the_gradient_of_what_it_held(
    torch: EngineRequests, engine: str
) -> None:
    weight, x = np.array([[0.25, 1], [-0.75, 0.5]]), np.array([1, -2])
    through_tanh = np.array([4, 6]) * (1 - np.tanh(weight @ x) ** 2)
    result = torch.answer("data_clamped", engine, GradCase("grad", 0, "all"))
    found = np.array(values(result)["dfc.weight"])
    assert np.allclose(found, np.outer(through_tanh, x), rtol=1e-5)


@pytest.mark.parametrize("engine", each(TORCH_ENGINES))
def test_zeros_that_are_only_marked_as_such_are_zeros(torch: EngineRequests, engine: str) -> None:
    case = GradCase("grad", 0, order=2)
    answer = torch.answer("torch_marked_zeros", engine, case)
    assert values(answer) == {"dx": [0, 0, 0]}
    assert torch.capture("torch_marked_zeros", engine, case).result == answer


@pytest.mark.parametrize("api", ["grad", "value_and_grad"])
@pytest.mark.parametrize("engine", each(TORCH_ENGINES))
def test_what_no_output_depends_on_gets_zeros_and_a_note_where_they_are_made_up(
    torch: EngineRequests, engine: str, api: Any
) -> None:
    result = torch.answer("torch_odd", engine, GradCase(api, 2, "all"))
    assert values(result)["dspare"] == [0, 0]
    notes = {"grad": None, "value_and_grad": ResultNote("grad_is_none", "spare")}
    joint = ResultNote("joint_has_none", "spare")
    assert result.note == (joint if engine == "torch-graph" else notes[api])


@pytest.mark.torch
def test_a_description_names_parameters_buffers_and_outputs(torch: EngineRequests) -> None:
    described = torch.describe("conv_bn_relu_pool")
    trainable = {spec.name: spec.trainable for spec in described.parameters}
    assert trainable["bn.weight"]
    assert not trainable["bn.running_mean"]
    assert described.outputs[0].shape == ()
    assert isinstance(described.returned, Branch)
    raises = torch.describe("torch_raises")
    assert [spec.name for spec in raises.parameters] == ["fc.weight", "fc.bias"]


# MindSpore alone


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_an_answer_leaves_no_trace_in_the_next(engine: str, mindspore: EngineRequests) -> None:
    leaves = []
    # An answer has nothing to do with values of nodes: it is requested twice, and not kept.
    for has_values in (True, False):
        net = mindspore.net("conv_bn_relu_pool", engine)
        request = CaseRequest(net, GradCase("grad", 0, "all", True), has_values)
        answer = mindspore.call(f"{ENGINES[engine].module}:answer", request, Result)
        leaves.append(answer.leaves)
    assert leaves[0]
    assert leaves[0] == leaves[1]


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_get_all_gives_a_tuple_even_for_one_input(engine: str, mindspore: EngineRequests) -> None:
    case = GradCase("GradOperation", (0,), get_all=True)
    assert mindspore.answer("ms_shared", engine, case).written == "(dx,)"


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_ids_are_positions_and_parameter_names(engine: str, mindspore: EngineRequests) -> None:
    result = mindspore.answer("dense_mse", engine, GradCase("grad", (0, 1), "all"))
    assert result.ids == ("0", "1", "fc.weight")


@pytest.mark.mindspore
def test_why_a_call_with_return_ids_fails_is_noted(mindspore: EngineRequests) -> None:
    result = mindspore.answer("dense_mse", "mindspore-tape", GradCase("grad", 0, "one"))
    assert result.ids == ()
    assert result.note is not None
    assert result.note.error is not None
    assert "The tensor should have only one element" in result.note.error.message


@pytest.mark.mindspore
@pytest.mark.parametrize(("style", "is_asked"), [("graph", False), ("tape", True)])
def test_what_took_long_is_not_compiled_twice_for_the_names_of_return_ids(
    style: str, is_asked: bool, mindspore: EngineRequests
) -> None:
    net = NetRequest(scenario=str(net_file("ms_dense")), engine=f"mindspore-{style}")
    request = CaseRequest(net, GradCase("grad", (0, 1), "all"), ids=True)
    result = mindspore.call("tests.support.worker_targets:answer_after_long", request, Result)
    assert bool(result.ids) == is_asked
    assert (result.note == ResultNote("ids_take_long")) != is_asked


@pytest.mark.whole
@pytest.mark.mindspore
def test_a_net_of_many_parameters_is_not_compiled_twice_for_the_names_of_return_ids(
    mindspore: EngineRequests, tmp_path: Path
) -> None:
    path = str(written_net(tmp_path, "mlp", 16 * 33))
    results = {}
    for style in ("graph", "tape"):
        net = NetRequest(scenario=path, engine=f"mindspore-{style}")
        request = CaseRequest(net, GradCase("grad", 0, "all"), ids=True)
        target = f"explorer.engines.mindspore.{style}:answer"
        results[style] = mindspore.call(target, request, Result)
    assert len(results["tape"].ids) == 1 + 66
    assert (results["graph"].outcome, results["graph"].ids) == ("ok", ())
    assert results["graph"].note == ResultNote("ids_of_many", "66")
