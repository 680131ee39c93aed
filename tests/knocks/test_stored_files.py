"""Files of the store that were cut short, altered, or are written by two at once; clocks that jump."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer.store.keys import Key
from explorer.store.store import ENDING, Store, checked

pytestmark = pytest.mark.own_store

KEY = Key("scenario", "square", "ab" + "0" * 62)

BITS = (0x01, 0x10, 0x80, 0xFF)
"""What the bytes of a file are combined with: one bit in three places, and all of them."""


@pytest.fixture
def told() -> list[str]:
    """What the store has told."""
    return []


@pytest.fixture
def store(tmp_path: Path, told: list[str]) -> Store:
    return Store(tmp_path / "store", tell=told.append)


def the_file(store: Store) -> Path:
    (path,) = store.folder.rglob(f"*{ENDING}")
    return path


def test_a_file_with_any_byte_altered_is_the_same_result_or_none(store: Store) -> None:
    store.put(KEY, {"dx": [2.0, 4.0, 6.0]})
    content = the_file(store).read_bytes()
    taken = 0
    for place in range(len(content)):
        for bits in BITS:
            altered = bytearray(content)
            altered[place] ^= bits
            got = checked(bytes(altered), KEY, dict)
            assert got in (None, {"dx": [2.0, 4.0, 6.0]}), (place, bits)
            taken += got is not None
    # The time of writing alone is not part of what a result depends on, and it is 25 bytes long.
    assert taken <= 25 * len(BITS)


WRITING = """
import sys
from pathlib import Path
from explorer.store.keys import Key
from explorer.store.store import Store
store, key = Store(Path(sys.argv[1])), Key("scenario", "square", "ab" + "0" * 62)
mine = sys.argv[2] * 300_000
for _ in range(50):
    store.put(key, mine)
    got = store.get(key, str)
    assert got is not None
    assert len(got) == 300_000 and len(set(got)) == 1, "a mixture"
"""


@pytest.mark.slow
def test_two_that_write_one_key_at_once_never_make_a_mixture(store: Store) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITING, str(store.folder), letter],
            stderr=subprocess.PIPE,
            text=True,
        )
        for letter in "ab"
    ]
    for process in processes:
        assert process.communicate()[1] == ""
        assert process.returncode == 0
    assert store.get(KEY, str) in ("a" * 300_000, "b" * 300_000)
    assert {path.suffix for path in store.folder.rglob("*") if path.is_file()} == {ENDING}


@pytest.mark.parametrize("stamp", [0, 1, 4_000_000_000, 2**33], ids=str)
def test_a_file_from_another_time_is_a_result_like_any_other(stamp: int, store: Store) -> None:
    # As after a clock was set, or from a machine whose clock is wrong.
    store.put(KEY, b"kept")
    os.utime(the_file(store), (stamp, stamp))
    (entry,) = store.entries()
    assert entry.name == "square"
    assert store.get(KEY, bytes) == b"kept"
    assert abs(the_file(store).stat().st_mtime - time.time()) < 60


def test_a_file_from_the_future_is_dropped_last_and_hinders_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=25_000)
    future, other, new = (Key("scenario", name, f"{name:0>64}") for name in ("1", "2", "3"))
    content = random.Random(0).randbytes(10_000)  # which no compression makes smaller
    store.put(future, content)
    os.utime(the_file(store), (4_000_000_000, 4_000_000_000))
    store.put(other, content)
    store.put(new, content)
    kept = [store.get(key, bytes) is not None for key in (future, other, new)]
    assert kept == [True, False, True]


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
