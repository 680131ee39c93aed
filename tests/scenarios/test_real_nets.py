"""The nets modelled on published ones are sound files."""

from pathlib import Path

import numpy as np
import pytest

from explorer.model.engines import FRAMEWORKS
from explorer.scenario.find import REAL, names
from explorer.scenario.load import load

NETS = names((REAL,))


def test_there_are_at_least_thirty_of_them() -> None:
    assert len(NETS) >= 30


@pytest.mark.parametrize("path", NETS.values(), ids=lambda path: path.stem)
def test_a_net_has_a_title_notes_that_read_well_and_both_frameworks(path: Path) -> None:
    scenario = load(path)
    assert 0 < len(scenario.title) < 80
    assert "Watch" in scenario.notes
    assert max(map(len, scenario.notes.splitlines())) <= 120
    assert all(scenario.defines(framework) for framework in FRAMEWORKS)


@pytest.mark.parametrize("path", NETS.values(), ids=lambda path: path.stem)
def test_inputs_are_the_same_at_every_call(path: Path) -> None:
    scenario = load(path)
    first, second = scenario.inputs(), scenario.inputs()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], strict=True)
