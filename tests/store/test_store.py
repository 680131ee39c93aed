"""The store: what is read back is whole, what is not is told, and several processes share it."""

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest

from explorer.folders import COMPILED, STORE, caches
from explorer.model.errors import UsageError
from explorer.store.keys import Key, key_of
from explorer.store.store import ENDING, LIMIT, REPLY, UNFINISHED, Store, checked, default_limit

pytestmark = pytest.mark.own_store

KEY = Key("scenario", "square", "ab" + "0" * 62)
OTHER = Key("scenario", "cube", "cd" + "0" * 62)


class Result(msgspec.Struct, frozen=True):
    """A small record."""

    name: str
    data: bytes


RECORD = Result("dx", bytes(range(256)))


def file_of(store: Store) -> Path:
    """The one file of a store with one result."""
    (path,) = store.folder.rglob(f"*{ENDING}")
    return path


@pytest.fixture
def told() -> list[str]:
    """What the store has told."""
    return []


@pytest.fixture
def store(tmp_path: Path, told: list[str]) -> Store:
    return Store(tmp_path / "store", tell=told.append)


def test_what_was_put_is_what_is_got(store: Store) -> None:
    assert store.get(KEY, Result) is None
    store.put(KEY, RECORD)
    assert store.get(KEY, Result) == RECORD
    assert store.get(OTHER, Result) is None


def test_what_is_put_again_replaces_what_was_there(store: Store) -> None:
    store.put(KEY, Result("old", b""))
    store.put(KEY, RECORD)
    assert store.get(KEY, Result) == RECORD
    assert len(store.entries()) == 1


