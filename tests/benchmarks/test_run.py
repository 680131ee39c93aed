"""A run of benchmarks, which goes on where one misses a bar, breaks or hangs."""

import ast
import shutil
from pathlib import Path

import pytest

from benchmarks import __main__ as running
from benchmarks._records import read
from tests.support.command_line import ROOT

HEAD = """
import sys
import time

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from explorer.model.errors import UsageError

def figure(name, value):
    return Figure(name=name, unit="s", basis="wall", rounds=(value,), bar=1.0)
"""

MEASURES = {
    "misses": "    yield figure('slow', 2.0)\n    yield figure('fast', 0.5)",
    "breaks": "    yield figure('before', 0.5)\n    raise ValueError('planted')",
    "refuses": "    raise UsageError('nothing is called so')\n    yield",
    "hangs": "    yield figure('before', 0.5)\n    time.sleep(600)",
    "keeps": "    print('a net prints')\n    yield figure('fast', 0.5)",
}
"""What made benchmarks measure."""

TAIL = """
if __name__ == "__main__":
    sys.exit(present(measure(), parser("doc").parse_args().figures))
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the benchmarks in which those above are the only ones; the file of its run."""
    shutil.copytree(ROOT / "benchmarks", tmp_path / "benchmarks")
    for name, body in MEASURES.items():
        text = f"{HEAD}\ndef measure():\n{body}\n{TAIL}"
        (tmp_path / "benchmarks" / f"{name}.py").write_text(text)
    monkeypatch.setattr(running, "ROOT", tmp_path)
    monkeypatch.setattr(running, "BENCHMARKS", dict.fromkeys(MEASURES, "made"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path / "figures.json"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["benchmarks", *arguments])
    return running.main()


@pytest.mark.slow
def test_a_run_goes_on_to_the_end_and_tells_what_went_wrong(
    made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("misses", "breaks", "refuses", "keeps")
    assert run(monkeypatch, *chosen, "--json", str(made)) == 1
    figures = {(figure.benchmark, figure.name): figure for figure in read(made).figures}
    assert {key: figure.verdict for key, figure in figures.items()} == {
        ("misses", "slow"): "missed",
        ("misses", "fast"): "kept",
        ("breaks", "before"): "kept",
        ("breaks", "runs to its end"): "missed",
        ("refuses", "runs to its end"): "missed",
        ("keeps", "fast"): "kept",
    }
    assert "ValueError: planted" in figures["breaks", "runs to its end"].note
    assert "nothing is called so" in figures["refuses", "runs to its end"].note
    assert "a net prints" in (made.with_suffix("") / "keeps.log").read_text()
    assert "6 figures; 3 of 6 bars kept" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_that_keeps_every_bar_ends_with_0(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "keeps", "--json", str(made)) == 0
    assert 0 <= read(made).others["keeps"] <= 1


@pytest.mark.whole
def test_a_benchmark_that_hangs_is_ended_and_keeps_the_figures_that_it_had(made: Path) -> None:
    figures, seconds, _ = running.outcome("hangs", made.with_suffix(""), 3.0)
    assert [figure.name for figure in figures][-1] == "runs to its end"
    assert "not done after 3 s" in figures[-1].note
    assert seconds < 600


def test_an_unknown_name_is_refused_with_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "alighn") == 2
    told = capsys.readouterr().err
    assert "alighn" in told
    assert "align" in told.replace("alighn", "")


def test_every_benchmark_that_has_figures_is_a_part_of_the_run() -> None:
    presenting = set()
    for file in (ROOT / "benchmarks").glob("[!_]*.py"):
        names = {
            node.id for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Name)
        }
        if "present" in names:
            presenting.add(file.stem)
    assert presenting == set(running.BENCHMARKS)
