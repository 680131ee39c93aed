"""Scenarios that harm the process that runs them: what is said of it, how soon, and that nothing is left."""

import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from explorer.cli.entry import run
from explorer.exploration.explore import explore
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.failures import MEMORY_LIMIT as LIMIT
from explorer.model.report import Report
from explorer.scenario import reader
from explorer.scenario.declaration import encoded
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.text.language import said_in
from explorer.web.offered_scenarios import scenario
from explorer.workers.children import memory_limit
from explorer.workers.workers import Workers
from tests.knocks.harms import HARMS, LOOPS, MISCHIEF, Place, text
from tests.support.command_line import explorer
from tests.support.samples import some
from tests.support.scenario_files import written
from tests.support.traces import left_behind, own_scratch

MEGABYTES = "900"
"""What a worker may use here: a framework takes half of it."""

READ_SECONDS = 15.0
"""How soon a file is refused that ends the process that reads it, on a busy machine."""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where all temporary files of a test are."""
    monkeypatch.setenv(LIMIT, MEGABYTES)
    return own_scratch(tmp_path, monkeypatch)


def file(folder: Path, code: str, place: Place) -> Path:
    """A scenario that runs ``code`` at a place."""
    return written(folder, text(code, place), "harmful.py")


def in_torch(path: Path, seconds: float = 60.0) -> Report:
    """What PyTorch's tape answers on a file's main case."""
    with Workers(seconds) as workers:
        return explore(
            reader.read(path), workers, engines=("torch-tape",), selection="main", graphs=False
        )


def surroundings() -> tuple[object, ...]:
    """What a net could have changed in this process."""
    mask = os.umask(0o022)
    os.umask(mask)
    return os.getcwd(), mask, signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["module", pytest.param("inputs", marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", some(HARMS, "segfaults"))
def test_a_file_that_ends_the_process_that_reads_it_is_refused(
    name: str, place: Place, tmp_path: Path, scratch: Path
) -> None:
    harm = HARMS[name]
    start = time.monotonic()
    with pytest.raises(ScenarioError, match=harm.said) as refusal:
        reader.read(file(tmp_path, harm.code, place))
    assert "harmful.py: the scenario file cannot be read" in str(refusal.value)
    assert time.monotonic() - start < READ_SECONDS
    assert left_behind(scratch) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", some(LOOPS, "is deaf to signals"))
def test_a_file_that_cannot_be_read_to_its_end_is_refused_in_time(
    name: str, tmp_path: Path, scratch: Path
) -> None:
    start = time.monotonic()
    with pytest.raises(ScenarioError, match=r"took more than 1\.5 s"):
        reader.read(file(tmp_path, LOOPS[name], "module"), seconds=1.5)
    assert time.monotonic() - start < READ_SECONDS
    assert left_behind(scratch) == []


@pytest.mark.slow
def test_a_file_reads_alike_here_and_in_a_process_of_its_own(tmp_path: Path) -> None:
    lines = (
        "array = np.ones(2, np.float16)\n"
        "def inputs():\n    return {'a': array, 'b': array, 'labels': np.arange(2)}\n"
        "def parameters():\n    return {'w': np.eye(2)}\n"
        "CONSTANTS = ('labels',)\nLAYOUTS = {'w': {'transpose': (1, 0)}}\n"
        "CASES = ['grad(0)', {'grad_position': (0, 1)}]\n"
        "TOLERANCES = [{'rtol': 0.5, 'reason': 'r', 'when': {'grad_position': (0, 1)}}]\n"
        "EXPECTED_DIFFERENCES = [{'engines': ['tape'], 'reason': 'r', 'when': {'position': 1}}]\n"
    )
    nets = "def torch_net():\n    return None\n"
    path = written(tmp_path, f'"""A title.\n\nNotes."""\nimport numpy as np\n{lines}{nets}')
    here, there = load(path), reader.read(path)
    assert encoded(there) == encoded(here)
    assert there.expected[0].engines == ("tape",)  # a list of engines is a tuple of them
    inputs = there.inputs()
    assert inputs["a"] is inputs["b"]
    assert inputs["labels"].tolist() == [0, 1]
    assert (there.defines("torch"), there.defines("mindspore")) == (True, False)


@pytest.mark.slow
def test_a_file_is_read_once_until_its_text_changes_or_all_is_fresh(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    path = file(tmp_path, f"open({str(marks)!r}, 'a').write('x')", "module")
    for _ in range(3):
        assert reader.read(path).title == "A sum of squares"
    assert marks.read_text() == "x"
    reader.read(path, fresh=True)
    assert marks.read_text() == "xx"
    path.write_text(path.read_text().replace("A sum of", "Another sum of"))
    assert reader.read(path).title == "Another sum of squares"


def test_the_app_refuses_a_file_that_ends_its_process_and_does_not_try_it_again(
    tmp_path: Path, scratch: Path
) -> None:
    marks = tmp_path / "marks"
    code = f"import os\nopen({str(marks)!r}, 'a').write('x')\nos.abort()"
    path = file(tmp_path, code, "module")
    for _ in range(2):
        with pytest.raises(ScenarioError, match="signal 6"):
            scenario(path)
    assert marks.read_text() == "x"
    assert left_behind(scratch) == []


NETS = {
    **{name: (harm.code, "crashed", harm.said) for name, harm in HARMS.items()},
    **{name: (code, "timed_out", "--request-timeout") for name, code in LOOPS.items()},
    **{f"{name}, and answers": (code, "ok", "") for name, code in MISCHIEF.items()},
}
"""What a net does to its worker, and how that ends for its engine."""


@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.parametrize("place", ["torch_net", "forward"])
@pytest.mark.parametrize("name", NETS)
def test_what_a_net_does_to_its_worker_is_the_outcome_of_its_engine_or_hinders_no_answer(
    name: str, place: Place, tmp_path: Path, scratch: Path
) -> None:
    code, outcome, said = NETS[name]
    before = surroundings()
    seconds = 2.0 if outcome == "timed_out" else 60.0
    (case,) = in_torch(file(tmp_path, code, place), seconds).cases
    result = case.results["torch-tape"]
    assert result.outcome == outcome, result.error
    assert said in (message(result.error) if result.error else "")
    assert surroundings() == before
    assert left_behind(scratch) == []


@pytest.mark.whole
@pytest.mark.torch
def test_all_mischief_at_once_reaches_neither_the_command_nor_its_document(
    tmp_path: Path, scratch: Path
) -> None:
    path = file(tmp_path, "\n".join(MISCHIEF.values()), "module")
    arguments = ("--engine", "torch-tape", "--cases", "main", "--json")
    done = explorer("scenario", str(path), *arguments, EXPLORER_STORE=str(tmp_path / "store"))
    assert done.returncode == 0, done.stderr
    (case,) = json.loads(done.stdout)["cases"]
    assert case["results"]["torch-tape"]["values"] == [2.0, 4.0, 6.0]
    assert "chatter" not in done.stderr
    assert left_behind(scratch) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("scenario", "FILE"),
        ("study", "higher-order", "FILE"),
        ("diff", "FILE", "torch-tape", "torch-graph"),
        ("graph", "FILE", "--engine", "torch-tape", "-o", "none.svg"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_outlives_the_text_of_its_scenario(
    command: tuple[str, ...], tmp_path: Path, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file(tmp_path, "import os\nos._exit(0)", "module")
    assert run([str(path) if word == "FILE" else word for word in command]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    died = "the scenario file cannot be read: the worker process died (exit code 0)"
    assert f"harmful.py: {died}" in printed.err
    assert "Traceback" not in printed.err
    assert left_behind(scratch) == []


@pytest.mark.parametrize("given", ["much", "0", "-1", "inf", "nan"])
def test_a_limit_that_is_no_size_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, given)
    with pytest.raises(
        UsageError,
        match=f"EXPLORER_WORKER_MB must be a positive number of megabytes, got '{given}'",
    ):
        memory_limit()


def test_a_worker_may_use_half_of_the_memory_where_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(LIMIT)
    assert 0 < memory_limit() <= psutil.virtual_memory().total / 2


@pytest.mark.slow
def test_what_a_process_of_its_own_refuses_is_said_in_the_reader_s_language(tmp_path: Path) -> None:
    path = file(tmp_path, "raise ValueError('no')", "module")
    with said_in("zh"), pytest.raises(ScenarioError, match="导入场景文件时报错：ValueError: no"):
        reader.read(path)
