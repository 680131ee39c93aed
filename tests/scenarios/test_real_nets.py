"""The nets modelled on published ones: sound files, and no divergence between the tapes."""

from pathlib import Path

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.exploration.explore import explore
from explorer.model.engines import NEEDED
from explorer.scenario.find import REAL, names
from explorer.scenario.load import load
from explorer.words.divergences import first_divergence
from explorer.workers.workers import Workers
from tests.planted.naming import TAPES
from tests.support.samples import sampled

NETS = names((REAL,))


def test_there_are_at_least_thirty_of_them() -> None:
    assert len(NETS) >= 30


@pytest.mark.parametrize("path", NETS.values(), ids=lambda path: path.stem)
def test_a_net_has_a_title_notes_that_read_well_and_both_frameworks(path: Path) -> None:
    scenario = load(path)
    assert 0 < len(scenario.title) < 80
    assert "Watch" in scenario.notes
    assert max(map(len, scenario.notes.splitlines())) <= 120
    assert all(scenario.defines(framework) for framework in NEEDED)


@pytest.mark.parametrize("path", NETS.values(), ids=lambda path: path.stem)
def test_inputs_are_the_same_at_every_call(path: Path) -> None:
    scenario = load(path)
    first, second = scenario.inputs(), scenario.inputs()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], strict=True)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("path", sampled(NETS.values(), 1), ids=lambda path: path.stem)
def test_the_tapes_agree_on_every_result_and_nothing_is_named(path: Path, workers: Workers) -> None:
    report = explore(load(path), workers, engines=TAPES, selection="main")
    (case,) = report.cases
    assert case.verdict == "match"
    for graph in report.graphs:
        assert lint(graph) == []
        assert 30 <= len(graph.nodes) <= 600, graph.engine
    assert {finding.kind for finding in report.findings} <= {"masks"}
    (alignment,) = report.alignments
    assert alignment.divergence is None, first_divergence(alignment)
