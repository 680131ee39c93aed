"""``correspond``: one row by any of its names, lists, documents, and the page of the documentation."""

import json

import pytest

from explorer.cli.entry import run
from explorer.operators.table import correspondences
from explorer.report.correspondences import page
from tests.support.command_line import ROOT

PAGE = ROOT / "docs" / "reference" / "correspondences.md"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["correspond", *arguments]) == 0
    return capsys.readouterr().out


def test_a_layer_is_shown_argument_by_argument(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [" ".join(line.split()) for line in printed(capsys, "nn.BatchNorm2d").splitlines()]
    assert lines[0] == "nn.BatchNorm2d – torch.nn.BatchNorm2d"
    assert "momentum 0.9 momentum 0.1 1 − the other's" in lines
    assert "track_running_stats True MindSpore has no such argument: as with `True`" in lines
    assert "The defaults do the same." in lines


def test_a_name_of_several_rows_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split() for line in printed(capsys, "softmax").splitlines()[1:]]
    assert rows == [
        ["ops.softmax", "torch.nn.functional.softmax", "`axis/dim`"],
        ["nn.Softmax", "torch.nn.Softmax", "`axis/dim`"],
        ["ops.Softmax", "aten._softmax"],
    ]


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()[1:]
    # A long list of arguments goes on in a line of its own.
    names = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert names == [row.name("mindspore") for row in correspondences()]


def test_the_document_has_both_sides_of_each_argument(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(printed(capsys, "nn.Dense", "--json"))["correspondences"]
    assert row["torch"] == "torch.nn.Linear"
    assert row["weights"] == {"weight": "weight", "bias": "bias"}
    by_name = {each["mindspore"]["name"]: each for each in row["arguments"] if each["mindspore"]}
    assert by_name["has_bias"]["torch"] == {"name": "bias", "default": "True", "is_required": False}
    assert by_name["in_channels"]["torch"]["is_required"]
    assert by_name["activation"]["torch"] is None
    assert not any(each["differs_by_default"] for each in row["arguments"])
    # It is English whoever reads.
    whole = printed(capsys, "--json")
    assert run(["--lang", "zh", "correspond", "--json"]) == 0
    assert capsys.readouterr().out == whole
    assert len(json.loads(whole)["correspondences"]) == len(correspondences())


def test_in_chinese_all_but_code_is_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--lang", "zh", "correspond", "nn.GELU"]) == 0
    text = capsys.readouterr().out
    assert "默认行为不同（≠）。" in text
    assert "nn.GELU(approximate=False)" in text
    assert "default" not in text


def test_the_page_of_the_documentation_is_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """``python -m explorer correspond --markdown`` writes it anew."""
    written = PAGE.read_text(encoding="utf-8")
    assert written == page() == printed(capsys, "--markdown")
    assert written.count("\n### ") == len(correspondences())
    text = printed(capsys, "nn.GELU", "--markdown")
    assert text.startswith("## `nn.GELU` – `torch.nn.GELU`\n")
    assert "- as PyTorch's by default: `nn.GELU(approximate=False)`" in text
