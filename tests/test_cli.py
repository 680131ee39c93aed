"""The command line as a person or a script meets it: what is printed where, and with which exit
code.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import commands
from explorer.cli.entry import run
from explorer.text.choices import nearest
from explorer.workers.workers import Workers

ROOT = Path(__file__).resolve().parent.parent
SQUARE = str(ROOT / "tests" / "nets" / "square.py")
TWO = ("--engine", "mindspore-tape", "--engine", "torch-tape")
ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if key not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
}


def explorer(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, from any folder."""
    return subprocess.run(
        [sys.executable, "-m", "explorer", *arguments],
        cwd=cwd,
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_help_names_every_command_and_loads_no_framework() -> None:
    code = (
        "import sys; from explorer.cli.entry import run; run(['--help']); "
        "print(sorted({'mindspore', 'torch', 'numpy', 'rich', 'streamlit'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f"  {name} " in done.stdout for name in commands.names())
    assert commands.names() == ["scenario", "graph", "diff", "study", "claims", "doctor", "app"]


@pytest.mark.parametrize("command", ["scenario", "graph", "diff", "study", "claims", "doctor"])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: explorer " + command)


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "Commands:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["scenarios"],
            "no command is called 'scenarios'; did you mean 'scenario'? allowed: scenario, graph, diff, study, claims",
        ),
        (
            ["scenario", "--engin", "x"],
            "scenario has no option '--engin'; did you mean '--engine'? allowed: --case, --device",
        ),
        (
            ["scenario", "dense_msee"],
            "is not the path of a .py file; did you mean 'dense_mse'? allowed: ",
        ),
        (["scenario", "nowhere.py"], "scenario file 'nowhere.py' does not exist"),
        (
            ["scenario", "dense_mse", "--engine", "torch-tap"],
            "no engine is called 'torch-tap'; did you mean 'torch-tape'? allow",
        ),
        (
            ["scenario", "dense_mse", "--device", "gpu"],
            "no device is called 'gpu'; did you mean 'cpu'? allowed: cpu, cuda",
        ),
        (["scenario", "dense_mse", "--order", "9"], "--order 9 is out of range; allowed: 1 to 4"),
        (["scenario", "dense_mse", "--order", "two"], "invalid value for '--order'"),
        (["scenario", "dense_mse", "--timeout", "0"], "--timeout 0 is no time limit"),
        (["scenario", "dense_mse", "--timeout", "nan"], "--timeout nan is no time limit"),
        (
            ["scenario", "dense_mse", "--format", "svg"],
            "--format says what goes into a folder; give the folder too: --out DIR",
        ),
        (
            ["scenario", "dense_mse", "--out", "x", "--format", "pgn"],
            "no format is called 'pgn'; did you mean 'png'? allowed: ",
        ),
        (
            ["scenario", "dense_mse", "--case", "grad(0, weight=all)"],
            "did you mean 'grad(0, weights=all)'?",
        ),
        (["graph", "dense_mse"], "missing option '-o' / '--output'"),
        (
            ["graph", "dense_mse", "-o", "x.svgg"],
            "'x.svgg' does not end in a format; did you mean '.svg'? allowed: .svg",
        ),
        (
            ["graph", "dense_mse", "-o", "x"],
            "'x' has no ending that says its format; allowed: .svg",
        ),
        (
            ["graph", "dense_mse", "-o", "x.svg", "--view", "lader"],
            "no view is called 'lader'; did you mean 'ladder'? allowed: ",
        ),
        (["graph", "dense_mse", "-o", "x.svg", "--depth", "-1"], "--depth -1 is out of range"),
        (
            [
                "graph",
                "dense_mse",
                "-o",
                "x.svg",
                "--engine",
                "torch-tape",
                "--engine",
                "torch-grap",
            ],
            "did you mean 'torch-graph'",
        ),
        (
            ["graph", "dense_mse", "-o", "x.png", *TWO],
            "two graphs side by side are drawn as svg only, not as png",
        ),
        (["diff", "dense_mse", "torch-tape"], "missing argument 'RIGHT'"),
        (
            ["diff", "dense_mse", "torch-tape", "torch-tape"],
            "'torch-tape' is given twice; name two different engines",
        ),
        (["diff", "dense_mse", "torch-tape", "tape"], "no engine is called 'tape'"),
    ],
)
def test_a_usage_error_is_one_message_with_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.startswith("explorer: ")
    assert said.err.count("\n") == 1


def test_foreign_text_in_a_message_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["scenario", "\x1b[31mred\u202e"]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_an_output_folder_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(Workers, "call", None)
    assert run(["scenario", SQUARE, "--out", str(tmp_path / "file" / "out")]) == 2
    assert "nothing can be written to" in capsys.readouterr().err


def test_an_engine_without_a_net_is_refused_with_those_that_have_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lonely = tmp_path / "lonely.py"
    lonely.write_text(
        '"""One framework."""\nimport numpy as np\n\n\ndef inputs():\n    return {"x": np.ones(2)}\n\n\n'
        "def torch_net():\n    return lambda x: x.sum()\n"
    )
    assert run(["diff", str(lonely), "mindspore-tape", "torch-tape"]) == 2
    assert (
        "scenario lonely has no net for 'mindspore-tape'; it has one for torch-tape, torch-graph"
        in capsys.readouterr().err
    )


