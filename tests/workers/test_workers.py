"""Workers answer in their own process; one that crashes or hangs is an outcome of one request."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.model.cases import GradCase
from explorer.model.causes import TrialsRequest
from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError, UsageError, WorkerFaultError
from explorer.model.requests import CaseRequest, NetRequest
from explorer.text.failures import message
from explorer.text.language import said_in
from explorer.workers.children import MEGABYTE
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.command_line import environment, python
from tests.support.narrowing import of_type
from tests.support.worker_targets import Word

TARGETS = "tests.support.worker_targets"

GONE_SECONDS = 10
"""How long a process that was killed may take to be gone."""


@pytest.fixture(scope="module")
def crew() -> Iterator[Workers]:
    with Workers() as workers:
        yield workers


def ask(workers: Workers, name: str, text: str = "") -> Word | Lost:
    return workers.call("torch", f"{TARGETS}:{name}", Word(text), Word)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_gone_soon(pid: int) -> bool:
    deadline = time.monotonic() + GONE_SECONDS
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


@pytest.mark.slow
def test_a_request_comes_back_as_the_record_it_is(crew: Workers) -> None:
    assert ask(crew, "echo", "∂y/∂x\0") == Word("∂y/∂x\0")


def test_the_state_of_each_worker_is_told() -> None:
    with Workers() as workers:
        assert set(workers.states().values()) == {"not started"}
        thread = threading.Thread(target=ask, args=(workers, "echo"), daemon=True)
        thread.start()
        while "at work" not in workers.states().values():
            assert thread.is_alive()
            time.sleep(0.01)
        thread.join()
        states = list(workers.states().values())
        assert (states.count("waiting"), states.count("at work")) == (1, 0)


def test_requests_share_one_process_other_than_ours(crew: Workers) -> None:
    first, second = ask(crew, "process"), ask(crew, "process")
    assert first == second != Word(str(os.getpid()))


@pytest.mark.slow
@pytest.mark.usefixtures("own_nurseries")
def test_what_an_import_brought_is_searched_for_garbage_once() -> None:
    with Workers() as workers:
        # The module of the requests has brought numpy, and Python 3.12 some objects of its own.
        at_start = ask(workers, "garbage")
        ask(workers, "leave_garbage", "json")
        few = ask(workers, "garbage")
        # By name, in the middle of a call: what a call runs imports its framework itself.
        ask(workers, "leave_garbage", "torch")
        many = ask(workers, "garbage")
    left_out = []
    for reply in (at_start, few, many):
        assert isinstance(reply, Word)
        count, not_found = reply.text.split()
        assert not_found == "0"
        left_out.append(int(count))
    # What is left out is freed like anything else, once nothing refers to it.
    assert left_out[1] <= left_out[0]
    assert left_out[2] > 10_000 + left_out[0]


def test_what_a_framework_prints_does_not_reach_the_protocol(crew: Workers) -> None:
    assert ask(crew, "noisy", "chatter") == Word("chatter")
    assert ask(crew, "echo", "still in step") == Word("still in step")


def test_a_worker_runs_in_a_scratch_folder_with_one_numerical_thread(crew: Workers) -> None:
    reply = of_type(
        Word, ask(crew, "evaluated", "f\"{os.getcwd()} {os.environ['OMP_NUM_THREADS']}\"")
    )
    folder, threads = reply.text.split()
    assert "explorer-" in folder
    assert threads == "1"


def test_a_fault_of_our_own_is_raised_with_the_worker_s_traceback(crew: Workers) -> None:
    pattern = r"worker_targets\.py.*\n.*\n*ZeroDivisionError: planted"
    with pytest.raises(WorkerFaultError, match=pattern):
        ask(crew, "raises", "planted")


def test_what_a_worker_refuses_is_said_in_the_reader_s_language(crew: Workers) -> None:
    with pytest.raises(UsageError, match=r"Net\.forward takes 'mask' only by keyword"):
        ask(crew, "refuses", "Net.forward")
    with said_in("zh"), pytest.raises(UsageError, match=r"Net\.forward 的参数 'mask' 只能按关键字"):
        ask(crew, "refuses", "Net.forward")


def test_a_missing_package_says_what_is_missing_and_where_to_look(crew: Workers) -> None:
    with pytest.raises(MissingFrameworkError, match=r"No module named 'mindspore'.*doctor"):
        ask(crew, "lacks", "mindspore")


@pytest.mark.slow
@pytest.mark.usefixtures("own_nurseries")
def test_after_a_request_that_took_much_memory_the_next_is_fresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("explorer.workers.workers.GROWN", 300 * MEGABYTE)
    with Workers() as workers:
        first = ask(workers, "holds", "100")
        assert ask(workers, "holds", "300") == first
        assert workers.memory("torch") == 0
        assert ask(workers, "holds", "1") != first
        assert 0 < workers.memory("torch") <= 300 * MEGABYTE


@pytest.mark.slow
def test_a_hang_ends_at_the_limit_and_its_process_is_gone() -> None:
    with Workers(request_seconds=0.5) as workers:
        process = of_type(Word, ask(workers, "process"))
        reply = of_type(Lost, ask(workers, "hangs", "600"))
        assert reply.outcome == "timed_out"
        assert is_gone_soon(int(process.text))
        assert ask(workers, "echo", "next") == Word("next")


@pytest.mark.slow
def test_the_limit_of_the_whole_job_ends_what_is_under_way_and_asks_nothing_more() -> None:
    with Workers(job_seconds=1.0) as workers:
        late = of_type(Lost, ask(workers, "hangs", "600"))
        assert late.outcome == "timed_out"
        assert "--timeout" in message(late.failure)
        never = of_type(Lost, ask(workers, "echo", "never asked"))
        assert never.outcome == "not_asked"


def test_closing_while_a_request_is_under_way_ends_it_at_once() -> None:
    with Workers() as workers:
        assert ask(workers, "echo", "started") == Word("started")
        replies: list[Word | Lost] = []
        waiting = threading.Thread(target=lambda: replies.append(ask(workers, "hangs", "600")))
        waiting.start()
        time.sleep(0.2)
        workers.close()
        waiting.join(GONE_SECONDS)
        (reply,) = replies
        assert isinstance(reply, Lost)
        assert reply.outcome == "crashed"


REUSED = f"""
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word
with Workers() as workers:
    workers.call("torch", "{TARGETS}:process", Word(""), Word)
