"""Environments that are given by a path have short names where a comparison is read."""

import msgspec
import pytest

from explorer.model.report import Report
from explorer.report.diff import comparison_lines
from explorer.report.short_names import short_names, with_short_names
from tests.support.sample_report import report


@pytest.mark.parametrize(
    ("environments", "names"),
    [
        (["", "torch26"], {}),
        (["/home/a/torch26/bin/python3.12"], {"/home/a/torch26/bin/python3.12": "torch26"}),
        (["C:\\envs\\new\\python.exe"], {"C:\\envs\\new\\python.exe": "new"}),
        (
            ["/a/.venv/bin/python", "/b/.venv"],
            {"/a/.venv/bin/python": "a/.venv", "/b/.venv": "b/.venv"},
        ),
        (["new", "/a/new/bin/python"], {"/a/new/bin/python": "a/new"}),
        (["/a/bin/python", "/a"], {"/a/bin/python": "/a/bin/python", "/a": "/a"}),
    ],
)
def test_a_path_is_named_by_its_last_folders(
    environments: list[str], names: dict[str, str]
) -> None:
    assert short_names(environments) == names


def test_a_comparison_has_no_path_of_a_python_in_it() -> None:
    content = msgspec.json.encode(report())
    content = content.replace(b"torch-tape", b"torch-tape@/home/a/torch26/bin/python")
    whole = msgspec.json.decode(content, type=Report)
    given = ["torch-tape@/home/a/torch26/bin/python", "mindspore-graph"]
    shown, engines = with_short_names(whole, given)
    assert engines == ["torch-tape@torch26", "mindspore-graph"]
    lines = list(comparison_lines(shown, engines))
    assert any("torch-tape@torch26" in line for line in lines)
    assert not any("/home" in line for line in lines)
    assert any("/home" in line for line in comparison_lines(whole, given))
    # All else is as it was, a key that is the path too, and not a text with the path alone.
    path, name = "/home/a/torch26/bin/python", "torch26"
    versions = {path: {"torch": path}, "": {"numpy": "1"}}
    both = msgspec.structs.replace(whole, environments=versions)
    shown, _ = with_short_names(both, given)
    assert shown.environments == {name: {"torch": path}, "": {"numpy": "1"}}
    again = msgspec.json.encode(with_short_names(whole, given)[0])
    assert again == msgspec.json.encode(whole).replace(f"@{path}".encode(), f"@{name}".encode())
