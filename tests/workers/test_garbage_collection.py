"""Python's collector in a worker: what an import brings is set apart, and it runs again afterwards."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.model.engines import WorkerKind
from explorer.workers.garbage_collection import MANY, imported, paused
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word

NOTED = "import gc\nWAS_ENABLED = gc.isenabled()\nKEPT = [[] for _ in range(1000)]\n"
"""A module that notes whether the collector runs, and brings a thousand objects."""


@pytest.fixture(autouse=True)
def nothing_set_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules are found in ``tmp_path``; what a test sets apart is looked through again after it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    known = set(sys.modules)
    gc.unfreeze()
    yield
    gc.unfreeze()
    for name in set(sys.modules) - known:
        del sys.modules[name]


def package(folder: Path, name: str, modules: int) -> str:
    """A package that imports so many modules of its own."""
    home = folder / name
    home.mkdir()
    for number in range(modules):
        (home / f"part{number}.py").touch()
    imports = "".join(f"from . import part{number}\n" for number in range(modules))
    (home / "__init__.py").write_text(imports + NOTED)
    return name


def test_what_a_framework_brings_is_set_apart_and_the_collector_rests_meanwhile(
    tmp_path: Path,
) -> None:
    module = imported(package(tmp_path, "framework_of_a_test", MANY))
    assert not module.WAS_ENABLED
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1000


def test_a_module_alone_is_not_set_apart(tmp_path: Path) -> None:
    imported(package(tmp_path, "module_of_a_test", MANY - 2))  # the package counts too
    assert gc.get_freeze_count() == 0


def test_a_module_is_imported_once(tmp_path: Path) -> None:
    name = package(tmp_path, "module_imported_once", 1)
    first = imported(name)
    assert imported(name) is first


def test_the_collector_runs_again_after_an_import_that_failed(tmp_path: Path) -> None:
    (tmp_path / "module_that_fails.py").write_text("raise ValueError('no')\n")
    with pytest.raises(ValueError, match="no"):
        imported("module_that_fails")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("kind", "module"),
    [
        pytest.param("mindspore", "mindspore", marks=pytest.mark.mindspore),
        pytest.param("mindspore-plain", "mindspore", marks=pytest.mark.mindspore),
        pytest.param("torch", "torch._dynamo", marks=pytest.mark.torch),
    ],
)
def test_workers_look_through_no_framework_and_collect_what_calls_leave(
    kind: WorkerKind, module: str
) -> None:
    target = "tests.support.worker_targets:state_of_collector"
    # Workers of its own: other tests' leave things of their own behind.
    with Workers() as workers:
        for _ in range(2):  # the framework is imported while the first call runs
            state = workers.call(kind, target, Word(module), Word)
    assert isinstance(state, Word)
    enabled, frozen, watched = state.text.split()
    assert enabled == "True"
    assert int(frozen) > 150_000
    assert int(watched) < 50_000
