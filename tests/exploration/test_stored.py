"""Explorations, measurements and studies from the store: no worker is asked twice, nothing torn is kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.exploration.installed import VERSIONS
from explorer.exploration.options import Callbacks, Wanted
from explorer.exploration.stored import Lack, explored, forget_partial, lack_of, stored_report
from explorer.model.errors import ScenarioError
from explorer.model.failures import Failure, Loss
from explorer.model.findings import NoiseUnknown, RecordedOtherwise, ReportFinding
from explorer.model.measurement import Measured, Measurement
from explorer.model.report import LeftOut, Report, Ungraphed
from explorer.model.results import Outcome, Result
from explorer.scenario.find import CHANGED
from explorer.scenario.load import load
from explorer.store.keys import key_of
from explorer.store.store import Store
from explorer.topics import study_topic
from explorer.topics.measurements import can_be_kept, key, measure, stored
from explorer.topics.studies import stored_study, target
from explorer.words.oracle import oracle_summary
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.sample_report import report
from tests.support.samples import some
from tests.support.scenario_files import written

pytestmark = pytest.mark.own_store

SQUARE = load(NETS / "square.py")
TAPE = Wanted(engines=("torch-tape",))
MEASURED = Measurement(
    name="sum", kind="torch", target="tests.support.worker_targets:measured", options={"x": 2}
)


class Idle(Workers):
    """Workers that must not be asked."""

    def call(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
        """Fails."""
        raise AssertionError(f"asked for {target}")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.mark.torch
def test_a_report_is_made_once_and_comes_back_equal(store: Store, workers: Workers) -> None:
    assert stored_report(SQUARE, TAPE, store) is None
    made = explored(SQUARE, TAPE, workers, store)
    assert made.graphs
    assert explored(SQUARE, TAPE, Idle(), store) == made
    assert stored_report(SQUARE, TAPE, store) == made
    # What is wanted otherwise, or afresh, is asked.
    with pytest.raises(AssertionError, match="asked for"):
        explored(SQUARE, Wanted(engines=("torch-graph",)), Idle(), store)
    with pytest.raises(AssertionError, match="asked for"):
        explored(SQUARE, TAPE, Idle(), Store(store.folder, fresh=True))


TEXT = (NETS / "square.py").read_text()
HELPED = (
    "import sys, os\nsys.path.append(os.path.dirname(__file__))\nimport side_of_square\n" + TEXT
)


def change(path: Path) -> None:
    path.write_text(TEXT.replace("x * x", "x * x * x"))


def change_helper(path: Path) -> None:
    (path.parent / "side_of_square.py").write_text("SIDE = 4\n")


@pytest.mark.torch
@pytest.mark.parametrize("meddle", some((change, change_helper, Path.unlink), change_helper))
def test_what_is_asked_of_a_file_that_is_changed_meanwhile_is_refused_and_not_kept(
    meddle: Callable[[Path], None], store: Store, workers: Workers, tmp_path: Path
) -> None:
    (tmp_path / "side_of_square.py").write_text("SIDE = 2\n")
    path = written(tmp_path, HELPED, "square.py")
    measured = msgspec.structs.replace(MEASURED, scenario=str(path))

    def meddled(*_: object) -> None:
        if path.exists() and path.read_text() == HELPED:
            meddle(path)

    scenario = load(path)
    with pytest.raises(ScenarioError, match=r"square\.py: "):  # workers say that it cannot be read
        explored(scenario, TAPE, workers, store, Callbacks(meddled))
    path.write_text(HELPED)
    (tmp_path / "side_of_square.py").write_text("SIDE = 2\n")
    with pytest.raises(ScenarioError, match=rf"square\.py: {CHANGED}"):
        measure([measured], workers, progress=meddled, store=store)

    path.write_text(HELPED)
    (tmp_path / "side_of_square.py").write_text("SIDE = 2\n")
    assert stored_report(scenario, TAPE, store) is None
    assert stored([measured], store) is None
    assert explored(scenario, TAPE, workers, store) == stored_report(scenario, TAPE, store)
    assert measure([measured], workers, store=store) == stored([measured], store)


WHOLE = msgspec.structs.replace(report(), left_out=(), ungraphed={})


def raising(error: Failure, *, is_graph_only: bool = False) -> Report:
    """A report in which one framework raised, or only the recording of its graph."""
    case = WHOLE.cases[0]
    results = dict(case.results)
    name = next(iter(results))
    if not is_graph_only:
        results[name] = Result(outcome="raised", error=error)
    changed = msgspec.structs.replace(case, results=results)
    ungraphed = {name: Ungraphed(error, while_recorded=is_graph_only)}
    return msgspec.structs.replace(WHOLE, cases=(changed, *WHOLE.cases[1:]), ungraphed=ungraphed)


@pytest.mark.parametrize("is_graph_only", [False, True])
@pytest.mark.parametrize(
    ("error", "is_kept"),
    [
        (Failure("RuntimeError", "Output 0 is a view and is being modified inplace"), True),
        (Failure("TypeError", "construct() takes 2 positional arguments"), True),
        (Failure("AttributeError", "'Tensor' has no attribute 'no_such_method'"), True),
        (Failure("MemoryError", ""), False),
        (Failure("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB"), False),
        (Failure("RuntimeError", "DefaultCPUAllocator: can't allocate memory"), False),
        (Failure("RuntimeError", "Malloc for kernel output failed, Memory isn't enough"), False),
        (Failure("ModuleNotFoundError", "No module named 'mindcv'"), False),
        (Failure("OSError", "[Errno 28] No space left on device"), False),
        (Failure("timed_out", "no answer"), False),
        (Failure("RuntimeError", kind="no_memory"), False),
    ],
)
def test_a_report_is_kept_where_a_net_raises_and_not_where_time_memory_or_a_package_is_lacking(
    error: Failure, is_kept: bool, is_graph_only: bool
) -> None:
    assert (lack_of(raising(error, is_graph_only=is_graph_only)) == "") is is_kept


def lacking(noise: str = "", oracle: Outcome = "ok", results: Outcome = "ok") -> Report:
    """A report without noise, central differences or a result, for the reasons given."""
    case = WHOLE.cases[0]
    estimates = msgspec.structs.replace(case.oracle, outcome=oracle)
    name, result = next(iter(case.results.items()))
    answers = {**case.results, name: msgspec.structs.replace(result, outcome=results)}
    findings: tuple[ReportFinding, ...] = ()
    if noise:
        findings = (ReportFinding(fact=NoiseUnknown("torch", Failure(noise))),)
    changed = msgspec.structs.replace(case, oracle=estimates, results=answers)
    return msgspec.structs.replace(WHOLE, cases=(changed, *WHOLE.cases[1:]), findings=findings)


def but(**changes: object) -> Report:
    """The whole report with other values of some of its fields."""
    return msgspec.structs.replace(WHOLE, **changes)


REMARK = ReportFinding(fact=RecordedOtherwise("torch-tape", {"dx": 1e-7}))


@pytest.mark.parametrize(
    ("made", "lack"),
    [
        (WHOLE, ""),
        (but(left_out=(LeftOut("selected", (), "main"),)), ""),
        (but(findings=(REMARK,)), ""),
        # What took too long beside the results leaves a report worth keeping.
        (lacking(noise="timed_out"), "time"),
        (lacking(oracle="timed_out"), "time"),
        # It ended early, or a worker was lost.
        (but(left_out=(LeftOut("timed_out", ()),)), "more"),
        (but(left_out=(LeftOut("interrupted", ()),)), "more"),
        (lacking(results="crashed"), "more"),
        (lacking(results="timed_out"), "more"),
        (lacking(noise="crashed"), "more"),
        (lacking(oracle="crashed"), "more"),
        (but(ungraphed={"torch-tape": Ungraphed(Failure("crashed", "lost"))}), "more"),
        (but(lost_graphs=("torch-tape",)), "more"),
    ],
)
def test_a_report_that_lacks_nothing_is_kept(made: Report, lack: Lack) -> None:
    assert lack_of(made) == lack


class TakesTooLong(Workers):
    """Workers of which PyTorch's never finishes central differences."""

    def call(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
        """As Workers.call."""
        if target.startswith("explorer.engines.oracle"):
            return Lost("timed_out", Loss(kind="no_answer", amount=self.request_seconds))
        return super().call(kind, target, argument, reply)


@pytest.mark.torch
def test_a_report_without_central_differences_is_kept_for_the_limit_that_they_exceeded(
    store: Store, workers: Workers
) -> None:
    with TakesTooLong(50.0) as late:
        made = explored(SQUARE, TAPE, late, store)
    assert {case.oracle.outcome for case in made.cases} == {"timed_out"}
    assert stored_report(SQUARE, TAPE, store, 50.0) == made
    assert explored(SQUARE, TAPE, Idle(50.0), store) == made
    assert stored_report(SQUARE, TAPE, store, 100.0) is None
    assert "50 s" in oracle_summary(made.cases)
    forget_partial(SQUARE, TAPE, store, 50.0)
    assert stored_report(SQUARE, TAPE, store, 50.0) is None

    # The verdict is the same with and without them.
    whole = explored(SQUARE, TAPE, workers, store)
    left_out = explored(SQUARE, msgspec.structs.replace(TAPE, oracle=False), workers, store)
    for one, other, third in zip(whole.cases, made.cases, left_out.cases, strict=True):
        assert one.verdict == other.verdict == third.verdict
        assert one.expected == other.expected == third.expected
    assert lack_of(left_out) == ""
    assert "--no-oracle" in oracle_summary(left_out.cases)


@pytest.mark.torch
def test_a_measurement_is_made_once_by_what_it_was_asked(store: Store, workers: Workers) -> None:
    first = measure([MEASURED], workers, store=store)
    assert first["sum"].outcome == "ok"
    assert measure([MEASURED], Idle(), store=store) == first
    other = msgspec.structs.replace(MEASURED, options={"x": 3})
    both = measure([MEASURED, msgspec.structs.replace(other, name="other")], workers, store=store)
    assert both["sum"] == first["sum"]
    assert both["other"].figures != first["sum"].figures
    with pytest.raises(AssertionError, match="asked for"):
        measure([msgspec.structs.replace(MEASURED, options={"x": 4})], Idle(), store=store)


@pytest.mark.parametrize(
    ("measured", "is_kept"),
    [
        (Measured(outcome="ok"), True),
        (Measured(outcome="raised", error=Failure("ValueError", "no")), True),
        (Measured(outcome="raised", error=Failure("TimeoutError", "busy")), False),
        (Measured(outcome="crashed", error=Failure("crashed", "signal 9")), False),
        (Measured(outcome="timed_out", error=Failure("timed_out", "60 s")), False),
        (Measured(outcome="unsupported", error=Failure("MissingFramework", "none")), False),
        (Measured(outcome="not_asked"), False),
        (Measured(outcome="not_defined", error=Failure("MissingNetError", "no net")), True),
    ],
)
def test_what_frameworks_said_is_kept_and_what_befell_a_machine_is_not(
    measured: Measured, is_kept: bool
) -> None:
    assert can_be_kept(measured) is is_kept


RAISED = Measured(outcome="raised", error=Failure("RuntimeError", "no"), date="2026-01-02")


@pytest.mark.parametrize(("device", "is_told"), [("cpu", True), ("cuda:0", False), ("auto", False)])
def test_what_is_stored_of_a_device_is_told_of_the_cpu_alone(
    device: str, is_told: bool, tmp_path: Path
) -> None:
    topic, store = study_topic("devices"), Store(tmp_path)
    on = target(topic, None, device)
    for measurement in topic.measurements(on):
        assert measurement.device == device
        store.put(key(measurement), RAISED)
    store.put(key_of(*VERSIONS), {"torch": "2.13.0"})
    record = stored_study(topic, on, store)
    assert (record is not None) is is_told
    if record is not None:
        assert record.device == device
    # What is stored of one device says nothing of another.
    other = "cuda:1" if device == "cpu" else "cpu"
    assert stored_study(topic, target(topic, None, other), store) is None
