"""Packages of one name in two folders: a worker makes each net of its own one, whatever it made before."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.scenario.declaration import Declaration, Factory
from explorer.scenario.load import make_net

PACKAGE = "package_in_two_folders"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before
    for name in [it for it in sys.modules if it.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def in_folder(folder: Path, answer: int) -> Declaration:
    """A net in a package whose module reads a constant of another one."""
    package = folder / PACKAGE
    package.mkdir(parents=True)
    (package / "constants.py").write_text(f"ANSWER = {answer}\n")
    text = f"from {PACKAGE}.constants import ANSWER\n\n\ndef net():\n    return ANSWER\n"
    (package / "nets.py").write_text(text)
    factory = Factory(f"{PACKAGE}.nets", "net", str(folder))
    return Declaration(name="net", file="net", title="", nets={"torch": factory})


@pytest.mark.parametrize("is_on_path", [False, True])
def test_each_net_is_that_of_its_folder_whatever_was_imported_before(
    is_on_path: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = in_folder(tmp_path / "one", 1), in_folder(tmp_path / "other", 2)
    if is_on_path:
        monkeypatch.syspath_prepend(tmp_path / "one")
    path = list(sys.path)
    assert [make_net(it, "torch") for it in (one, other, one, other)] == [1, 2, 1, 2]
    # Only what the last net needs is added.
    assert set(sys.path) - set(path) == {str(tmp_path / "other")}