def test_scenarios_are_listed_with_their_titles_in_two_lines_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["scenario"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names, titles = lines[::2], lines[1::2]
    assert "dense_mse" in names
    assert names == sorted(names)
    assert all(title.startswith("    ") and title.strip() for title in titles)


def test_the_list_of_scenarios_is_also_one_json_document() -> None:
    done = explorer("scenario", "--json")
    assert {"name", "title", "path"} == set(json.loads(done.stdout)["scenarios"][0])


def test_nearest_does_not_mind_case() -> None:
    assert nearest("TORCH-TAPE", ["torch-graph", "torch-tape"])[0] == "torch-tape"


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The main job on a net of one op in all four engines, from a folder of its own, with its
    files.
    """
    folder = tmp_path_factory.mktemp("work")
    return explorer("scenario", SQUARE, "--out", "out", "--json", cwd=folder), folder


def test_the_main_job_prints_one_json_document_and_nothing_else(
    whole: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, folder = whole
    assert done.stderr == ""
    assert done.returncode == 0
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["scenario"] == "square"
    assert set(document["devices"]) == {
        "mindspore-graph",
        "mindspore-tape",
        "torch-tape",
        "torch-graph",
    }
    case = next(case for case in document["cases"] if case["short"] == "grad(0)")
    assert [result["values"] for result in case["results"].values()] == [[2.0, 4.0, 6.0]] * 4
    assert (case["verdict"], case["expected"], case["oracle"]["agrees"]) == ("match", True, True)
    assert json.loads((folder / "out" / "report.json").read_text()) == document


def test_the_main_job_leaves_its_files_and_no_others(
    whole: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, folder = whole
    last = {
        f"{engine}.svg"
        for engine in ("mindspore-graph", "mindspore-tape", "torch-tape", "torch-graph")
    }
    found = {path.name for path in (folder / "out").iterdir()}
    assert found >= {*last, "report.json"}
    assert all(
        re.fullmatch(r"(mindspore|torch)-(graph|tape)(-\w+)?\.svg|report\.json", name)
        for name in found
    )
    assert [path.name for path in folder.iterdir()] == ["out"]


def test_two_engines_can_be_asked_alone_and_read_without_colour() -> None:
    done = explorer(
        "scenario",
        SQUARE,
        "--engine",
        "torch-tape",
        "--engine",
        "mindspore-tape",
        NO_COLOR="1",
        COLUMNS="100",
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert done.stdout.splitlines()[-1].endswith("; 0 unexpected")
    assert "torch-graph" not in done.stdout


def test_diff_says_that_two_engines_do_not_part() -> None:
    done = explorer("diff", SQUARE, "mindspore-tape", "torch-tape", "--case", "grad(0)")
    assert done.returncode == 0
    assert "no divergence" in done.stdout
    assert done.stdout.startswith("grad(net, grad_position=0, weights=None, has_aux=False)\n")


def test_diff_exits_with_1_where_two_engines_part() -> None:
    done = explorer("diff", "aliased_input", "mindspore-graph", "torch-tape", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["left"], document["right"]) == ("mindspore-graph", "torch-tape")
    assert document["divergence"]["sentence"]


def test_graph_writes_the_file_asked_for(tmp_path: Path) -> None:
    done = explorer(
        "graph",
        SQUARE,
        "--engine",
        "torch-tape",
        "--case",
        "grad(0)",
        "-o",
        str(tmp_path / "square.json"),
    )
    assert done.returncode == 0
    assert done.stdout == f"wrote {tmp_path / 'square.json'}\n"
    document = json.loads((tmp_path / "square.json").read_text())
    assert (document["engine"], document["case"]) == (
        "torch-tape",
        "grad(net, grad_position=0, weights=None, has_aux=False)",
    )
    assert {node["phase"] for node in document["nodes"]} == {"forward", "backward"}


def test_graph_draws_two_engines_in_one_picture(tmp_path: Path) -> None:
    done = explorer("graph", SQUARE, *TWO, "--case", "grad(0)", "-o", str(tmp_path / "two.svg"))
    assert done.returncode == 0
    picture = (tmp_path / "two.svg").read_text()
    assert "mindspore-tape · grad(net" in picture
    assert "torch-tape · grad(net" in picture


def test_a_worker_that_outlives_its_time_is_reported_and_exits_with_3() -> None:
    done = explorer(
        "scenario",
        str(ROOT / "tests" / "nets" / "sleeper.py"),
        "--engine",
        "torch-tape",
        "--timeout",
        "1",
        "--json",
    )
    assert done.returncode == 3
    outcomes = {
        case["results"]["torch-tape"]["outcome"] for case in json.loads(done.stdout)["cases"]
    }
    assert outcomes == {"timed_out"}


def test_interrupting_stops_the_workers_quietly(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "explorer", "scenario", "dense_mse"],
        cwd=ROOT,
        env={**ENVIRONMENT, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir())  # a worker's scratch folder, which goes when the worker is gone
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_doctor_tells_versions_devices_and_what_is_missing() -> None:
    done = explorer("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert {
        "python",
        "mindspore",
        "torch",
        "numpy",
        "streamlit",
        "graphviz",
        "pygraphviz",
        "layout",
        "chromium",
    } <= set(checks)
    assert "on cpu" in checks["torch"]["found"]
    missing = [check for check in checks.values() if not check["fine"]]
    assert all(check["remedy"] for check in missing)
    assert done.returncode == (3 if any(check["required"] for check in missing) else 0)
