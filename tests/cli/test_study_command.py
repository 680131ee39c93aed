"""The ``study`` command: one study's tables and files, and what a time limit leaves out."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.topics import STUDIES, study_topic


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


def test_no_study_gives_a_measurement_less_than_a_busy_machine_needs() -> None:
    # The slowest take forty seconds on two free cores.
    assert min(study_topic(name).seconds for name in STUDIES) >= 400


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
