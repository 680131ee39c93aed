"""The ``study`` command: its refusals, and one study's tables and files."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.topics import STUDIES, study_topic


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["study", "scale"], "unknown study 'scale'; did you mean 'loss-scale'?"),
        (["study", "data-parallel", "dense_mse"], "takes no scenario"),
        (["study", "devices", "nowhere"], "unknown scenario 'nowhere'"),
        (["study", "devices", ""], "unknown scenario ''"),
        (
            ["study", "devices", "--format", "png"],
            "--format needs a folder to write the files into; add --out DIR",
        ),
        (["study", "devices", "--out", "x", "--format", "dot"], "unknown format 'dot'"),
        (["study", "devices", "--device", "gpu"], "unknown device 'gpu'"),
        (
            ["study", "devices", "--timeout", "0"],
            "--timeout must be a positive number of seconds, got 0",
        ),
        (
            ["study", "devices", "--request-timeout", "-1"],
            "--request-timeout must be a positive number of seconds, got -1",
        ),
        (["study", "higher-order", "embedding_repeats"], "has none of a floating dtype"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(
    arguments: list[str],
    fragment: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert fragment in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_a_study_prints_its_tables_and_writes_pictures_record_and_page(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    formats = ["--out", str(tmp_path), "--format", "svg,json,markdown"]
    assert run(["study", "devices", "polynomial", *formats]) == 0
    assert "The same cases on each device" in capfd.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {
        "devices-matrix.svg",
        "devices.json",
        "devices.md",
    }
    record = json.loads((tmp_path / "devices.json").read_text())
    assert record["measured"]["devices.sees.torch"]["figures"]["available"]["cpu"] is True
    assert "devices-matrix.svg" in (tmp_path / "devices.md").read_text()


@pytest.mark.parametrize("name", STUDIES)
def test_no_study_gives_a_measurement_less_than_a_busy_machine_needs(name: str) -> None:
    # The slowest take forty seconds on two free cores.
    assert study_topic(name).seconds >= 400


@pytest.mark.torch
def test_what_a_time_limit_left_out_is_reported_and_loses_the_study(
    capfd: pytest.CaptureFixture[str],
) -> None:
    # A study of small programs; none of them ends within a thousandth of a second.
    assert run(["study", "devices", "polynomial", "--timeout", "0.001"]) == 3
    shown = " ".join(capfd.readouterr().out.split())
    # All of them for one reason, which stands there once.
    assert "Not measured Messages are shortened; the record has the whole messages" in shown
    assert shown.count("not_asked: the time limit of the whole run was reached") == 1
    assert "devices.sees.mindspore, devices.sees.torch, " in shown
