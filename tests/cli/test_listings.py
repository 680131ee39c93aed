"""The lists of scenarios and of studies, and how little is loaded for them."""

import json

import pytest

from explorer.cli import commands
from explorer.cli.entry import run
from explorer.cli.listings import REAL_HEADING
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.text.language import said_in
from explorer.topics import STUDIES, study_topic
from explorer.words.scenarios import said
from tests.support.command_line import python


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


@pytest.mark.parametrize("command", [pytest.param("scenario", marks=pytest.mark.slow), "study"])
def test_on_a_terminal_no_word_of_a_list_is_broken(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run([command]) == 0
    whole = capsys.readouterr().out
    if command == "study":
        # Studies are listed with their questions.
        for name in STUDIES:
            assert name in whole
            assert study_topic(name).question in whole
    monkeypatch.setenv("COLUMNS", "50")
    assert run([command]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 50
    assert shown.split() == whole.split()


PROGRAM = """
import gc, sys
from explorer.cli import main

for arguments in (["--help"], [], ["study"], ["scenario"], ["scenario", "--json"]):
    sys.argv = ["explorer", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, arguments
    print("loaded", *sorted({"mindspore", "torch", "graphviz", "rich", "streamlit"} & set(sys.modules)))
    if not {"study", "scenario"} & set(arguments):
        print("numpy" in sys.modules)
print("searches", gc.get_stats()[0]["collections"])
"""


@pytest.mark.slow
def test_help_and_lists_load_nothing_that_runs_or_draws_and_seldom_look_for_garbage() -> None:
    printed = python("-c", PROGRAM)
    for name in commands.names():
        assert printed.count(f"  {name} ") >= 2, "in the help, and where nothing is given"
    assert printed.count("Commands:") == 2
    assert printed.count("loaded\n") == 5
    assert "True\n" not in printed
    document = printed.split("loaded\n")[4]
    assert set(json.loads(document)["scenarios"][0]) == {"name", "title", "path"}
    assert int(printed.split("searches ")[1]) < 300