def test_a_file_is_written_where_it_will_stand(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A file of another file system could not be moved to its place in one step.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no such folder"))
    store.put(KEY, RECORD)
    assert store.get(KEY, Result) == RECORD


def test_what_a_killed_process_leaves_of_a_file_is_no_result_and_is_cleared(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process that is killed neither moves the file to its place nor removes it.
    monkeypatch.setattr("os.replace", lambda *_: None)
    store.put(KEY, RECORD)
    assert store.entries() == []
    assert len(list(store.folder.rglob("*.*"))) == 1
    store.clear()
    assert list(store.folder.rglob("*.*")) == []


def test_a_fresh_store_takes_nothing_and_keeps_what_is_new(store: Store) -> None:
    store.put(KEY, Result("old", b""))
    fresh = Store(store.folder, fresh=True)
    assert fresh.get(KEY, Result) is None
    fresh.put(KEY, RECORD)
    assert store.get(KEY, Result) == RECORD


@pytest.mark.parametrize("kept", [0, 1, 40, -1])
def test_a_torn_file_is_told_removed_and_made_again(
    store: Store, told: list[str], kept: int
) -> None:
    store.put(KEY, RECORD)
    path = file_of(store)
    path.write_bytes(path.read_bytes()[:kept])
    assert store.get(KEY, Result) is None
    assert len(told) == 1
    assert "square" in told[0]
    assert not path.exists()
    store.put(KEY, RECORD)
    assert store.get(KEY, Result) == RECORD
    assert len(told) == 1


def test_a_record_of_another_form_is_made_again(store: Store, told: list[str]) -> None:
    store.put(KEY, {"name": 1})
    assert store.get(KEY, Result) is None
    assert len(told) == 1


def test_a_file_under_another_key_is_not_taken(store: Store) -> None:
    store.put(KEY, RECORD)
    place = store.folder / OTHER.digest[:2] / f"{OTHER.digest}{ENDING}"
    place.parent.mkdir()
    file_of(store).rename(place)
    assert store.get(OTHER, Result) is None


def test_the_results_that_were_not_used_for_longest_are_dropped(tmp_path: Path) -> None:
    size = 10_000  # and a header
    store = Store(tmp_path, limit=35_000)
    keys = [Key("scenario", str(number), f"{number:064}") for number in range(4)]
    for age, key in enumerate(keys[:3]):
        store.put(key, os.urandom(size))
        path = store._path(key)
        os.utime(path, (1000 + age, 1000 + age))
    assert store.get(keys[0], bytes)  # used just now
    store.put(keys[3], os.urandom(size))
    kept = [bool(store.get(key, bytes)) for key in keys]
    assert kept == [True, False, True, True]


@pytest.mark.slow
def test_many_small_results_stay_below_the_limit_and_the_store_is_seldom_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches = []
    files = Store._files

    def searched(store: Store) -> Iterator[Path]:
        searches.append(store)
        return files(store)

    monkeypatch.setattr(Store, "_files", searched)
    limit = 200_000
    store = Store(tmp_path, limit=limit)
    for number in range(300):
        store.put(Key("scenario", str(number), f"{number:064}"), os.urandom(1000))
        assert sum(path.stat().st_size for path in files(store)) <= limit
    assert len(searches) < 120
    written = len(searches)
    other = Store(tmp_path / "other", limit=100 * limit)
    for number in range(300):
        other.put(Key("scenario", str(number), f"{number:064}"), os.urandom(1000))
    assert len(searches) == written + 1


def test_a_folder_that_cannot_be_written_to_is_told_once_and_stops_nothing(
    tmp_path: Path, told: list[str]
) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file", tell=told.append)
    for _ in range(3):
        with store.turn(KEY):
            assert store.get(KEY, Result) is None
            store.put(KEY, RECORD)
    assert len(told) == 1
    assert "EXPLORER_STORE" in told[0]


def test_a_removed_result_is_gone_and_one_that_is_not_there_is_nothing_to_tell(
    store: Store, told: list[str]
) -> None:
    store.put(KEY, RECORD)
    store.put(OTHER, RECORD)
    for _ in range(2):
        store.remove(KEY)
    assert store.get(KEY, Result) is None
    assert store.get(OTHER, Result) == RECORD
    assert told == []


def test_what_cannot_be_removed_or_cleared_is_told(
    store: Store, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    store.put(KEY, RECORD)
    monkeypatch.setattr(Path, "unlink", refuse)
    store.remove(KEY)
    (text,) = told
    assert str(store.folder) in text
    assert "Permission denied" in text
    with pytest.raises(UsageError, match="cannot be cleared: Permission denied"):
        store.clear()


def test_what_is_told_by_default_is_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    Store(tmp_path / "file").put(KEY, RECORD)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("explorer: results cannot be stored in")


def test_small_results_stay_below_the_limit(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=20_000)
    for number in range(40):
        store.put(Key("scenario", str(number), f"{number:064}"), os.urandom(1000))
        assert sum(path.stat().st_size for path in tmp_path.glob(f"*/*{ENDING}")) <= 20_000


def test_clearing_removes_all_and_counts_it(store: Store) -> None:
    store.put(KEY, RECORD)
    store.put(OTHER, RECORD)
    assert store.clear() == 2
    assert store.entries() == []
    assert store.clear() == 0


def test_entries_say_what_is_there_and_what_is_damaged(store: Store) -> None:
    store.put(KEY, RECORD)
    store.put(OTHER, RECORD)
    path = store._path(OTHER)
    path.write_bytes(b"nothing")
    names = {(entry.kind, entry.name): entry.size for entry in store.entries()}
    assert names == {
        ("scenario", "square"): store._path(KEY).stat().st_size,
        ("damaged", "damaged"): 7,
    }


def test_an_entry_of_a_reply_names_nothing_and_has_its_size(store: Store) -> None:
    before = datetime.now(timezone.utc).replace(microsecond=0)
    store.put(Key(REPLY, "square", KEY.digest), RECORD)
    (entry,) = store.entries()
    assert (entry.kind, entry.name, entry.size) == (REPLY, "", file_of(store).stat().st_size)
    assert before <= datetime.fromisoformat(entry.used) <= datetime.now(timezone.utc)


def test_an_entry_says_in_utc_when_it_was_made(store: Store) -> None:
    before = datetime.now(timezone.utc).replace(microsecond=0)
    store.put(KEY, RECORD)
    (entry,) = store.entries()
    made, used = datetime.fromisoformat(entry.made), datetime.fromisoformat(entry.used)
    assert made.utcoffset() == used.utcoffset() == timedelta(0)
    assert before <= made <= datetime.now(timezone.utc)


@pytest.mark.parametrize("text", ["many", "-1", "inf", "nan"])
def test_a_limit_that_is_no_size_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, text)
    with pytest.raises(UsageError, match="number of megabytes"):
        default_limit()


def test_the_folder_is_the_one_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(STORE, "kept")
    assert Store().folder == tmp_path.resolve() / "kept"
    monkeypatch.delenv(STORE)
    assert tmp_path.resolve() not in caches().parents
    assert caches().is_absolute()


def test_a_limit_is_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "1.5")
    assert default_limit() == 1_500_000


def test_a_store_of_no_size_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "0")
    empty = Store(tmp_path)
    empty.put(KEY, RECORD)
    assert empty.entries() == []


