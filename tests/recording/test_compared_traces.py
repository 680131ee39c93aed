"""Traces beside each other and beside an engine on a scenario: in the shell and in Python."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model.errors import UsageError
from tests.recording.conftest import Recordings
from tests.support.command_line import ROOT, environment
from tests.support.command_line import explorer as run
from tests.support.recorded_files import loaded_trace

pytestmark = pytest.mark.torch


def path_of(recordings: Recordings, name: str) -> str:
    return str(recordings.folder / f"{name}.trace")


# Steps that are the same, and steps that are not


@pytest.mark.parametrize("other", ["checkpoint-3", "reentrant_checkpoint-3"])
def test_a_step_is_the_same_whether_a_block_is_computed_again_or_not(
    recordings: Recordings, other: str
) -> None:
    plain = loaded_trace(path_of(recordings, "plain-3"))
    alignment = plain.diff(loaded_trace(path_of(recordings, other))).alignment
    assert (alignment.divergence, alignment.differing) == (None, ())
    assert alignment.contradictions == ()
    assert alignment.left_coverage.whole.unpaired == 0


def test_a_doubled_gradient_is_named_where_it_is_doubled(recordings: Recordings) -> None:
    plain = loaded_trace(path_of(recordings, "plain-1"))
    hooked = loaded_trace(path_of(recordings, "hooks-1"))
    difference = plain.diff(hooked)
    assert not difference.is_same
    assert difference.alignment.untried == ""


def test_a_trace_is_drawn_and_printed(recordings: Recordings, tmp_path: Path) -> None:
    loaded = loaded_trace(path_of(recordings, "full"))
    assert "not recorded: the tensors of the step need more than 0 MB" in str(loaded)
    picture = loaded.graph(depth="all")
    assert "<svg" in picture.text
    assert "full" in picture.description


def test_a_trace_without_a_graph_is_refused_with_the_reason(recordings: Recordings) -> None:
    inner = loaded_trace(path_of(recordings, "inner"))
    with pytest.raises(UsageError, match="'inner' has no graph: nothing was recorded"):
        inner.graph()


# The shell


@pytest.mark.whole
def test_diff_of_two_equal_steps_ends_with_0(recordings: Recordings) -> None:
    one, other = path_of(recordings, "plain-3"), path_of(recordings, "checkpoint-3")
    done = run("diff", one, other)
    assert (done.returncode, done.stderr) == (0, "")
    assert "torch-tape@plain-3" in done.stdout
    assert "no divergence" in done.stdout


def test_diff_of_two_steps_says_what_differs_and_ends_with_1(recordings: Recordings) -> None:
    one, other = path_of(recordings, "plain-1"), path_of(recordings, "plain-3")
    done = run("diff", one, other)
    assert done.returncode == 1
    assert "the nets start from different values of" in done.stdout
    document = json.loads(run("diff", one, other, "--json").stdout)
    assert (document["left"], document["right"]) == ("torch-tape@plain-1", "torch-tape@plain-3")


@pytest.mark.whole
def test_what_has_no_effect_on_a_trace_is_refused(recordings: Recordings, tmp_path: Path) -> None:
    path = path_of(recordings, "plain-1")
    for command in (
        ["diff", path, path, "--device", "cuda"],
        ["graph", path, "-o", str(tmp_path / "a.svg"), "--engine", "torch-tape"],
    ):
        done = run(*command)
        assert done.returncode == 2
        assert f"{command[-2]} has no effect on" in done.stderr


def test_a_file_that_is_no_trace_is_refused_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.trace"
    path.write_bytes(b"explorer-trace 1 00\nnothing")
    done = run("diff", str(path), str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "its digest differs" in done.stderr


@pytest.mark.whole
def test_graph_of_a_trace_is_a_file(recordings: Recordings, tmp_path: Path) -> None:
    picture = tmp_path / "step.svg"
    done = run("graph", path_of(recordings, "plain-3"), "-o", str(picture))
    assert (done.returncode, done.stderr) == (0, "")
    assert "<svg" in picture.read_text()
    document = tmp_path / "step.json"
    assert run("graph", path_of(recordings, "plain-3"), "-o", str(document)).returncode == 0
    assert json.loads(document.read_text())["engine"] == "torch-tape@plain-3"


# A scenario's net, recorded by a program of its own


PROGRAM = """
import runpy
import sys

import torch

import explorer

scenario = runpy.run_path(sys.argv[1])
net = scenario["torch_net"]()
with torch.no_grad():
    for name, array in scenario["parameters"]().items():
        net.get_parameter(name).copy_(torch.from_numpy(array))
arrays = scenario["inputs"]().values()
inputs = [torch.from_numpy(array).requires_grad_() for array in arrays]
with explorer.record(sys.argv[2]):
    loss, _ = net(*inputs)
    loss.backward()
"""


def test_a_recorded_step_of_a_scenario_s_net_is_the_same_as_its_engine_s(tmp_path: Path) -> None:
    trace = tmp_path / "own.trace"
    command = [sys.executable, "-c", PROGRAM, str(ROOT / "scenarios" / "dense_mse.py"), str(trace)]
    subprocess.run(command, env=environment(), check=True)
    done = run("diff", str(trace), "dense_mse", "torch-tape")
    assert "torch-tape@own" in done.stdout, done.stderr
    assert "no divergence" in done.stdout
    assert done.returncode == 0
