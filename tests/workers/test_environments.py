"""The environments of workers: what they write down, what they wait for, and what JAX's keep."""

import os
from pathlib import Path
from typing import get_args

import pytest

from explorer.folders import COMPILED, STORE
from explorer.model.engines import PlainKind, WorkerKind
from explorer.workers import environments
from explorer.workers.environments import (
    ONE_THREAD,
    QUIET,
    ROOT,
    SETTINGS,
    capture_environment,
    compiled,
    nursery_environment,
    worker_environment,
)
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word


def test_only_a_worker_that_is_to_read_values_has_every_kernel_dumped(tmp_path: Path) -> None:
    full = capture_environment(tmp_path)
    bare = capture_environment(tmp_path, values=False)
    assert Path(full[SETTINGS]).is_file()
    assert bare == {name: value for name, value in full.items() if name != SETTINGS}


@pytest.mark.parametrize("kind", get_args(PlainKind))
@pytest.mark.parametrize("name", [*ONE_THREAD, *QUIET])
def test_a_variable_of_the_user_s_changes_no_sum_and_lets_nothing_be_logged(
    kind: WorkerKind, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name, raising=False)
    without = worker_environment(kind, tmp_path), nursery_environment(tmp_path)
    monkeypatch.setenv(name, "8")
    assert (worker_environment(kind, tmp_path), nursery_environment(tmp_path)) == without


def test_other_variables_of_the_user_s_reach_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("PYTHONPATH", "/of/the/user")
    environment = worker_environment("torch", tmp_path)
    assert environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert environment["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "/of/the/user"]


def test_what_jax_compiles_is_kept_for_the_machine_it_was_compiled_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE, str(tmp_path))
    folders = []
    for units in (["avx2"], ["avx512f"], ["avx2"]):
        monkeypatch.setattr(environments, "machine", lambda units=units: {"units": units})
        folders.append(compiled())
    own, other, again = folders
    assert own == again != other
    assert own.parent == other.parent == tmp_path / COMPILED
    variables = worker_environment("jax", tmp_path)
    assert variables["JAX_COMPILATION_CACHE_DIR"] == str(own)


@pytest.mark.parametrize(("most", "is_kept"), [(20, True), (19, False)])
def test_what_jax_has_compiled_is_removed_where_it_has_grown_large(
    most: int, is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE, str(tmp_path))
    monkeypatch.setattr(environments, "MOST_COMPILED", most)
    folder = compiled()
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        (folder / name).write_bytes(bytes(10))
    assert compiled() == folder
    assert folder.exists() is is_kept


@pytest.mark.mindspore
@pytest.mark.parametrize(
    ("kind", "raised"),
    [("mindspore", "at once"), ("mindspore-second", "at once"), ("mindspore-plain", "read")],
)
def test_a_tape_waits_for_each_operator_but_where_time_and_memory_are_measured(
    kind: WorkerKind, raised: str
) -> None:
    target = "tests.support.worker_targets:failure_of_an_operator"
    # Workers of its own: once an operator has run, MindSpore takes no device any more.
    with Workers() as workers:
        assert workers.call(kind, target, Word(""), Word) == Word(raised)