WITH_STORE = f"""
import sys, time
from pathlib import Path
from explorer.store.keys import Key
from explorer.store.store import Store
store, key = Store(Path(sys.argv[1])), Key("scenario", "square", "{KEY.digest}")
"""

COMPUTING = """
with store.turn(key):
    if store.get(key, str) is None:
        print("computed")
        time.sleep(0.5)
        store.put(key, "result")
"""


@pytest.mark.slow
def test_of_several_processes_one_computes_and_the_others_wait_for_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITH_STORE + COMPUTING, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    said = [process.communicate()[0] for process in processes]
    assert sorted(said) == [b"", b"", b"computed\n"]


DYING = """
with store.turn(key):
    print("in", flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_holds_nobody_up(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITH_STORE + DYING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"in\n"
        process.kill()
    store = Store(tmp_path)
    with store.turn(KEY):
        store.put(KEY, RECORD)
    assert store.get(KEY, Result) == RECORD


def test_threads_of_one_process_take_turns_too(store: Store) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        with store.turn(KEY):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 5


def test_nothing_half_written_is_left_where_a_record_cannot_be_written(store: Store) -> None:
    with pytest.raises(TypeError):
        store.put(KEY, object())
    assert [path for path in store.folder.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_a_key_of_the_installation_is_the_same_in_another_process() -> None:
    code = (
        "from explorer.store.keys import key_of; print(key_of('a', 'b', {'x': 1, 'y': 2}).digest)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert said.stdout.strip() == key_of("a", "b", {"y": 2, "x": 1}).digest


def test_entries_come_last_used_first(store: Store) -> None:
    store.put(KEY, RECORD)
    store.put(OTHER, RECORD)
    made = datetime.now(timezone.utc).timestamp()
    for first, second in ((KEY, OTHER), (OTHER, KEY)):
        os.utime(store._path(first), (made + 60, made + 60))
        os.utime(store._path(second), (made, made))
        assert [entry.name for entry in store.entries()] == [first.name, second.name]


def test_clearing_removes_what_was_never_finished_and_does_not_count_it(store: Store) -> None:
    store.put(KEY, RECORD)
    (store._path(KEY).parent / f"half{UNFINISHED}").write_bytes(b"half")
    assert store.clear() == 1
    assert not [path for path in store.folder.glob("*/*") if path.is_file()]


def test_clearing_removes_what_jax_has_compiled_and_does_not_count_it(store: Store) -> None:
    store.put(KEY, RECORD)
    compiled = store.folder / COMPILED / "of this machine" / "jit_add-cache"
    compiled.parent.mkdir(parents=True)
    compiled.write_bytes(b"compiled")
    assert store.clear() == 1
    assert not (store.folder / COMPILED).exists()


BITS = (0x01, 0x10, 0x80, 0xFF)
"""What the bytes of a file are combined with: one bit in three places, and all of them."""


def test_a_file_with_any_byte_altered_is_the_same_result_or_none(store: Store) -> None:
    store.put(KEY, {"dx": [2.0, 4.0, 6.0]})
    content = file_of(store).read_bytes()
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
    os.utime(file_of(store), (stamp, stamp))
    (entry,) = store.entries()
    assert entry.name == "square"
    assert store.get(KEY, bytes) == b"kept"
    assert abs(file_of(store).stat().st_mtime - time.time()) < 60


def test_a_file_from_the_future_is_dropped_last_and_hinders_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=25_000)
    future, other, new = (Key("scenario", name, f"{name:0>64}") for name in ("1", "2", "3"))
    content = random.Random(0).randbytes(10_000)  # which no compression makes smaller
    store.put(future, content)
    os.utime(file_of(store), (4_000_000_000, 4_000_000_000))
    store.put(other, content)
    store.put(new, content)
    kept = [store.get(key, bytes) is not None for key in (future, other, new)]
    assert kept == [True, False, True]
