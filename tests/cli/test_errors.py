"""What cannot be done is one message on stderr, with its exit code, before any work starts."""

from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.model.errors import WorkerFaultError
from explorer.workers.workers import Workers
from tests.support.scenario_files import MINIMAL, written

TWO_TAPES = ("--engine", "mindspore-tape", "--engine", "torch-tape")

UNKNOWN_NAMES = [
    (
        ["scenarios"],
        "unknown command 'scenarios'; did you mean 'scenario'? "
        "allowed: scenario, graph, diff, show, train",
    ),
    (
        ["scenario", "--engin", "x"],
        "unknown option '--engin' of scenario; did you mean '--engine'? allowed: --engine, --case, --cases",
    ),
    (
        ["scenario", "dense_msee"],
        "is not the path of a .py file either; did you mean 'dense_mse'? "
        "`python -m explorer scenario` lists all ",
    ),
    (["diff", "dense_mse.py", "torch-tape", "torch-graph"], "did you mean 'dense_mse'?"),
    (["fuzz", "--engine", "torch-tap"], "unknown engine 'torch-tap'; did you mean 'torch-tape'?"),
    (
        ["scenario", "dense_mse", "--engine", "torch-tap"],
        "unknown engine 'torch-tap'; did you mean 'torch-tape'? allow",
    ),
    (
        ["scenario", "dense_mse", "--device", "gpu"],
        "unknown device 'gpu'; did you mean 'cuda[:N]'? allowed: cpu, cuda",
    ),
    (
        ["scenario", "dense_mse", "--out", "x", "--format", "pgn"],
        "unknown format 'pgn'; did you mean 'png'? allowed: ",
    ),
    (
        ["scenario", "dense_mse", "--case", "grad(0, weight=all)"],
        "did you mean 'grad(0, weights=all)'?",
    ),
    (
        ["graph", "dense_mse", "-o", "x.svgg"],
        "'x.svgg' has an unknown ending; did you mean '.svg'? allowed: .svg",
    ),
    (["graph", "dense_mse", "-o", "x"], "'x' has no ending; allowed: .svg"),
    (
        ["graph", "dense_mse", "-o", "x.svg", "--view", "lader"],
        "unknown view 'lader'; did you mean 'ladder'? allowed: ",
    ),
    (["diff", "dense_mse", "torch-tape", "tape"], "unknown engine 'tape'"),
    (["claims", "999"], "unknown claim '999'; allowed: numbers from 1 to 94"),
    (["claims", "--topic", "nets"], "unknown topic 'nets'"),
    (["claims", "--verdict", "true"], "unknown verdict 'true'"),
    (["study", "scale"], "unknown study 'scale'; did you mean 'loss-scale'?"),
    (["study", "devices", "nowhere"], "unknown scenario 'nowhere'"),
    (["study", "devices", "--out", "x", "--format", "dot"], "unknown format 'dot'"),
]

