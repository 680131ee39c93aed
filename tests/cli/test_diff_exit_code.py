"""The exit code of ``diff`` and its first lines: what the two engines say, and the oracle of both."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from explorer import api
from explorer.cli.entry import run
from explorer.workers.workers import Workers
from tests.support.scenario_files import written

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.usefixtures("warm")]

LOST_IN_CAPTURES = """
import sys

import numpy as np


def inputs():
    return {{"x": np.array([1.0, 2.0], np.float32)}}


def in_capture():
    frame = sys._getframe()
    while frame and not frame.f_code.co_filename.endswith("engines/whole.py"):
        frame = frame.f_back
    return frame is not None


def leave(framework):
    import os
    import time

    if framework == {lost!r} and in_capture():
        {leaving}


def mindspore_net():
    leave("mindspore")
    return scaled


def scaled(x):
    return (3.0 * x * x).sum()


def torch_net():
    leave("torch")
    return lambda x: ({factor} * x * x).sum()
"""
"""Nets of which the one ends its worker, or keeps it waiting, as soon as its graph is captured."""


def test_results_that_differ_exit_with_1_and_are_the_first_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = LOST_IN_CAPTURES.format(lost="neither", factor=2.0, leaving="pass")
    file = str(written(tmp_path, text, "scaled.py"))
    assert run(["diff", file, "torch-tape", "mindspore-tape"]) == 1
    _, headline, *_ = capfd.readouterr().out.splitlines()
    assert "torch-tape differs from mindspore-tape by up to 4 at dx[1]" in headline
    assert run(["diff", file, "torch-tape", "mindspore-tape", "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert (document["left"], document["right"]) == ("torch-tape", "mindspore-tape")
    assert document["divergence"]["sentence"]


@pytest.fixture(scope="module")
def crew() -> Iterator[Workers]:
    """Workers of this file: of those of the session the process that forks them may be gone.

    Then nobody hears how one has ended.
    """
    with Workers(300) as crew:
        yield crew


@pytest.mark.parametrize("factor", [3.0, 2.0])
@pytest.mark.parametrize(
    ("lost", "engines"),
    [
        ("torch", ("torch-tape", "mindspore-tape")),
        ("torch", ("torch-graph", "mindspore-graph")),
        ("mindspore", ("torch-graph", "mindspore-graph")),
        ("mindspore", ("torch-tape", "mindspore-tape")),
    ],
)
def test_without_a_graph_the_results_are_judged_and_it_says_which_is_missing_and_why(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    crew: Workers,
    lost: str,
    engines: tuple[str, str],
    factor: float,
) -> None:
    monkeypatch.setattr("explorer.cli.scenario.Workers", lambda *_: nullcontext(crew))
    text = LOST_IN_CAPTURES.format(lost=lost, factor=factor, leaving="os._exit(9)")
    file = written(tmp_path, text, "lost.py")
    missing = next(engine for engine in engines if engine.startswith(lost))
    why = "the worker process died (exit code 9)"
    code = 0 if factor == 3.0 else 1
    verdict = "match" if factor == 3.0 else "differs"

    assert run(["diff", str(file), *engines]) == code
    lines = capfd.readouterr().out.splitlines()
    assert (f"{engines[0]} and {engines[1]} agree" in lines[1]) == (factor == 3.0)
    assert lines[2].split() == [engines[0], f"[{2 * factor:g},", f"{4 * factor:g}]"]
    assert f"no graph from {missing}: {why}" in lines
    assert "the graphs are not compared" in lines

    assert run(["diff", str(file), *engines, "--json"]) == code
    document = json.loads(capfd.readouterr().out)
    assert (document["verdict"], document["divergence"]) == (verdict, None)
    assert (document["ungraphed"], document["same"]) == ({missing: why}, False)
    assert document["remark"].endswith("; the graphs are not compared")


@pytest.mark.whole  # it waits for 40 s
@pytest.mark.usefixtures("own_nurseries")  # one is killed with a worker that is late
def test_the_verdict_comes_when_a_graph_is_late(tmp_path: Path) -> None:
    text = LOST_IN_CAPTURES.format(lost="torch", factor=3.0, leaving="time.sleep(600)")
    file = written(tmp_path, text, "late.py")
    difference = api.diff(file, "torch-tape", "mindspore-tape", request_timeout=20)
    assert not difference.is_same
    headline, oracle, missing, advice, end = difference.explain().split("; ")
    assert headline == "torch-tape and mindspore-tape agree"
    assert oracle.startswith("the oracle")
    assert missing == "no graph from torch-tape: no answer within 20 s"
    assert end == "the graphs are not compared"
    assert f"{missing}; {advice}" in str(difference).splitlines()
