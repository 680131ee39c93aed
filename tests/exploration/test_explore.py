"""The main job where something goes wrong: a worker that dies or hangs, a framework left out."""

from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.common_start import settle
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.scenario_files import written
from tests.support.scenario_reports import BY_FIRST, row
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("torch-tape", "mindspore-tape")
"""Where how one worker ends is the question, and starting all of them would take longer."""


@pytest.mark.parametrize(
    ("file", "fragment", "engines"),
    [
        ("crash_in_forward", "signal 6", TAPES),
        pytest.param(*("exits_in_forward", "exit code 7", tuple(ENGINES)), marks=pytest.mark.whole),
    ],
)
def test_a_net_that_kills_its_worker_is_an_outcome_and_the_other_framework_still_answers(
    file: str, fragment: str, engines: tuple[str, ...]
) -> None:
    with Workers() as workers:
        whole = explore(load(NETS / f"{file}.py"), workers, engines=engines, selection="main")
    by_x = row(whole, BY_FIRST)
    assert by_x.results["torch-tape"].outcome == "crashed"
    error = by_x.results["torch-tape"].error
    assert error is not None
    assert fragment in message(error)
    assert by_x.results["mindspore-tape"].outcome == "ok"
    assert not by_x.expected


@pytest.mark.whole
def test_a_net_that_hangs_is_stopped_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.workers.process.GRACE_SECONDS", 20.0)
    with Workers(request_seconds=5.0) as workers:
        whole = explore(load(NETS / "hangs_in_forward.py"), workers, engines=TAPES)
    assert row(whole, BY_FIRST).results["torch-tape"].outcome == "timed_out"


def test_a_scenario_may_leave_one_framework_out(workers: Workers) -> None:
    whole = explore(load(NETS / "one_framework.py"), workers, selection="main")
    by_x = row(whole, BY_FIRST)
    assert by_x.results["mindspore-graph"].outcome == "not_defined"
    assert by_x.results["torch-tape"].outcome == "ok"


def test_a_tape_call_that_raises_leaves_nothing_behind_for_the_next_compile(
    workers: Workers,
) -> None:
    case = GradCase("grad", 0, "all", True)

    def answer(file: Path, engine: str, module: str) -> Result:
        nets = settle(load(file), workers, (engine,), {engine: "cpu"})
        request = CaseRequest(nets.requests[engine], case)
        reply = workers.call("mindspore", f"{module}:answer", request, Result)
        assert not isinstance(reply, Lost)
        return reply

    failed = answer(find("shared_weight"), "mindspore-tape", "explorer.engines.mindspore.tape")
    graph_module = "explorer.engines.mindspore.graph"
    compiled = answer(find("conv_bn_relu_pool"), "mindspore-graph", graph_module)
    assert (failed.outcome, compiled.outcome) == ("raised", "ok"), compiled.error


IMPORTING = """import sys
import numpy as np
sys.path.append({folder!r})
from factor_of_explored_net import FACTOR

def inputs():
    return {{"x": np.array([1.0], np.float32)}}

def net(x):
    return (x * FACTOR).sum()

def mindspore_net():
    return net

def torch_net():
    return net
"""


def test_workers_that_live_on_read_what_a_net_imports_anew(
    tmp_path: Path, workers: Workers
) -> None:
    net = written(tmp_path, IMPORTING.format(folder=str(tmp_path)))
    for factor in (2.0, 31.0):
        written(tmp_path, f"FACTOR = {factor}\n", "factor_of_explored_net.py")
        (main,) = explore(load(net), workers, engines=TAPES, selection="main", graphs=False).cases
        for name, result in main.results.items():
            gradients = [leaf.value for leaf in result.leaves if leaf.name == "dx"]
            assert [unpack(array).tolist() for array in gradients] == [[factor]], name
        assert main.expected
