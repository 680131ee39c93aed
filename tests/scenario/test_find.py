"""Scenario files are found by name or by path; what is not there is refused with what there is."""

from pathlib import Path

import pytest

from explorer.model.errors import ScenarioError
from explorer.scenario.find import FOLDER, find, names
from tests.support.nets import NETS
from tests.support.scenario_files import MINIMAL, written


def test_names_are_sorted_and_of_two_with_one_name_the_first_folder_s_counts(
    tmp_path: Path,
) -> None:
    for name in ("dense_mse.py", "aaa.py", "_hidden.py"):
        written(tmp_path, MINIMAL, name)
    known = names((FOLDER, tmp_path))
    assert list(known) == sorted(known)
    assert known["dense_mse"].parent == FOLDER
    assert known["aaa"].parent == tmp_path
    assert "_hidden" not in known


def test_a_scenario_is_found_by_name_or_by_file() -> None:
    assert find("dense_mse") == FOLDER / "dense_mse.py"
    assert find(str(NETS / "one_framework.py")) == NETS / "one_framework.py"


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("dense_msee", "did you mean 'dense_mse'?"),
        ("zzzzzz", "aliased_input"),
        ("nowhere.py", "scenario file 'nowhere.py' does not exist"),
        ("../scenarios/dense_mse", "'../scenarios/dense_mse'"),
        ("tests", "'tests'"),
    ],
)
def test_what_is_not_a_scenario_is_refused_with_what_there_is(name: str, fragment: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        find(name)
    assert fragment in str(caught.value)
