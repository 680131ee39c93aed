"""``scenario --new``: the files that it writes run as they are."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest

from explorer.cli.entry import run
from explorer.scenario.declaration import Factory
from explorer.scenario.load import load
from explorer.scenario.templates import scenario_of_factories
from tests.support.own_package import MINDSPORE, RIGHT, write_package


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_a_new_scenario_runs_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scenario", "--new", "first_try"]) == 0
    assert "first_try.py" in capsys.readouterr().out
    assert run(["scenario", "first_try.py", "--cases", "structure"]) == 0
    assert "all as expected" in capsys.readouterr().out


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_one_of_two_factories_runs_on_inputs_of_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_package(folder)
    np.savez(folder / "batch.npz", x=np.ones((2, 3), np.float32), y=np.ones((2, 1), np.float32))
    new = ["scenario", "--new", "port", "--from-factories", MINDSPORE, RIGHT]
    assert run([*new, "--inputs", "batch.npz"]) == 0
    text = (folder / "port.py").read_text()
    # The folder may be moved with all that is in it.
    assert str(folder) not in text
    assert "REPLACE: " not in text
    moved = folder.rename(folder.with_name("moved"))
    assert load(moved / "port.py").inputs()["x"].shape == (2, 3)
    moved.rename(folder)
    assert run(["scenario", "port.py", "--cases", "main"]) == 0
    assert "all as expected" in capsys.readouterr().out


def test_without_inputs_there_are_arrays_that_are_said_to_be_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_package(folder)
    assert run(["scenario", "--new", "port", "--from-factories", MINDSPORE, RIGHT]) == 0
    assert list(load(folder / "port.py").inputs()) == ["x", "y"]
    assert "REPLACE: " in (folder / "port.py").read_text()
    assert "replace the placeholder arrays" in capsys.readouterr().out


def test_a_path_is_written_from_the_file_where_one_lies_in_the_other(tmp_path: Path) -> None:
    at = tmp_path / "project" / "tests"
    at.mkdir(parents=True)
    places = {
        tmp_path / "project": "str(FOLDER / '..')",
        at / "nets": "str(FOLDER / 'nets')",
        at: "str(FOLDER)",
        tmp_path / "elsewhere": f"str(Path({str(tmp_path / 'elsewhere')!r}))",
    }
    net = Factory("ported.models", "net")
    for place, expression in places.items():
        text = scenario_of_factories("port", {"torch": net}, [place], None, at)
        assert f"sys.path.append({expression})" in text
    installed = Path(sysconfig.get_path("purelib"))
    text = scenario_of_factories("port", {"torch": net}, [installed], None, at)
    assert "sys.path" not in text


def test_a_file_that_is_there_stays_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.py").write_text("# mine\n")
    assert run(["scenario", "--new", "mine"]) == 2
    assert (folder / "mine.py").read_text() == "# mine\n"
    assert "mine.py" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--new", "../x"], "../x"),
        (["--new", "1st"], "1st"),
        (["--new", "port", "--from-factories", "a.b", "c.d:e"], "a.b"),
        (["--new", "port", "--from-factories", "no_such:net", "json:loads"], "no_such"),
        (["--new", "port", "--from-factories", "json:loads", "json:loads", "--inputs", "x"], "npz"),
        (["--new", "port", "--inputs", "x.npz"], "--from-factories"),
        (["--from-factories", "json:loads", "json:loads"], "--new"),
        (["dense_mse", "--new", "port"], "dense_mse"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is(
    folder: Path, options: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scenario", *options]) == 2
    assert word in capsys.readouterr().err
    assert not list(folder.iterdir())
