"""A full disk, and folders that take nothing: a message, an exit code, and nothing half-written."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.model.errors import UsageError, WorkerStartError
from explorer.report.files import prepare_folder, put_file
from explorer.store.keys import Key
from explorer.store.store import Store
from explorer.workers.workers import Workers
from tests.support.command_line import explorer
from tests.support.nets import net_file
from tests.support.traces import still_alive
from tests.support.worker_targets import Word

pytestmark = pytest.mark.own_store

KEY = Key("scenario", "square", "ab" + "0" * 62)
NET = str(net_file("torch_single"))


def mounted(folder: Path, options: str) -> None:
    """Mount a file system of its own at ``folder``; skip the test where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system of one's own takes root")


def unmount(folder: Path) -> None:
    """Take it away again, also where something is still open in it."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk with room for one file more and none of its bytes."""
    folder = tmp_path / "full"
    mounted(folder, "size=64k")
    filler = folder / "filler"
    try:
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(bytes(1 << 20))
        yield folder
    finally:
        unmount(folder)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that nobody can write to, root neither."""
    folder = tmp_path / "read_only"
    mounted(folder, "ro")
    yield folder
    unmount(folder)


def files(folder: Path) -> set[str]:
    """All files in a folder, by their names."""
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_store_on_a_full_disk_says_so_once_and_keeps_nothing_half(full: Path) -> None:
    told: list[str] = []
    store = Store(full / "store", tell=told.append)
    for _ in range(3):
        with store.turn(KEY):
            assert store.get(KEY, bytes) is None
            store.put(KEY, bytes(5000))
    (message,) = told
    assert "No space left" in message
    assert store.entries() == []
    assert not [name for name in files(full) if name.endswith((".result", ".unfinished"))]


def test_a_read_only_store_answers_what_it_has_and_keeps_nothing_new(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    mounted(folder, "size=1m")
    try:
        Store(folder).put(KEY, b"kept")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        told: list[str] = []
        store = Store(folder, tell=told.append)
        with store.turn(KEY):
            assert store.get(KEY, bytes) == b"kept"
        store.put(Key("scenario", "cube", "cd" + "0" * 62), b"new")
        assert len(store.entries()) == 1
        (message,) = told
        assert "Read-only" in message
        with pytest.raises(UsageError, match="cannot be cleared: Read-only"):
            store.clear()
    finally:
        unmount(folder)


def test_a_report_s_file_is_written_whole_or_not_at_all(full: Path) -> None:
    kept = full / "filler"
    size = kept.stat().st_size
    with pytest.raises(UsageError, match="cannot be written: No space left"):
        put_file(kept, bytes(size + 1))
    assert kept.stat().st_size == size
    assert files(full) == {"filler"}


def test_a_folder_that_takes_nothing_is_refused_before_any_work(read_only: Path) -> None:
    with pytest.raises(UsageError, match="nothing can be written"):
        prepare_folder(read_only / "new")
    with pytest.raises(UsageError, match="nothing can be written"):
        prepare_folder(read_only)


def test_a_worker_that_has_no_folder_of_its_own_is_not_started(
    read_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(read_only))
    with Workers() as workers, pytest.raises(WorkerStartError, match=r"Read-only.*TMPDIR"):
        workers.call("torch", "tests.support.worker_targets:echo", Word(""), Word)


COMMANDS = [
    ("scenario", NET, "--engine", "torch-tape", "--cases", "main", "--out"),
    ("graph", NET, "--engine", "torch-tape", "-o"),
    ("study", "schedules", "--out"),
    ("claims", "20", "--pages"),
    ("sweep", NET, "--out"),
]
"""Commands that write files, up to where these go."""


@pytest.mark.torch
@pytest.mark.parametrize("disk", [pytest.param("full", marks=pytest.mark.whole), "read_only"])
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=() if command[0] == "graph" else pytest.mark.whole)
        for command in COMMANDS
    ],
    ids=lambda command: command[0],
)
def test_a_command_says_that_its_files_cannot_be_written(
    command: tuple[str, ...], disk: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder: Path = request.getfixturevalue(disk)
    before = files(folder)
    target = folder / "graph.svg" if "-o" in command else folder
    done = explorer(*command, str(target), EXPLORER_STORE=str(tmp_path / "store"))
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "written" in done.stderr
    assert "Traceback" not in done.stderr
    assert files(folder) == before


@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.parametrize("disk", ["full", "read_only"])
@pytest.mark.parametrize(
    "command",
    [
        ("scenario", NET, "--engine", "torch-tape"),
        ("sweep", NET),
        ("claims", "20"),
        ("study", "schedules"),
        ("doctor",),
    ],
    ids=lambda command: command[0],
)
def test_a_command_without_room_for_scratch_files_says_so_or_answers(
    command: tuple[str, ...], disk: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder: Path = request.getfixturevalue(disk)
    before = files(folder)
    done = explorer(
        *command, TMPDIR=str(folder), EXPLORER_STORE=str(tmp_path / "store"), EXPLORER_TRACEBACK=""
    )
    assert "Traceback" not in done.stderr + done.stdout
    if done.returncode not in (0, 1):
        assert done.returncode == 3
        assert "TMPDIR" in done.stdout + done.stderr
    assert files(folder) == before
    assert still_alive(folder) == []


@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.parametrize("disk", ["full", "read_only"])
def test_documents_that_cannot_be_written_stay_as_they_were(
    disk: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder: Path = request.getfixturevalue(disk)
    (tmp_path / "net.py").write_text(Path(NET).read_text())
    block = "<!-- explorer: gradient-graph net.py engines=torch-tape -->\n<!-- /explorer -->\n"
    document = tmp_path / "page.md"
    document.write_text(block)
    # Its pictures go beside it: their folder leads to the other disk.
    (tmp_path / "images").symlink_to(folder)
    done = explorer("embed", str(document), EXPLORER_STORE=str(tmp_path / "store"))
    assert done.returncode == 2, done.stderr
    assert "written" in done.stderr
    assert "Traceback" not in done.stderr
    assert document.read_text() == block
