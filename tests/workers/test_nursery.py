"""Workers that are forked from a process in which MindSpore is imported once."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError
from explorer.text.failures import message
from explorer.workers.protocol import Lost
from explorer.workers.workers import FORKED, Workers, shared_nurseries
from tests.support.hidden import hiding
from tests.support.narrowing import of_type, present
from tests.support.traces import left_behind, own_scratch, still_alive
from tests.support.worker_targets import Word

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_nurseries")]

TARGETS = "tests.support.worker_targets"
FIRST: WorkerKind = "mindspore"
SECOND: WorkerKind = "mindspore-second"

LITTLE: dict[str, tuple[str, ...]] = {"mindspore": ("json",), "torch": ("csv",)}


@pytest.fixture(autouse=True)
def _import_little(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is imported once is small, but for tests of MindSpore: how processes fork is the same."""
    if request.node.get_closest_marker("mindspore") is None:
        monkeypatch.setattr("explorer.workers.workers.IMPORTED_ONCE", LITTLE)


def own_crew() -> Workers:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("explorer.workers.workers._SHARED", [])
        return Workers()


@pytest.fixture(scope="module")
def crew() -> Iterator[Workers]:
    with own_crew() as workers:
        yield workers


@pytest.fixture(scope="module")
def crew_with_mindspore() -> Iterator[Workers]:
    with own_crew() as workers:
        yield workers


def ask(workers: Workers, kind: WorkerKind, name: str, text: str = "") -> Word | Lost:
    return workers.call(kind, f"{TARGETS}:{name}", Word(text), Word)


def told(workers: Workers, kind: WorkerKind, name: str, text: str = "") -> str:
    reply = of_type(Word, ask(workers, kind, name, text))
    return reply.text


def process_of(workers: Workers, kind: WorkerKind) -> psutil.Process:
    return psutil.Process(int(told(workers, kind, "process")))


def test_the_workers_of_mindspore_are_forked_from_one_process_and_lead_groups_of_their_own(
    crew: Workers,
) -> None:
    workers = [process_of(crew, kind) for kind in sorted(FORKED)]
    (nursery,) = {worker.ppid() for worker in workers}
    assert nursery != os.getpid()
    assert psutil.Process(nursery).ppid() == os.getpid()
    assert [os.getpgid(worker.pid) for worker in workers] == [worker.pid for worker in workers]
    assert process_of(crew, "torch").ppid() == os.getpid()


@pytest.mark.mindspore
def test_mindspore_is_there_before_a_worker_is_asked_anything(crew_with_mindspore: Workers) -> None:
    is_there = "evaluated", "'mindspore' in sys.modules"
    assert told(crew_with_mindspore, FIRST, *is_there) == "True"
    assert told(crew_with_mindspore, "mindspore-plain", *is_there) == "False"


def test_a_forked_worker_has_its_own_folder_and_no_variable_of_the_process_that_it_is_of(
    crew: Workers,
) -> None:
    seen = [told(crew, kind, "folders") for kind in (FIRST, SECOND)]
    for folders in seen:
        assert len(set(folders.split())) == 1, "working folder, TMPDIR and tempfile's"
    assert seen[0] != seen[1]
    variable = "evaluated", "os.environ.get('MS_DEV_LAUNCH_BLOCKING')"
    assert told(crew, FIRST, *variable) == "1"
    assert told(crew, "mindspore-capture", *variable) == "None"


def test_forked_workers_do_not_draw_the_same_numbers(crew: Workers) -> None:
    numbers = "random.random(), np.random.random()"
    drawn = [told(crew, kind, "evaluated", numbers).split() for kind in (FIRST, SECOND)]
    for one, other in zip(*drawn, strict=True):  # Python's own numbers, and numpy's
        assert one != other


@pytest.mark.parametrize("kind", [FIRST, "torch"])
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("aborts", "last words", "signal 6"),
        ("evaluated", "os._exit(7)", "exit code 7"),
        ("evaluated", "sys.exit(8)", "exit code 8"),
    ],
)
def test_how_a_worker_ended_is_told_and_the_next_is_of_the_same_process(
    name: str, text: str, said: str, kind: WorkerKind, crew: Workers
) -> None:
    before = process_of(crew, kind)
    parent = before.ppid()
    reply = of_type(Lost, ask(crew, kind, name, text))
    assert reply.outcome == "crashed"
    assert said in message(reply.failure)
    assert ("last words" in message(reply.failure)) == (name == "aborts")
    after = process_of(crew, kind)
    assert after.pid != before.pid
    assert after.ppid() == parent


