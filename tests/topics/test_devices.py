"""Devices: what moves, the matrix on each device that is here, and the verdicts."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Measured
from explorer.model.study import StudyRecord
from explorer.topics.devices.findings import Cases, difference
from explorer.topics.devices.questions import HOST, LIVES, MATRIX, MOVES, SEES, TOPIC
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import FRAMEWORKS, PARTIES, Question, Target
from explorer.topics.studies import study, target
from explorer.words.messages import study_text
from explorer.workers.workers import Workers
from tests.support.tellings import check_every_failure, check_telling, telling_text
from tests.support.topics import World, judge, measured_for_claims

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

FiguresOf = Callable[[Question, str], dict[str, Any]]
CLAIMS = TOPIC.claims


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    return study_text(study(TOPIC, target(TOPIC, "polynomial", "cpu"), workers))


@pytest.fixture(scope="module")
def figures_of(record: StudyRecord) -> FiguresOf:
    """Gives what a party answered to a question."""
    return lambda question, party: record.figures[question.measurement_name(party)]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_each_framework_sees_the_cpu(figures_of: FiguresOf, framework: str) -> None:
    assert "cpu" in figures_of(SEES, framework)["usable"]


def test_pytorch_moves_tensors_and_nets(figures_of: FiguresOf) -> None:
    torch = figures_of(MOVES, "torch")
    assert torch["tensor_to"]["meta"] == "meta"
    assert set(torch["net_to"]["meta"]) == {"meta"}


def test_mindspore_keeps_to_its_device(figures_of: FiguresOf) -> None:
    mindspore = figures_of(MOVES, "mindspore")
    assert mindspore["set_device_again"]["raised"] == "RuntimeError"
    assert mindspore["move_to_same"] == [1.0, 2.0]


def test_asnumpy_reads_what_numpy_refuses(figures_of: FiguresOf) -> None:
    assert figures_of(HOST, "mindspore") == {
        "result": [3.0],
        "parameter": [[1.0, 1.0]],
        "gradient": [1.0, 1.0],
    }
    assert figures_of(HOST, "torch")["result_with_tape"]["raised"] == "RuntimeError"
    assert figures_of(HOST, "torch")["result_detached"] == [3.0]


def test_the_matrix_is_answered_on_the_cpu_by_every_engine(record: StudyRecord) -> None:
    (table,) = [table for table in record.tables if table.title == "The same cases on each device"]
    answered = {row[0]: row[3] for row in table.rows if row[1] == "cpu"}
    assert set(answered) == {PARTIES[engine].label for engine in MATRIX.asks}
    assert all(isinstance(count, int) and count > 0 for count in answered.values())


def test_one_leaf_that_is_off_by_a_thousandth_is_a_difference(figures_of: FiguresOf) -> None:
    cpu = figures_of(MATRIX, "torch-tape")["cpu"]
    label, case = next((label, case) for label, case in cpu.items() if case["outcome"] == "ok")
    name, leaf = next(iter(case["leaves"].items()))
    scaled = [element * 1.001 for element in leaf] if isinstance(leaf, list) else leaf * 1.001
    other = {**cpu, label: {**case, "leaves": {**case["leaves"], name: scaled}}}
    one, scaled_one = msgspec.convert(cpu, Cases), msgspec.convert(other, Cases)
    assert difference(one, one) == 0
    assert 0 < difference(one, scaled_one) < 1


def test_another_run_finds_the_same_figures(workers: Workers, record: StudyRecord) -> None:
    again = []
    for question in (SEES, LIVES, MOVES, HOST):
        again += question.measurements(Target())
    for name, outcome in measure(again, workers).items():
        assert outcome.figures == record.figures[name], name


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, CLAIMS.values())


@pytest.mark.parametrize(
    ("row", "verdict", "cited"),
    [
        (37, "not_checkable_here", "can not be modified"),
        (37, "not_checkable_here", "Tensor.to, Tensor.move_to and Cell.to with CPU: on CPU"),
        (38, "not_checkable_here", "asnumpy() of result, parameter, gradient: read at once"),
    ],
)
def test_the_evidence_of_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, cited: str
) -> None:
    ruling = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict
    assert cited in ruling.evidence


def a_result_that_asnumpy_refuses(world: World) -> None:
    world[HOST, "mindspore"]["result"] = {"raised": "RuntimeError", "message": "no"}


def a_gpu_that_needs_cpu(world: World) -> None:
    torch = world[HOST, "torch"]
    torch["elsewhere"]["cuda:0"] = {"raised": "TypeError", "message": "use Tensor.cpu()"}
    torch["elsewhere_by_cpu"] = {"cuda:0": [1.0, 1.0]}


def a_gpu_that_does_not(world: World) -> None:
    a_gpu_that_needs_cpu(world)
    world[HOST, "torch"]["elsewhere"]["cuda:0"] = [1.0, 1.0]


def a_device_that_nothing_leaves(world: World) -> None:
    a_gpu_that_needs_cpu(world)
    refusal = {"raised": "NotImplementedError", "message": "Cannot copy out of this device"}
    world[HOST, "torch"]["elsewhere_by_cpu"]["cuda:0"] = refusal


@pytest.mark.parametrize(
    ("row", "change", "verdict", "advice"),
    [
        (38, a_result_that_asnumpy_refuses, "does_not_hold", ""),
        (38, a_gpu_that_needs_cpu, "holds", ".detach().cpu().numpy() in PyTorch."),
        (38, a_gpu_that_does_not, "does_not_hold", "right on every device"),
        (38, a_device_that_nothing_leaves, "does_not_hold", ""),
    ],
)
def test_another_world_gets_another_verdict(
    measured: dict[str, Measured],
    row: int,
    change: Callable[[World], None],
    verdict: str,
    advice: str,
) -> None:
    ruling = judge(CLAIMS[row], measured, change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice
    assert judge(CLAIMS[row], measured).verdict != verdict


def test_a_refusal_on_the_tape_is_told_where_there_is_one(measured: dict[str, Measured]) -> None:
    def readable(world: World) -> None:
        world[HOST, "torch"]["result_with_tape"] = [3.0]

    assert "numpy() of a result on the tape: RuntimeError" in judge(CLAIMS[38], measured).evidence
    assert "on the tape" not in judge(CLAIMS[38], measured, readable).evidence


def test_what_is_told_can_be_read_whichever_measurement_fails(record: StudyRecord) -> None:
    looked_at = target(TOPIC, "polynomial", "cpu")
    check_telling(telling_text(TOPIC, Evidence(record.measured, looked_at)))
    check_every_failure(TOPIC, record.measured, looked_at)
