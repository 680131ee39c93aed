"""Surroundings that are hard to live in: no UTF-8, odd paths, a home that takes nothing."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from tests.knocks.harms import text
from tests.support.command_line import explorer
from tests.support.scenario_files import written
from tests.support.traces import left_behind, own_scratch

ODD = "a b\nc 梯度 'q\" $x;&"
"""A name that a shell, a line of text, and a table of the Latin alphabet all take amiss."""

PLAIN = {
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii",
}
"""The variables of a system that knows no other letters than ASCII's."""

NET = text("pass", "module").replace("A sum of squares", "平方和 ∂y/∂x")

SOON = ("--engine", "torch-tape", "--cases", "main")


def values(said: str) -> object:
    """The main gradient in a document."""
    (case,) = json.loads(said)["cases"]
    return case["results"]["torch-tape"]["values"]


@pytest.mark.torch
@pytest.mark.sample
@pytest.mark.whole
def test_odd_paths_and_a_locale_without_utf8_change_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = own_scratch(tmp_path, monkeypatch)
    folder = tmp_path / ODD
    folder.mkdir()
    file = written(folder, NET, f"{ODD}.py")
    own = {**PLAIN, "EXPLORER_STORE": str(folder / f"store {ODD}"), "TMPDIR": str(scratch)}
    out = folder / f"out {ODD}"
    files = ("--out", str(out), "--format", "json,html")
    done = explorer("scenario", str(file), *SOON, *files, cwd=tmp_path, **own)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.isascii()
    assert sorted(path.suffix for path in out.iterdir()) == [".html", ".json"]
    document = (out / "report.json").read_text(encoding="utf-8")
    assert values(document) == [2.0, 4.0, 6.0]
    assert json.loads(document)["title"] == "平方和 ∂y/∂x"
    assert left_behind(scratch) == []


@pytest.fixture(scope="module", params=[False, True], ids=["UTF-8", "ASCII"])
def odd(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, str]]:
    """A folder with a net, a page and a store, all of odd names, and the variables that go with it."""
    folder = tmp_path_factory.mktemp("odd") / ODD
    folder.mkdir()
    written(folder, NET, "net 梯度.py")
    claim = "Text: ∂\n\n<!-- explorer: gradient-claim 20 -->\n<!-- /explorer -->\n"
    written(folder, claim, "page.md")
    store = {"EXPLORER_STORE": str(folder / "store")}
    return folder, {**store, **(PLAIN if request.param else {})}


@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.parametrize(
    "command",
    [
        ("diff", "FILE", "torch-tape", "torch-graph"),
        ("graph", "FILE", "--engine", "torch-tape", "-o", "OUT/graph.svg"),
        ("graph", "FILE", "--engine", "torch-tape", "-o", "OUT/graph.png"),
        ("study", "devices", "FILE", "--out", "OUT/out"),
        ("sweep", "FILE", "--out", "OUT/out"),
        ("sweep", "FOLDER", "--out", "OUT/out"),
        ("claims", "20", "--pages", "OUT/out"),
        ("embed", "FOLDER/page.md"),
        ("cache",),
        ("doctor",),
    ],
    ids=" ".join,
)
def test_every_command_bears_odd_paths(
    command: tuple[str, ...], odd: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    folder, variables = odd
    out = tmp_path / ODD
    out.mkdir()
    places = {"OUT": str(out), "FILE": str(folder / "net 梯度.py"), "FOLDER": str(folder)}
    arguments = []
    for word in command:
        for name, place in places.items():
            word = word.replace(name, place)
        arguments.append(word)
    done = explorer(*arguments, cwd=tmp_path, **variables)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr


def test_a_path_that_is_no_text_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Paths on Linux are bytes; those of older systems need not be UTF-8.
    folder = tmp_path / "latin-\udce9"
    folder.mkdir()
    assert run(["scenario", str(written(folder, NET, "net.py")), *SOON]) == 2
    assert "is not valid UTF-8" in capsys.readouterr().err
