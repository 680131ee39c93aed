"""The lists of scenarios and of studies, and how little is loaded for them."""

import json
import subprocess
import sys

import pytest

from explorer.cli.entry import run
from explorer.cli.listings import REAL_HEADING
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.text.language import said_in
from explorer.topics import STUDIES, study_topic
from explorer.words.scenarios import said
from tests.support.command_line import ROOT, explorer


@pytest.mark.slow
def test_scenarios_are_listed_with_their_titles_in_two_lines_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["scenario"]) == 0
    small, real = capsys.readouterr().out.split(f"\n{REAL_HEADING}\n\n")
    for part, name in ((small, "dense_mse"), (real, "real/gpt")):
        lines = part.splitlines()
        names, titles = lines[::2], lines[1::2]
        assert name in names
        assert names == sorted(names)
        assert all(title.startswith("    ") and title.strip() for title in titles)


@pytest.mark.slow
def test_the_list_of_scenarios_is_also_one_json_document() -> None:
    done = explorer("scenario", "--json")
    assert set(json.loads(done.stdout)["scenarios"][0]) == {"name", "title", "path"}


def test_a_list_in_chinese_has_chinese_titles_and_its_document_english_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    title = load(find("dense_mse")).title
    assert run(["--lang", "zh", "scenario"]) == 0
    lines = capsys.readouterr().out.splitlines()
    with said_in("zh"):
        assert lines[lines.index("dense_mse") + 1].strip() == said(title) != title
    assert run(["--lang", "zh", "scenario", "--json"]) == 0
    titles = {row["name"]: row["title"] for row in json.loads(capsys.readouterr().out)["scenarios"]}
    assert titles["dense_mse"] == title


def test_studies_are_listed_with_their_questions(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run(["study"]) == 0
    shown = capsys.readouterr().out
    for name in STUDIES:
        assert name in shown
        assert study_topic(name).question in shown


@pytest.mark.parametrize("command", ["scenario", "study"])
def test_on_a_terminal_no_word_of_a_list_is_broken(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run([command]) == 0
    whole = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "50")
    assert run([command]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 50
    assert shown.split() == whole.split()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["scenario", "study"])
def test_a_list_is_printed_without_loading_what_runs_or_draws(command: str) -> None:
    code = (
        f"import sys; from explorer.cli.entry import run; run([{command!r}]); "
        "heavy = {'mindspore', 'torch', 'graphviz', 'rich', 'streamlit'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_a_command_seldom_looks_for_garbage() -> None:
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print('searches', gc.get_stats()[0]['collections']))\n"
        "from explorer.cli import main\n"
        "sys.argv = ['explorer', 'scenario']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "dense_mse" in done.stdout
    assert int(done.stdout.split("searches ")[1]) < 100
