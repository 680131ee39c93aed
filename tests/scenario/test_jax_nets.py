"""Each shipped net in JAX answers as PyTorch's does from the same start, or as its file expects."""

from typing import Any

import pytest

from explorer.exploration.explore import explore
from explorer.scenario.find import REAL, SHIPPED, names
from explorer.scenario.load import load
from explorer.workers.workers import Workers

PATHS = names(SHIPPED)

WITHOUT = {"text_cnn"}
"""Its dropout is random, and a pure function would need a key."""

DECIDE_BY_A_VALUE = ("branch_on_value", "while_loop")
"""Nets that read a value, which jax.jit does not know."""

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
