"""Shipped nets: PyTorch's make what they need where their inputs are; those in JAX answer alike."""

import runpy
from typing import Any

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.scenario.find import REAL, SHIPPED, names
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.samples import some

DECIDE_BY_A_VALUE = ("branch_on_value", "while_loop")
"""Nets that read a value, which a device of shapes does not hold and jax.jit does not know."""


@pytest.mark.torch
@pytest.mark.parametrize(
    "name", some(sorted(names(SHIPPED)), *(names(SHIPPED).keys() - names((REAL,))))
)
def test_a_net_runs_where_its_inputs_are(name: str) -> None:
    """On the device of shapes without values a tensor of the CPU among the others is an error."""
    import torch

    scenario = runpy.run_path(str(names(SHIPPED)[name]))
    net = scenario["torch_net"]()
    if isinstance(net, torch.nn.Module):
        net.to("meta")
    inputs = [torch.as_tensor(value).to("meta") for value in scenario["inputs"]().values()]
    if name in DECIDE_BY_A_VALUE:
        with pytest.raises(RuntimeError, match=r"item\(\) cannot be called on meta tensors"):
            net(*inputs)
        return
    results = tensors(net(*inputs))
    assert results
    assert {result.device.type for result in results} == {"meta"}


def tensors(result: Any) -> list[Any]:
    """All tensors of a net's result."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple | list):
        return [tensor for part in result for tensor in tensors(part)]
    assert not isinstance(result, np.ndarray)
    return [result]


PATHS = names(SHIPPED)

WITHOUT = {"text_cnn"}
"""Its dropout is random, and a pure function would need a key."""

ENGINES = ("jax-tape", "jax-graph", "torch-tape")


def nets() -> list[Any]:
    """The names of the scenarios; those on published nets only ``--whole`` runs."""
    parameters = []
    for name in sorted({*PATHS} - WITHOUT):
        marks = (pytest.mark.whole,) if PATHS[name].parent == REAL else ()
        parameters.append(pytest.param(name, marks=marks))
    return parameters


def test_every_shipped_scenario_but_one_has_a_net_in_jax() -> None:
    without = {name for name, path in PATHS.items() if "\ndef jax_net():" not in path.read_text()}
    assert without == WITHOUT


@pytest.mark.jax
@pytest.mark.torch
@pytest.mark.parametrize("name", nets())
def test_a_net_in_jax_answers_as_pytorch_s_does_or_as_its_file_expects(
    name: str, workers: Workers
) -> None:
    report = explore(load(PATHS[name]), workers, engines=ENGINES, selection="main", oracle=False)
    assert report.is_as_expected
    (case,) = report.cases
    outcomes = {engine: result.outcome for engine, result in case.results.items()}
    graph = "unsupported" if name in DECIDE_BY_A_VALUE else "ok"
    assert outcomes == {"jax-tape": "ok", "jax-graph": graph, "torch-tape": "ok"}
