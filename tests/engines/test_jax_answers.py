"""What the two engines of JAX answer, asked of them through their worker."""

import re
from typing import Any

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import Nothing
from explorer.model.results import About
from explorer.model.trees import branch
from explorer.numeric.cotangents import cotangent
from explorer.scenario.matrix import matrix, structure
from explorer.workers.workers import Workers
from tests.support.jax_requests import JAX_ENGINES, Jax, run_listing
from tests.support.torch_requests import values

pytestmark = pytest.mark.jax

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
KEY = re.compile(r"'[^']*'|dtype=\w+|float32")


@pytest.fixture(scope="module")
def jax(workers: Workers) -> Jax:
    return Jax(workers)


def test_about_tells_the_version_and_the_devices(jax: Jax) -> None:
    about = jax.call("explorer.engines.jax.about:about", Nothing(), About)
    assert about.versions["jax"].startswith("0.")
    assert about.devices[0] == "cpu"


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_every_case_comes_back_in_mindspore_s_structure(jax: Jax, engine: str) -> None:
    for case in matrix(2, True):
        result = jax.answer("dense_mse", engine, case)
        if case.must_fail:
            assert (result.outcome, result.leaves) == ("raised", ())
        else:
            assert result.structure == structure(
                case, ("x", "y"), ("fc.weight",), branch("loss", "logits")
            )


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_has_aux_false_differentiates_the_sum_of_the_outputs_and_true_the_first(
    jax: Jax, engine: str
) -> None:
    assert values(jax.answer("dense_mse", engine, GradCase("grad", 0))) == {"dx": [[6, 9, 12]]}
    both = values(jax.answer("dense_mse", engine, GradCase("grad", (0, 1), "all", has_aux=True)))
    assert both == {"dx": [[4, 6, 8]], "dy": -2, "dfc.weight": [[2, 4, 6]], "logits": 20}


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_sens_param_brings_cotangents_that_differ_from_output_to_output(
    jax: Jax, engine: str
) -> None:
    case = GradCase("GradOperation", 0, sens_param=True)
    loss, logits = (float(cotangent(index, (), "float32")) for index in range(2))
    expected = 2 * np.array([[2, 3, 4]]) * loss + np.array([[2, 3, 4]]) * logits
    assert values(jax.answer("dense_mse", engine, case)) == {"dx": expected.tolist()}


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_an_array_at_two_places_is_two_variables(jax: Jax, engine: str) -> None:
    # The net multiplies them: that of one variable at both places would be twice as great.
    assert values(jax.answer("aliased_input", engine, GradCase("grad", 0))) == {"da": [1, 2, 3]}


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_an_integer_and_a_missing_auxiliary_output_are_refused_in_jax_s_words(
    jax: Jax, engine: str
) -> None:
    integer = jax.answer("integer_input", engine, GradCase("grad", 1))
    assert integer.outcome == "raised"
    assert integer.error
    assert integer.error.type == "TypeError"
    assert integer.error.message.startswith("grad requires real- or complex-valued inputs")
    bare = jax.answer("polynomial", engine, GradCase("grad", 0, has_aux=True))
    assert bare.error
    assert bare.error.message.startswith(
        "expected function with aux output to return a two-element"
    )


def test_python_that_depends_on_values_runs_on_the_tape_and_is_refused_by_jit(jax: Jax) -> None:
    assert jax.answer("while_loop", "jax-tape", GradCase("grad", 0)).outcome == "ok"
    refused = jax.answer("while_loop", "jax-graph", GradCase("grad", 0))
    assert refused.outcome == "unsupported"
    assert refused.error
    assert refused.error.type == "TracerBoolConversionError"
    assert "while_loop.py:" in refused.error.source


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_a_gradient_of_a_gradient_is_that_of_its_sum(jax: Jax, engine: str) -> None:
    first = values(jax.answer("vector_chain", engine, GradCase("grad", 0)))["dx"]
    second = values(jax.answer("vector_chain", engine, GradCase("grad", 0, order=2)))["dx"]
    assert np.shape(first) == np.shape(second)
    third = jax.answer("polynomial", engine, GradCase("grad", 0, order=3))
    assert third.outcome == "ok", third.error


def numbers(text: str) -> list[float]:
    """The numbers that a listing prints, without those in names."""
    return [float(number) for number in NUMBER.findall(KEY.sub("", text))]


def in_jax_s_order(case: GradCase, result: Any) -> list[float]:
    """The numbers of an answer in the order in which JAX prints them: the value goes first."""
    by_name = {leaf.name: unpack(leaf.value).ravel().tolist() for leaf in result.leaves}
    names = [name for name in by_name if name in ("loss", "logits")]
    gradients = [name for name in by_name if name not in names]
    is_last = case.api == "grad" and case.has_aux
    order = [*gradients, *names] if is_last else [*names, *gradients]
    return [number for name in order for number in by_name[name]]


@pytest.mark.parametrize("engine", JAX_ENGINES)
@pytest.mark.parametrize(
    "case",
    [
        GradCase("grad", 0, has_aux=True),
        GradCase("grad", (0, 1), "all", has_aux=True),
        GradCase("value_and_grad", 0, "one", has_aux=True),
        GradCase("value_and_grad", (0, 1), "all"),
    ],
    ids=lambda case: case.short,
)
def test_the_code_prints_the_answer(jax: Jax, engine: str, case: GradCase) -> None:
    result = jax.answer("dense_mse", engine, case)
    assert numbers(run_listing(result.code)) == pytest.approx(in_jax_s_order(case, result))


def test_the_code_of_explicit_cotangents_and_of_nested_gradients_runs(jax: Jax) -> None:
    seeded = GradCase(
        "GradOperation", (0, 1), "all", get_all=True, get_by_list=True, sens_param=True
    )
    for name, case in (("dense_mse", seeded), ("vector_chain", GradCase("grad", 0, order=2))):
        result = jax.answer(name, "jax-graph", case)
        printed = numbers(run_listing(result.code))
        last = unpack(result.leaves[-1].value).ravel().tolist()
        assert printed[-len(last) :] == pytest.approx(last)


@pytest.mark.parametrize(
    "case",
    [
        GradCase("grad", (0, 1), "all"),
        GradCase("grad", 0, order=2),
    ],
    ids=lambda case: case.short,
)
def test_inputs_that_are_called_as_a_listing_s_variables_get_other_ones(
    jax: Jax, case: GradCase
) -> None:
    result = jax.answer("jax_names", "jax-tape", case)
    assert result.outcome == "ok", result.error
    expected = in_jax_s_order(case, result)
    # Where the net returns no number the listing prints what it returns, too.
    assert numbers(run_listing(result.code))[-len(expected) :] == pytest.approx(expected)
