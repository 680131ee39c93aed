"""The ``scenario`` command: the main job with its files, and how it ends."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.cli.entry import run
from explorer.cli.exit_codes import AS_EXPECTED, DIFFERENT, LOST, USAGE_ERROR
from explorer.cli.scenario import _exit_code_of_two, exit_code
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import LeftOut, Ungraphed
from explorer.report.scenario.graphs import NoGraphError, graphs_of
from tests.support.command_line import ROOT, environment, explorer
from tests.support.nets import NETS
from tests.support.sample_report import alignment, report
from tests.support.standard_engines import ENGINES

SQUARE = str(NETS / "square.py")


@pytest.mark.mindspore
@pytest.mark.torch
def test_the_main_job_prints_one_json_document_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    done = explorer("scenario", SQUARE, "--out", "out", "--json", cwd=folder)
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
    # It leaves its files and no others.
    names = {path.name for path in (folder / "out").iterdir()}
    assert names >= {"report.json", *(f"{engine}.svg" for engine in ENGINES)}
    pattern = r"(mindspore|torch)-(graph|tape)(-\w+)?\.svg|report\.json"
    assert all(re.fullmatch(pattern, name) for name in names)
    assert [path.name for path in folder.iterdir()] == ["out"]


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_two_engines_can_be_asked_alone_and_read_without_colour(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    engines = ["--engine", "torch-tape", "--engine", "mindspore-tape"]
    assert run(["scenario", SQUARE, *engines]) == 0
    printed, complaints = capfd.readouterr()
    assert complaints == ""
    assert "\x1b" not in printed
    assert max(map(len, printed.splitlines())) <= 100
    assert printed.splitlines()[-1].endswith("; all as expected")
    assert "torch-graph" not in printed


@pytest.mark.torch
@pytest.mark.sample
@pytest.mark.whole
def test_a_worker_that_outlives_its_time_is_reported_and_exits_with_3() -> None:
    options = ("--engine", "torch-tape", "--request-timeout", "1", "--json")
    done = explorer("scenario", str(NETS / "sleeper.py"), *options)
    assert done.returncode == 3
    cases = json.loads(done.stdout)["cases"]
    assert {case["results"]["torch-tape"]["outcome"] for case in cases} == {"timed_out"}


START_SECONDS = 120
STOP_SECONDS = 30
"""By when a command has started its first worker, and has ended after Ctrl-C, on any machine."""

WITH_CTRL_C = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from explorer.cli.entry import main; main()"
)
"""The command line of a shell's foreground job; one in the background ignores Ctrl-C."""


@contextmanager
def started(scratch: Path, output: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command under way that prints to ``output``, and whose workers work in ``scratch``."""
    with (
        output.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-c", WITH_CTRL_C, *arguments],
            cwd=ROOT,
            env=environment(TMPDIR=str(scratch)),
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
        ) as child,
    ):
        try:
            yield child
        finally:
            child.kill()


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_so()


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.own_store
def test_interrupting_before_the_first_answer_stops_the_workers_quietly(tmp_path: Path) -> None:
    scratch, output = tmp_path / "scratch", tmp_path / "output"
    scratch.mkdir()
    with started(scratch, output, "scenario", "dense_mse") as child:
        # A worker's scratch folder, which goes when the worker is gone.
        wait_until(lambda: list(scratch.iterdir()))
        child.send_signal(signal.SIGINT)
        assert child.wait(STOP_SECONDS) == 130
    assert output.read_text() == ""
    assert list(scratch.iterdir()) == []


@pytest.mark.torch
@pytest.mark.own_store
@pytest.mark.sample
@pytest.mark.whole
def test_interrupting_after_the_first_answers_prints_what_is_there(tmp_path: Path) -> None:
    scratch, output, folder = tmp_path / "scratch", tmp_path / "output", tmp_path / "out"
    scratch.mkdir()
    arguments = ("--engine", "torch-tape", "--out", str(folder))
    with started(scratch, output, "scenario", str(NETS / "slow.py"), *arguments) as child:
        # The first part comes long before the other cases are through.
        wait_until(lambda: "(slow)" in output.read_text())
        child.send_signal(signal.SIGINT)
        assert child.wait(STOP_SECONDS) == 130
    out = output.read_text()
    assert "torch-tape  backward and autograd.grad" in out
    assert re.search(r"\d+ of 16 cases were not reached", out)
    assert re.search(r"^[1-9]\d* cases?: ", out, re.MULTILINE)
    assert list(scratch.glob("explorer-*")) == []
    (file,) = folder.iterdir()  # no picture: these take longer than somebody waits who interrupts
    left_out = json.loads(file.read_text())["left_out"]
    assert [part["cause"] for part in left_out] == ["interrupted"]


@pytest.mark.parametrize(
    ("cause", "code"),
    [("selected", AS_EXPECTED), ("interrupted", AS_EXPECTED), ("timed_out", LOST)],
)
def test_a_job_that_ran_out_of_time_exits_with_3(cause: Any, code: int) -> None:
    left_out = LeftOut(cause, (GradCase("grad", 0),))
    assert exit_code(msgspec.structs.replace(report(), left_out=(left_out,))) == code


def test_where_a_graph_is_missing_the_results_decide() -> None:
    whole = report()
    lost = msgspec.structs.replace(
        whole,
        ungraphed={"torch-tape": Ungraphed(Failure("crashed", "the worker died"))},
        lost_graphs=("torch-tape",),
        graphs=(),
    )
    assert exit_code(lost) == exit_code(whole)
    with pytest.raises(NoGraphError, match="the worker died") as error:
        graphs_of(lost, "torch-tape")
    assert error.value.exit_code == LOST
    refused = msgspec.structs.replace(lost, lost_graphs=())
    with pytest.raises(NoGraphError) as error:
        graphs_of(refused, "torch-tape")
    assert error.value.exit_code == USAGE_ERROR


def test_beside_a_graph_that_is_lost_one_that_cannot_be_given_is_a_difference() -> None:
    engines = ("torch-tape", "mindspore-tape")
    both = msgspec.structs.replace(alignment(*engines), missing=engines)
    for lost, code in ((engines[:1], DIFFERENT), (engines, AS_EXPECTED)):
        found = msgspec.structs.replace(report(), cases=(), alignments=(), lost_graphs=lost)
        assert _exit_code_of_two(found, both) == code