IMPOSSIBLE = [
    (["scenario", "dense_mse", "--order", "9"], "order 9 is out of range; allowed: 1 to 4"),
    (
        ["scenario", "dense_mse", "--order", "two"],
        "--order must be an integer, got 'two'; see `python -m explorer scenario --help`",
    ),
    (
        ["scenario", "dense_mse", "--order=1", "--order=2.5"],
        "--order must be an integer, got '2.5'; see `python -m explorer scenario --help`",
    ),
    (
        ["scenario", "dense_mse", "--timeout=abc"],
        "--timeout must be a number, got 'abc'; see `python -m explorer scenario --help`",
    ),
    (["scenario", "dense_mse", "--order"], "option '--order' requires an argument"),
    (
        ["scenario", "dense_mse", "lstm"],
        "unexpected argument: lstm; see `python -m explorer scenario --help`",
    ),
    (["--verison"], "unknown option '--verison' of explorer; allowed: --help"),
    (
        ["scenario", "dense_mse", "--timeout", "0"],
        "--timeout must be a positive number of seconds, got 0",
    ),
    (
        ["scenario", "dense_mse", "--timeout", "nan"],
        "--timeout must be a positive number of seconds, got nan",
    ),
    (
        ["claims", "--request-timeout", "0"],
        "--request-timeout must be a positive number of seconds, got 0",
    ),
    (["scenario", "dense_mse", "--cases", "struct"], "did you mean 'structure'"),
    (
        ["scenario", "dense_mse", "--format", "svg"],
        "--format needs a folder to write the files into; add --out DIR",
    ),
    (
        ["graph", "dense_mse"],
        "missing option '-o' / '--output'; see `python -m explorer graph --help`",
    ),
    (
        ["graph", "dense_mse", "-o", "x.svg", "--depth", "-1"],
        "--depth must be a number from 0 up, all or fit, got '-1'",
    ),
    (
        ["graph", "dense_mse", "-o", "x.dot", *TWO_TAPES],
        "two graphs side by side can be drawn as svg or png, not as dot",
    ),
    (
        ["graph", "dense_mse", "-o", "x.svg", "--engine", "torch-tape", "--engine", "torch-tape"],
        "engine 'torch-tape' is given 2 times; give each engine once",
    ),
    (["scenario", "--order", "2"], "--order needs a scenario to run; without one, the scenarios"),
    (["scenario", "--out", "x"], "--out needs a scenario to run"),
    (["study", "--format", "svg"], "--format needs a study to run; without one, the studies"),
    (["scenario", "--new", "mine", "--device", "cuda"], "--device has no effect with --new"),
    (
        ["diff", "dense_mse", *["torch-tape", "torch-graph", "--order", "2", "--case", "grad(0)"]],
        "case 'grad(0)' is of order 1, not 2; give the case or the order",
    ),
    (
        ["graph", "dense_mse", "-o", "x.json", "--view", "flow"],
        "--view has no effect on json, which has every node; leave it out",
    ),
    (["cache", "--clear", "--json"], "--clear prints no document; leave out --json"),
    (["claims", "--json", "--html"], "exclude each other"),
    (["claims", "1", "--topic", "gradients"], "--topic selects among all claims; leave it out"),
    (["claims", "1", "--verdict", "holds"], "--verdict selects among all claims"),
    (["claims", "1", "--against", "/nowhere.json"], "cannot be read as a board of claims"),
    (["study", "data-parallel", "dense_mse"], "takes no scenario"),
    (["study", "devices", "--device", "gpu"], "unknown device 'gpu'"),
    (["study", "higher-order", "embedding_repeats"], "has none of a floating dtype"),
    (
        ["diff", "polynomial", "torch-tape", "torch-graph", "--html", "a.html"],
        "--html is for two trainings",
    ),
    (
        ["correspond", "nn.GeLUU"],
        "unknown function or layer 'nn.GeLUU'; did you mean 'nn.GELU'?",
    ),
    (["warm", "dense_msee"], "dense_mse"),
    (["train", "dense_mse", "--steps", "0"], "--steps must be a number from 1 up, got 0"),
    (["train", "dense_mse", "torch-graph"], "unknown engine 'torch-graph'"),
    (["app", "--server.prot=8600"], "no such option '--server.prot'"),
    (
        ["diff", "dense_mse", "torch-tape"],
        "'torch-tape' is the only engine given; give a second one to compare it with",
    ),
    (
        ["diff", "dense_mse", "torch-tape", "torch-tape"],
        "'torch-tape' is given twice; give two different engines",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), UNKNOWN_NAMES + IMPOSSIBLE)
def test_a_usage_error_is_one_message_with_exit_code_2_before_any_work(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert not list(tmp_path.iterdir())
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.startswith("explorer: ")
    assert printed.err.count("\n") == 1


def test_foreign_text_in_a_message_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["scenario", "\x1b[31mred\u202e"]) == 2
    message = capsys.readouterr().err
    assert "\x1b" not in message
    assert "\u202e" not in message


def test_an_output_folder_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(Workers, "call", None)
    assert run(["scenario", "dense_mse", "--out", str(tmp_path / "file" / "out")]) == 2
    assert "nothing can be written to" in capsys.readouterr().err


@pytest.mark.slow
def test_an_engine_without_a_net_is_refused_with_those_that_have_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lonely = written(tmp_path, MINIMAL, "lonely.py")
    assert run(["diff", str(lonely), "mindspore-tape", "torch-tape"]) == 2
    message = capsys.readouterr().err
    assert "scenario lonely defines no net for 'mindspore-tape'" in message
    assert message.endswith(" torch-tape, torch-graph\n")


def test_a_fault_of_our_own_is_its_last_line_or_a_traceback_if_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise WorkerFaultError("Traceback (most recent call last):\n  …\nKeyError: 'x'\n")

    monkeypatch.setattr(Workers, "call", fault)
    # A report that is recorded is shown where there is no framework.
    monkeypatch.setattr("explorer.cli.scenario.report_in_place", lambda *_: None)
    assert run(["scenario", "dense_mse"]) == 3
    message = capsys.readouterr().err
    assert "KeyError: 'x'" in message
    assert "Traceback" not in message
    monkeypatch.setenv("EXPLORER_TRACEBACK", "1")
    with pytest.raises(WorkerFaultError, match="most recent call last"):
        run(["scenario", "dense_mse"])


IN_CHINESE = [
    (["scenarios"], "未知的命令 'scenarios'；是不是想输入 'scenario'？可用：scenario、graph、diff"),
    (["scenario", "--from-factories", "a"], "选项 '--from-factories' 需要 2 个值"),
    (["diff", "x"], "缺少参数 'LEFT'；参见 `python -m explorer diff --help`"),
    (["cache", "--clear=1"], "选项 '--clear' 不接受值"),
    (["sweep", "--jobs", "0"], "--jobs 不能小于 1，但得到 0"),
    (["warm", "nothing"], "未知的组、场景或研究 'nothing'；"),
]
"""Messages of Typer's that no line above has, and some of the explorer's own; the catalogue has them all."""


@pytest.mark.parametrize(("arguments", "message"), IN_CHINESE)
def test_a_usage_error_is_in_the_language_that_the_line_names(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--lang=zh"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"explorer: {message}")
    assert printed.err.count("\n") == 1
