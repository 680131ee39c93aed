"""The ``study`` command: the list, what it refuses, one study's files, and what a record looks like
when something is missing.
"""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from explorer.cli.entry import run
from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.model.study import StudyRecord, Table
from explorer.report import study as pages
from explorer.topics import STUDIES, study
from explorer.topics.evidence import Evidence


def test_the_list_has_every_study_with_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown and study(name).question in shown for name in STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_copes_with_no_evidence_at_all(name: str) -> None:
    telling = study(name).tell(Evidence({}))
    assert all(len(row) == len(table.columns) for table in telling.tables for row in table.rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["study", "scale"], "no study is called 'scale'; did you mean 'loss-scale'?"),
        (["study", "data-parallel", "dense_mse"], "takes no scenario"),
        (["study", "devices", "nowhere"], "no scenario is called 'nowhere'"),
        (["study", "devices", "--format", "png"], "give the folder too"),
        (["study", "devices", "--out", "x", "--format", "dot"], "no format is called 'dot'"),
        (["study", "devices", "--device", "gpu"], "no device is called 'gpu'"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_study_prints_its_tables_and_writes_pictures_record_and_page(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            [
                "study",
                "devices",
                "polynomial",
                "--out",
                str(tmp_path),
                "--format",
                "svg,json,markdown",
            ]
        )
        == 0
    )
    shown = capfd.readouterr().out
    assert "The matrix on each device" in shown
    assert {path.name for path in tmp_path.iterdir()} == {
        "devices-matrix.svg",
        "devices.json",
        "devices.md",
    }
    record = json.loads((tmp_path / "devices.json").read_text())
    assert record["measured"]["devices.sees.torch"]["figures"]["available"]["cpu"] is True
    assert "devices-matrix.svg" in (tmp_path / "devices.md").read_text()


def test_what_could_not_be_measured_is_said_with_the_reason() -> None:
    lost = Measured(
        outcome="unsupported", error=Failure("MissingFramework", "No module named 'torch'")
    )
    record = StudyRecord(
        study="s", title="S", question="What?", scenario="", device="cpu", versions={}, measured={"s.one": lost}, findings=(),
        tables=(Table(title="t", columns=("a", "b"), rows=((1, None), (0.1234567891, True))),), charts=(),
    )  # fmt: skip
    console = Console(width=100, record=True, file=io.StringIO())
    pages.show(record, console)
    shown = console.export_text()
    assert "s.one: MissingFramework: No module named 'torch'" in shown
    assert "0.123457" in shown
    assert "—" in shown
    assert "## Not measured" in pages.markdown(record, {})
