"""Source lines of a node: which files say something to a reader, and in what order they stand."""

from pathlib import Path

import pytest

from explorer.engines.source_lines import LIBRARY_LINES, display_name, file_kind, user_first

PACKAGE = Path("/site-packages/torch")
ENGINE = Path("/explorer/engines/torch")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/home/me/net.py", "user"),
        ("/site-packages/numpy/core.py", "user"),
        ("/site-packages/torch/nn/linear.py", "library"),
        ("/site-packages/torch/_tensor.py", "plumbing"),
        ("<string>", "plumbing"),
        ("/explorer/engines/torch/net.py", "engine"),
        ("/explorer/engines/torch/deeper/net.py", "user"),
    ],
)
def test_a_file_is_user_code_library_plumbing_or_the_engine(name: str, kind: str) -> None:
    assert file_kind(name, PACKAGE, ENGINE, lambda path: not path.startswith("nn/")) == kind


def test_a_file_of_the_framework_is_shown_under_its_name_and_any_other_by_its_own() -> None:
    assert display_name("/site-packages/torch/nn/linear.py", PACKAGE) == "torch/nn/linear.py"
    assert display_name("/home/me/net.py", PACKAGE) == "net.py"


def test_all_lines_of_the_user_stand_before_a_few_of_the_library() -> None:
    users = [f"net.py:{line}" for line in range(9)]
    library = [f"torch/nn/linear.py:{line}" for line in range(9)]
    assert user_first(users, library) == (*users, *library[:LIBRARY_LINES])


def test_a_framework_that_is_reached_through_a_symbolic_link_is_known_for_what_it_is(
    tmp_path: Path,
) -> None:
    package = tmp_path / "environment" / "torch"
    package.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "environment")
    name = str(tmp_path / "link" / "torch" / "nn" / "linear.py")
    assert file_kind(name, package, ENGINE, lambda path: not path.startswith("nn/")) == "library"
    assert display_name(name, package) == "torch/nn/linear.py"
