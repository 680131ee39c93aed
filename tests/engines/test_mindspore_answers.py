"""What both MindSpore engines answer: structures, the guides' numbers, errors, and code to paste."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest, Nothing
from explorer.model.results import About, Result, ResultNote
from explorer.model.trees import branch
from explorer.scenario.load import load
from explorer.scenario.matrix import matrix, structure
from explorer.scenario.selection import covering
from explorer.workers.environments import ROOT
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests, path, reply
from tests.support.large_nets import written_net
from tests.support.nets import NETS

pytestmark = pytest.mark.mindspore

GRAPH, TAPE = "mindspore-graph", "mindspore-tape"
BOTH = (GRAPH, TAPE)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")


@pytest.fixture(scope="module")
def mindspore(workers: Workers) -> EngineRequests:
    return EngineRequests(workers, "mindspore")


def numbers(result: Result) -> list[object]:
    return [unpack(leaf.value).tolist() for leaf in result.leaves]


def test_about_tells_the_version_and_that_the_cpu_is_there(workers: Workers) -> None:
    target = "explorer.engines.mindspore.about:about"
    about = reply(workers.call("mindspore", target, Nothing(), About))
    assert re.fullmatch(r"\d+\.\d+.*", about.versions["mindspore"])
    assert about.devices[0] == "cpu"


EVERY_CASE = matrix(2, True, order=2)


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize(
    "cases",
    # Each case is compiled: those beyond each way to ask once are for the whole run.
    [covering(EVERY_CASE), pytest.param(EVERY_CASE, marks=pytest.mark.whole)],
    ids=["each way", "every case"],
)
def test_every_case_has_the_structure_that_the_rules_give(
    engine: str, cases: tuple[GradCase, ...], mindspore: EngineRequests
) -> None:
    outputs = load(path("ms_dense")).output_names
    for case in cases:
        result = mindspore.answer("ms_dense", engine, case)
        if case.must_fail:
            assert result.outcome == "raised"
            continue
        assert result.error is None, case.label
        expected = structure(case, ("x", "y"), ("fc.weight",), branch(*outputs))
        assert result.structure == expected, case.label
        assert result.natural == result.written


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize(
    ("case", "wanted"),
    [
        (GradCase("grad", 0, None, True), [[[4.0, 6.0, 8.0]], 20.0]),
        (GradCase("grad", 0), [[[6.0, 9.0, 12.0]]]),
        (GradCase("grad", None, "one"), [[[3.0, 6.0, 9.0]]]),
        (
            GradCase("value_and_grad", (0, 1), "all", True),
            [1.0, 20.0, [[4.0, 6.0, 8.0]], -2.0, [[2.0, 4.0, 6.0]]],
        ),
        (GradCase("GradOperation", 0, sens_param=True), [[[5.0, 7.5, 10.0]]]),
    ],
)
def test_the_guides_numbers(
    engine: str, case: GradCase, wanted: list[object], mindspore: EngineRequests
) -> None:
    assert numbers(mindspore.answer("ms_dense", engine, case)) == wanted


@pytest.mark.parametrize("engine", BOTH)
def test_asking_for_nothing_raises_the_guides_value_error(
    engine: str, mindspore: EngineRequests
) -> None:
    error = mindspore.answer("ms_dense", engine, GradCase("grad")).error
    assert error is not None
    assert error.type == "ValueError"
    assert "`grad_position` and `weight` can not be None" in error.message


@pytest.mark.parametrize("engine", BOTH)
def test_an_answer_leaves_no_trace_in_the_next(engine: str, mindspore: EngineRequests) -> None:
    case = GradCase("grad", 0, "all", True)
    first, second = (mindspore.answer("ms_conv", engine, case) for _ in range(2))
    assert first.leaves == second.leaves


@pytest.mark.parametrize("engine", BOTH)
def test_get_all_gives_a_tuple_even_for_one_input(engine: str, mindspore: EngineRequests) -> None:
    case = GradCase("GradOperation", (0,), get_all=True)
    assert mindspore.answer("ms_shared", engine, case).written == "(dx,)"


def test_one_array_under_two_names_is_one_tensor(mindspore: EngineRequests) -> None:
    case = GradCase("grad", 0)
    assert numbers(mindspore.answer("ms_aliased", TAPE, case)) == [[2.0, 4.0, 6.0]]
    assert numbers(mindspore.answer("ms_aliased", GRAPH, case)) == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize("engine", BOTH)
def test_ids_are_positions_and_parameter_names(engine: str, mindspore: EngineRequests) -> None:
    result = mindspore.answer("ms_dense", engine, GradCase("grad", (0, 1), "all"))
    assert result.ids == ("0", "1", "fc.weight")


@pytest.mark.parametrize(("style", "is_asked"), [("graph", False), ("tape", True)])
def test_what_took_long_is_not_compiled_twice_for_the_names_of_return_ids(
    style: str, is_asked: bool, workers: Workers
) -> None:
    net = NetRequest(scenario=str(NETS / "ms_dense.py"), engine=f"mindspore-{style}")
    request = CaseRequest(net, GradCase("grad", (0, 1), "all"), ids=True)
    target = "tests.support.worker_targets:answer_after_long"
    result = workers.call("mindspore", target, request, Result)
    assert isinstance(result, Result)
    assert bool(result.ids) == is_asked
    assert (result.note == ResultNote("ids_take_long")) != is_asked


@pytest.mark.whole
def test_a_net_of_many_parameters_is_not_compiled_twice_for_the_names_of_return_ids(
    workers: Workers, tmp_path: Path
) -> None:
    path = str(written_net(tmp_path, "mlp", 16 * 33))
    case = GradCase("grad", 0, "all")
    results = {}
    for style in ("graph", "tape"):
        net = NetRequest(scenario=path, engine=f"mindspore-{style}")
        target = f"explorer.engines.mindspore.{style}:answer"
        request = CaseRequest(net, case, ids=True)
        results[style] = workers.call("mindspore", target, request, Result)
    compiled, tape = results["graph"], results["tape"]
    assert isinstance(compiled, Result)
    assert isinstance(tape, Result)
    assert len(tape.ids) == 1 + 66
    assert (compiled.outcome, compiled.ids) == ("ok", ())
    assert compiled.note == ResultNote("ids_of_many", "66")


def test_why_a_call_with_return_ids_fails_is_noted(mindspore: EngineRequests) -> None:
    result = mindspore.answer("ms_dense", TAPE, GradCase("grad", 0, "one"))
    assert result.ids == ()
    assert result.note is not None
    assert result.note.error is not None
    assert "The tensor should have only one element" in result.note.error.message


@pytest.mark.parametrize("engine", BOTH)
def test_a_forward_that_raises_is_described_with_the_users_line(
    engine: str, mindspore: EngineRequests
) -> None:
    error = mindspore.describe("ms_raises", engine).error
    assert error is not None
    assert error.source == "ms_raises.py:20"
    assert "/" not in error.message.split("\n")[0]


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        (GRAPH, GradCase("grad", 0, "all", True)),
        (TAPE, GradCase("GradOperation", 0, sens_param=True)),
        (GRAPH, GradCase("grad", 1, order=2)),
    ],
)
def test_the_code_shown_can_be_pasted(
    engine: str, case: GradCase, mindspore: EngineRequests, tmp_path: Path
) -> None:
    result = mindspore.answer("ms_dense", engine, case)
    environment = {
        "PATH": os.environ["PATH"],
        "GLOG_v": "4",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
    }
    script = result.code.replace("'tests/nets'", repr(str(NETS)))
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    values = re.sub(r"shape=\[[^]]*\], dtype=\w+, value=", "", done.stdout)
    printed = [float(number) for number in NUMBER.findall(values)]
    answered = [np.ravel(np.array(value)) for value in numbers(result)]
    assert printed == np.concatenate(answered).tolist()
