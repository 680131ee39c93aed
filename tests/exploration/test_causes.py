"""Why two nets differ: arguments that were tried in the real frameworks, and that explain it."""

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from explorer.exploration.explore import explore
from explorer.model.graph import Arguments
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.causes import MISTAKES, net_with

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PAIRS = (("torch-tape", "mindspore-graph"), ("mindspore-tape", "torch-graph"))

SAMPLE = {"eps of batch norm", "momentum the other way round", "gelu by erf", "nothing"}
"""Those that are run without ``--whole``."""


DECOMPOSED = {("aligned corners", "torch-graph")}
"""Where PyTorch's compiled graph has other ops in the place of the one with the argument."""


def parameters() -> list[ParameterSet]:
    return [
        pytest.param(name, marks=[] if name in SAMPLE else [pytest.mark.whole]) for name in MISTAKES
    ]


def compared(name: str, engines: tuple[str, ...], folder: Path, workers: Workers) -> Report:
    scenario = load(net_with(MISTAKES[name], folder))
    return explore(scenario, workers, engines=engines, selection="main", oracle=False)


@pytest.mark.parametrize("engines", PAIRS, ids="-".join)
@pytest.mark.parametrize("name", parameters())
def test_the_argument_that_makes_the_difference_is_found_by_trying_it(
    name: str, engines: tuple[str, ...], tmp_path: Path, workers: Workers
) -> None:
    (alignment,) = compared(name, engines, tmp_path, workers).alignments
    found = [cause.arguments for cause in alignment.causes if cause is not None]
    explained_by = MISTAKES[name].explained_by
    assert len(alignment.causes) == len(alignment.divergences)
    if explained_by is None or (name, engines[1]) in DECOMPOSED:
        assert found == []
    else:
        (arguments,) = found
        assert rounded(arguments) == explained_by


def rounded(arguments: Arguments) -> Arguments:
    """Arguments with the digits that single precision has."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in arguments.items()
    }


def test_nothing_is_tried_where_two_graphs_are_the_same(tmp_path: Path, workers: Workers) -> None:
    (alignment,) = compared("nothing", PAIRS[0], tmp_path, workers).alignments
    assert alignment.divergence is None
    assert alignment.causes == ()