def test_what_a_forked_worker_has_forked_goes_with_it_though_it_lives_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = own_scratch(tmp_path, monkeypatch)
    with Workers() as workers:
        reply = of_type(Lost, ask(workers, FIRST, "forks_and_exits", "6"))
        assert "exit code 6" in message(reply.failure)
        assert told(workers, FIRST, "echo", "next") == "next"
    assert left_behind(scratch) == []


def test_workers_live_on_without_the_process_that_they_are_of_and_others_come_from_a_new_one() -> (
    None
):
    with Workers() as workers:
        first = process_of(workers, FIRST)
        nursery = psutil.Process(first.ppid())
        nursery.kill()
        nursery.wait(10)
        assert process_of(workers, FIRST).pid == first.pid
        second = process_of(workers, SECOND)
        assert second.ppid() not in (nursery.pid, first.ppid())
        # Nobody is left who is told how this one ends.
        reply = of_type(Lost, ask(workers, FIRST, "evaluated", "os._exit(7)"))
        assert reply.outcome == "crashed"
        assert "the worker process died (reason unknown)" in message(reply.failure)
        assert process_of(workers, FIRST).ppid() == second.ppid()


def test_a_worker_that_is_not_there_yet_is_waited_for_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = own_scratch(tmp_path, monkeypatch)
    endless = {"mindspore": ("tests.support.endless_import",)}
    monkeypatch.setattr("explorer.workers.workers.IMPORTED_ONCE", endless)
    workers = Workers()
    replies: list[Word | Lost] = []
    asking = threading.Thread(target=lambda: replies.append(ask(workers, FIRST, "echo")))
    asking.start()
    time.sleep(1.0)
    began = time.monotonic()
    workers.close()
    asking.join(10)
    assert time.monotonic() - began < 3
    (reply,) = replies
    assert isinstance(reply, Lost)
    assert left_behind(scratch) == []


def test_nothing_is_left_of_workers_that_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = own_scratch(tmp_path, monkeypatch)
    with Workers() as workers:
        for kind in (FIRST, SECOND, "torch"):
            told(workers, kind, "echo")
    assert left_behind(scratch) == []


PARENT = f"""
from explorer.workers import workers as crews
from tests.support.worker_targets import Word
crews.IMPORTED_ONCE = {LITTLE!r}
workers = crews.Workers()
for kind in ("{FIRST}", "{SECOND}"):
    workers.call(kind, "{TARGETS}:echo", Word(""), Word)
print("started", flush=True)
workers.call("{FIRST}", "{TARGETS}:never_yields", Word(""), Word)
"""


def test_neither_worker_nor_the_process_that_it_is_of_outlives_a_killed_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = own_scratch(tmp_path, monkeypatch)
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert present(parent.stdout).readline() == b"started\n"
        parent.send_signal(signal.SIGKILL)
    assert still_alive(scratch) == []


@pytest.mark.mindspore
@pytest.mark.parametrize("kind", [FIRST, "mindspore-capture"])
def test_mindspore_has_its_memory_from_what_gives_it_to_a_program_of_the_reader(
    kind: WorkerKind, crew_with_mindspore: Workers
) -> None:
    mapped = told(crew_with_mindspore, kind, "evaluated", "Path('/proc/self/maps').read_text()")
    assert "libmindspore" in mapped
    # As the libraries of other allocators are called: libmimalloc, libjemalloc, libtcmalloc.
    assert "malloc" not in mapped


def test_a_worker_says_that_numpy_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in hiding(("numpy",), tmp_path).items():
        monkeypatch.setenv(name, value)
    with own_crew() as workers, pytest.raises(MissingFrameworkError, match=r"numpy.* \(hidden\)"):
        workers.call(FIRST, "explorer.text.numbers:short", Word(""), Word)


def test_crews_of_one_process_may_share_the_processes_that_theirs_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = own_scratch(tmp_path, monkeypatch)
    with shared_nurseries():
        parents = []
        for _ in range(2):
            with Workers() as workers:
                parents.append([process_of(workers, kind).ppid() for kind in (FIRST, "torch")])
                assert process_of(workers, FIRST).pid != process_of(workers, "torch").pid
        assert parents[0] == parents[1]
        assert parents[0][0] != parents[0][1]
        assert os.getpid() not in parents[0]
    assert left_behind(scratch) == []
