"""The store as commands use it: asked once, answered at once; `cache` and `warm`."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.folders import STORE
from explorer.store.keys import key_of
from explorer.store.store import Entry, Store
from tests.support.nets import NETS

pytestmark = pytest.mark.own_store


def test_an_empty_store_says_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE, str(tmp_path / "here"))
    assert run(["cache"]) == 0
    said = capsys.readouterr().out
    assert str(tmp_path / "here") in said
    assert "0 results" in said


def test_one_result_of_a_kind_is_counted_in_the_singular(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = Store()
    store.put(key_of("layout", "first"), {})
    assert run(["cache"]) == 0
    assert "  1 layout of a picture\n" in capsys.readouterr().out
    store.put(key_of("layout", "second"), {})
    assert run(["cache"]) == 0
    assert "  2 layouts of pictures\n" in capsys.readouterr().out


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_a_command_that_was_asked_before_answers_the_same_without_workers(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["scenario", str(NETS / "square.py"), "--engine", "torch-tape", "--json"]
    assert run(command) == 0
    first = capfdbinary.readouterr().out
    assert {kind: entry.name for kind, entry in stored().items()} == {
        "reading": "square",
        "scenario": "square",
    }

    def none(*_: object, **options: object) -> None:
        raise AssertionError("it was asked again")

    with monkeypatch.context() as patch:
        patch.setattr("explorer.exploration.explore.explore", none)
        assert run(command) == 0
        assert capfdbinary.readouterr().out == first
        with pytest.raises(AssertionError, match="asked again"):
            run([*command, "--fresh"])

    assert run(["cache", "--json"]) == 0
    rows = json.loads(capfdbinary.readouterr().out)["results"]
    assert {row["name"] for row in rows if row["kind"] != "reply"} == {"square"}
    assert run(["cache", "--clear"]) == 0
    assert Store().entries() == []


def stored() -> dict[str, Entry]:
    """What is stored by kind, but for the layouts of pictures and the replies of workers."""
    entries = Store().entries()
    return {entry.kind: entry for entry in entries if entry.kind not in ("layout", "reply")}


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
@pytest.mark.sample
def test_warm_stores_what_is_named_and_asks_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["warm", "unused_input"]) == 0
    assert "1/1 scenarios unused_input: stored" in capsys.readouterr().out
    entries = stored()
    assert {kind: entry.name for kind, entry in entries.items()} == {
        "scenario": "unused_input",
        "card": "unused_input",
    }
    assert run(["warm", "unused_input"]) == 0
    assert {kind: entry.made for kind, entry in stored().items()} == {
        kind: entry.made for kind, entry in entries.items()
    }