print(workers.call("torch", "{TARGETS}:process", Word(""), Word).text, flush=True)
"""
"""A program that uses workers once more after they were closed, and ends without a second close."""


@pytest.mark.slow
def test_workers_that_are_used_after_they_were_closed_leave_nothing_behind(tmp_path: Path) -> None:
    printed = python("-c", REUSED, env=environment(TMPDIR=str(tmp_path)))
    assert is_gone_soon(int(printed))
    assert list(tmp_path.iterdir()) == []


PARENT = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word
workers = Workers()
print(workers.call("torch", "{TARGETS}:process", Word(""), Word).text, flush=True)
workers.call("torch", "{TARGETS}:hangs", Word("600"), Word)
"""
"""A program that says which worker it has, and then waits for it."""


@pytest.fixture
def in_background() -> Iterator[None]:
    """This process, and with it those that it starts, ignore Ctrl-C as a shell's background job."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("in_background")
@pytest.mark.parametrize(
    "end", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.whole), signal.SIGKILL]
)
def test_no_worker_outlives_its_parent_however_that_ends(end: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout
        process = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.send_signal(end)
    assert is_gone_soon(process)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "devices", "processes"),
    [
        ("mindspore", ("cpu", "cpu", "npu:0", "npu:0", "npu:1", "cpu"), "aabbcd"),
        ("mindspore-capture", ("npu:0", "cpu"), "ab"),
        ("torch", ("cpu", "cuda:0", "cuda:1", "cpu"), "aaaa"),
    ],
)
def test_a_process_of_mindspore_keeps_to_one_device_and_one_of_pytorch_takes_any(
    kind: WorkerKind, devices: tuple[str, ...], processes: str
) -> None:
    seen = []
    with Workers() as workers:
        for device in devices:
            net = NetRequest(scenario="", engine="", device=device)
            trials = TrialsRequest(CaseRequest(net, GradCase("grad", 0)), ())
            seen.append(workers.call(kind, f"{TARGETS}:process_on", trials, Word))
            # What names no device is asked of the process that is there.
            seen.append(workers.call(kind, f"{TARGETS}:process", Word(""), Word))
    letters = dict(zip(dict.fromkeys(seen), "abcd", strict=False))
    assert "".join(letters[process] for process in seen) == "".join(2 * one for one in processes)


JUMPING = """
import os, sys, threading, time
real = time.time
time.time = lambda: real() + (-1 if int(real() * 20) % 2 else 1) * 10**8  # years, 20 times a second
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word
with Workers(request_seconds=2) as workers:
    assert workers.call("torch", "tests.support.worker_targets:echo", Word("x"), Word) == Word("x")
    start = time.monotonic()
    lost = workers.call("torch", "tests.support.worker_targets:hangs", Word("60"), Word)
    assert isinstance(lost, Lost) and lost.outcome == "timed_out", lost
    assert 2 <= time.monotonic() - start < 15
with Workers(job_seconds=30) as workers:
    assert workers.call("torch", "tests.support.worker_targets:echo", Word("x"), Word) == Word("x")
"""
"""A program whose clock on the wall jumps to and fro while workers are given time."""


@pytest.mark.whole
@pytest.mark.slow
def test_limits_are_kept_while_the_clock_jumps() -> None:
    subprocess.run([sys.executable, "-c", JUMPING], check=True, timeout=60)
