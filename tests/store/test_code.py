"""Which code counts for an answer of a worker: all that it imports, and nothing that shows results."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.model.engines import ENGINES, Engine, Framework
from explorer.shipped import PACKAGE
from explorer.store import code
from explorer.workers.workers import Workers
from tests.support.scenario_files import written
from tests.support.worker_targets import Word

REMEMBERED = code.code_behind, code._imported_by, code._text


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package in the place of the explorer, where a target imports others in several ways."""
    folder = tmp_path / "explorer"
    for inner in ("engines/torch", "model", "workers", "words"):
        (folder / inner).mkdir(parents=True)
    written(folder, "from explorer.words import texts\n", "__init__.py")
    (folder / "words" / "texts.py").touch()
    (folder / "engines" / "torch" / "by_name.py").touch()
    for name in ("first", "second", "third", "__init__"):
        (folder / "model" / f"{name}.py").touch()
    written(
        folder / "engines/torch",
        "from explorer.model import (\n    first,\n    second as other,\n)\n"
        "def answer():\n    import explorer.model.third\n",
        "tape.py",
    )
    monkeypatch.setattr(code, "PACKAGE", folder)
    monkeypatch.setattr(code, "TOP", folder / "__init__.py")
    for function in REMEMBERED:
        function.cache_clear()
    yield folder
    for function in REMEMBERED:
        function.cache_clear()


def digest() -> str:
    """The digest of the target's code as it is now."""
    for function in REMEMBERED:
        function.cache_clear()
    return code.code_in_worker("explorer.engines.torch.tape:answer", "torch")


@pytest.mark.parametrize(
    "file",
    [
        "__init__.py",
        "engines/torch/tape.py",
        "engines/torch/by_name.py",
        "model/__init__.py",
        "model/first.py",
        "model/second.py",
        "model/third.py",
    ],
)
def test_a_change_of_what_a_worker_may_import_is_other_code(package: Path, file: str) -> None:
    before = digest()
    (package / file).write_text("# changed\n" + (package / file).read_text())
    assert digest() != before


def test_a_change_of_anything_else_is_none(package: Path) -> None:
    before = digest()
    (package / "words" / "texts.py").write_text("# changed\n")
    assert digest() == before


@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_nothing_that_compares_or_shows_is_code_of_a_worker(engine: Engine) -> None:
    parts = {path.relative_to(PACKAGE).parts[0] for path in code._reached([engine.module])}
    assert parts <= {
        *("__init__.py", "engines", "environments", "folders.py", "model", "numeric"),
        *("scenario", "shipped.py", "store", "text", "whole_files.py", "workers"),
    }


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("framework", ["mindspore", "torch"])
def test_every_module_that_a_worker_has_loaded_counts(framework: Framework) -> None:
    # (This one too, which the worker was asked for.)
    target = "tests.support.worker_targets:loaded_modules"
    with Workers() as workers:
        said = workers.call(framework, target, Word(framework), Word)
    assert isinstance(said, Word)
    loaded = said.text.split()
    assert f"explorer.engines.{framework}.tape" in loaded
    folder = PACKAGE / "engines" / framework
    roots = [f"explorer.engines.{framework}.{path.stem}" for path in folder.glob("*.py")]
    others = [f"explorer.engines.{name}" for name in ("oracle", "whole")]
    reached = code._reached([*roots, *others, *code.SERVING, "explorer.topics.in_worker"])
    for module in loaded:
        path = code._file(module)
        assert path in reached or module.startswith("explorer.topics."), module
