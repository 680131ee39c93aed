"""Scenario files are found by name or by path; what is not there is refused with what there is."""

from pathlib import Path
from typing import Any

import pytest

from explorer.model.errors import ScenarioError
from explorer.scenario.find import FOLDER, REAL, find, module_name, names, real_names
from explorer.text.choices import EXAMPLES
from tests.support.nets import NETS
from tests.support.scenario_files import MINIMAL, written


def refusal(*where: Any) -> str:
    """The words with which a search is refused."""
    with pytest.raises(ScenarioError) as caught:
        find(*where)
    return str(caught.value)


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


def test_a_net_modelled_on_a_published_one_is_found_with_and_without_its_folder() -> None:
    assert find("real/gpt") == find("gpt") == REAL / "gpt.py"
    assert real_names()["real/gpt"] == REAL / "gpt.py"
    assert "gpt" not in names()


def test_no_two_shipped_scenarios_share_a_name() -> None:
    assert names((FOLDER,)).keys().isdisjoint(names((REAL,)))


def test_a_shipped_scenario_is_imported_from_its_folder_and_no_other_file_is() -> None:
    assert module_name(FOLDER / "lstm.py") == "scenarios.lstm"
    assert module_name(REAL / "gpt.py") == "scenarios.real.gpt"
    assert module_name(NETS / "square.py") is None


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("dense_msee", "did you mean 'dense_mse'?"),
        ("zzzzzz", "aliased_input"),
        ("real/gtp", "did you mean 'real/gpt'?"),
        ("dense_mse.py", "did you mean 'dense_mse'?"),
        ("", "unknown scenario ''"),
    ],
)
def test_what_is_not_a_scenario_is_refused_with_what_there_is(name: str, fragment: str) -> None:
    message = refusal(name)
    assert fragment in message
    # As many as it lists: each of real/ has two names, and is one scenario.
    number = len(names()) + len(real_names())
    assert message.endswith(f" `python -m explorer scenario` lists all {number}")


def test_a_name_that_is_like_none_gets_a_few_examples_and_no_proposal() -> None:
    message = refusal("my_nett")
    assert "did you mean" not in message
    _, _, allowed = message.partition("allowed: ")
    assert len(allowed.split(", ")) == EXAMPLES + 1  # and how to see all


@pytest.mark.parametrize("name", ["nowhere.py", "../scenarios/dense_mse", "./a/unet.py"])
def test_for_a_path_no_name_is_proposed(name: str) -> None:
    expected = f"scenario file {name!r} does not exist; give a .py file or a scenario's name"
    assert refusal(name) == expected


def test_in_other_folders_no_shipped_scenario_is_found(tmp_path: Path) -> None:
    path = written(tmp_path, MINIMAL, "mine.py")
    assert find("mine", (tmp_path,)) == path
    for name in ("real/gpt", "dense_mse"):
        assert "mine" in refusal(name, (tmp_path,))


def test_a_folder_or_a_file_of_another_kind_is_no_scenario() -> None:
    assert "is a folder; give a .py file or a scenario's name" in refusal(str(FOLDER))
    assert "is no .py file; give a .py file or" in refusal(str(FOLDER.parent / "README.md"))
