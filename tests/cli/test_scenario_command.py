"""The ``scenario`` command: the main job with its files, and how it ends."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from explorer.model.engines import ENGINES
from tests.support.command_line import ENVIRONMENT, ROOT, explorer
from tests.support.nets import NETS

SQUARE = str(NETS / "square.py")

Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """The main job on a net of one op in all four engines, from a folder of its own, with files."""
    folder = tmp_path_factory.mktemp("work")
    return explorer("scenario", SQUARE, "--out", "out", "--json", cwd=folder), folder


@pytest.mark.mindspore
@pytest.mark.torch
def test_the_main_job_prints_one_json_document_and_nothing_else(whole: tuple[Done, Path]) -> None:
    done, folder = whole
    assert done.stderr == ""
    assert done.returncode == 0
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["scenario"] == "square"
    assert set(document["devices"]) == set(ENGINES)
    by_name = {case["short"]: case for case in document["cases"]}
    case = by_name["grad(0)"]
    assert [result["values"] for result in case["results"].values()] == [[2.0, 4.0, 6.0]] * 4
    assert (case["verdict"], case["expected"], case["oracle"]["agrees"]) == ("match", True, True)
    assert json.loads((folder / "out" / "report.json").read_text()) == document


@pytest.mark.mindspore
@pytest.mark.torch
def test_the_main_job_leaves_its_files_and_no_others(whole: tuple[Done, Path]) -> None:
    _, folder = whole
    names = {path.name for path in (folder / "out").iterdir()}
    assert names >= {"report.json", *(f"{engine}.svg" for engine in ENGINES)}
    pattern = r"(mindspore|torch)-(graph|tape)(-\w+)?\.svg|report\.json"
    assert all(re.fullmatch(pattern, name) for name in names)
    assert [path.name for path in folder.iterdir()] == ["out"]


@pytest.mark.mindspore
@pytest.mark.torch
def test_two_engines_can_be_asked_alone_and_read_without_colour() -> None:
    engines = ("--engine", "torch-tape", "--engine", "mindspore-tape")
    done = explorer("scenario", SQUARE, *engines, NO_COLOR="1", COLUMNS="100")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert done.stdout.splitlines()[-1].endswith("; 0 unexpected")
    assert "torch-graph" not in done.stdout


@pytest.mark.torch
def test_a_worker_that_outlives_its_time_is_reported_and_exits_with_3() -> None:
    scenario = str(NETS / "sleeper.py")
    done = explorer("scenario", scenario, "--engine", "torch-tape", "--timeout", "1", "--json")
    assert done.returncode == 3
    cases = json.loads(done.stdout)["cases"]
    assert {case["results"]["torch-tape"]["outcome"] for case in cases} == {"timed_out"}


@pytest.mark.mindspore
@pytest.mark.torch
def test_interrupting_stops_the_workers_quietly(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "explorer", "scenario", "dense_mse"],
        cwd=ROOT,
        env={**ENVIRONMENT, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir())  # a worker's scratch folder, which goes when the worker is gone
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []
