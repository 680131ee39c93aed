"""The study of devices: what moves and what does not, and the matrix on each device that is here."""

import pytest

from explorer.model.errors import UsageError
from explorer.model.measurement import Measurement
from explorer.model.study import StudyRecord
from explorer.topics import data_parallel, devices
from explorer.topics.devices.telling import difference
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.question import Target
from explorer.topics.studying import run, target
from explorer.workers.workers import Workers


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    return run(devices.STUDY, target(devices.STUDY, "polynomial", "cpu"), workers)


def test_each_framework_sees_the_cpu(record: StudyRecord) -> None:
    assert all(
        "cpu" in record.figures[f"devices.sees.{framework}"]["usable"]
        for framework in ("mindspore", "torch")
    )


def test_pytorch_moves_and_mindspore_keeps_to_its_device(record: StudyRecord) -> None:
    torch, mindspore = (
        record.figures["devices.moves.torch"],
        record.figures["devices.moves.mindspore"],
    )
    assert torch["tensor_to"]["meta"] == "meta"
    assert set(torch["net_to"]["meta"]) == {"meta"}
    assert mindspore["set_device_again"]["raised"] == "RuntimeError"
    assert mindspore["move_to_same"] == [1.0, 2.0]


def test_asnumpy_reads_what_numpy_refuses(record: StudyRecord) -> None:
    assert record.figures["devices.host.mindspore"] == {
        "result": [3.0],
        "parameter": [[1.0, 1.0]],
        "gradient": [1.0, 1.0],
    }
    assert record.figures["devices.host.torch"]["result_with_tape"]["raised"] == "RuntimeError"
    assert record.figures["devices.host.torch"]["result_detached"] == [3.0]


def test_the_matrix_is_answered_on_the_cpu_by_every_engine(record: StudyRecord) -> None:
    table = next(each for each in record.tables if each.title == "The matrix on each device")
    assert {row[0] for row in table.rows} == {
        "mindspore-graph",
        "mindspore-tape",
        "torch-tape",
        "torch-graph",
    }
    assert all(row[3] > 0 for row in table.rows if isinstance(row[3], int))


def test_one_leaf_that_is_off_by_a_thousandth_is_a_difference(record: StudyRecord) -> None:
    cpu = record.figures["devices.matrix.torch-tape"]["cpu"]
    label = next(label for label, answer in cpu.items() if answer["outcome"] == "ok")
    name, leaf = next(iter(cpu[label]["leaves"].items()))
    scaled = [item * 1.001 for item in leaf] if isinstance(leaf, list) else leaf * 1.001
    other = {**cpu, label: {**cpu[label], "leaves": {**cpu[label]["leaves"], name: scaled}}}
    assert difference(cpu, cpu) == 0
    assert difference(cpu, other) > 0


def test_another_run_finds_the_same_figures(workers: Workers, record: StudyRecord) -> None:
    again: list[Measurement] = list(devices.MEASUREMENTS.values())
    assert {name: each.figures for name, each in measure(again, workers).items()} == {
        each.name: record.figures[each.name] for each in again
    }


def test_nothing_measured_is_told_as_empty_tables() -> None:
    assert not devices.STUDY.tell(Evidence({})).findings


def test_a_study_with_nets_of_its_own_refuses_a_scenario() -> None:
    with pytest.raises(UsageError, match="takes no scenario"):
        target(data_parallel.STUDY, "dense_mse", "cpu")
    assert target(data_parallel.STUDY, None, "cpu") == Target("", "cpu")
