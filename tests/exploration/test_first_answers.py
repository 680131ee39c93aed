"""The main case comes first, the others as they are selected, and an early end keeps what is there."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from explorer.exploration import stages
from explorer.exploration.explore import explore
from explorer.exploration.installed import STARTING
from explorer.exploration.options import Callbacks, Interrupted
from explorer.model.cases import GradCase
from explorer.model.engines import WorkerKind
from explorer.model.report import CaseReport, Report
from explorer.model.requests import CaseRequest
from explorer.scenario.load import load
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import Takes, covering, spread
from explorer.workers.workers import Workers
from tests.support.nets import NETS

pytestmark = pytest.mark.torch

SQUARE = load(NETS / "square.py")
CASES = cases_of(SQUARE, has_parameters=False)
ONE_OUTPUT = Takes(has_aux=False)
MAIN = GradCase("grad", 0)
OTHERS = [case for case in CASES if case != MAIN]

WAIT_SECONDS = 60.0
"""By when MindSpore has answered a case of a small net on any machine."""


def explored(workers: Workers, **options: Any) -> Report:
    return explore(SQUARE, workers, engines=("torch-tape", "torch-graph"), **options)


def asked(report: Report) -> list[GradCase]:
    return [case.case for case in report.cases]


def not_asked(report: Report) -> list[GradCase]:
    return [case for left_out in report.left_out for case in left_out.cases]


def test_the_first_report_has_the_main_case_its_graphs_and_how_they_align(workers: Workers) -> None:
    reports: list[Report] = []
    complete: list[CaseReport] = []

    def first(report: Report) -> None:
        assert complete == []
        reports.append(report)

    whole = explored(workers, callbacks=Callbacks(first=first, complete=complete.append))
    (early,) = reports
    assert asked(early) == [MAIN]
    assert (early.graphs, early.alignments) == (whole.graphs, whole.alignments)
    assert len(early.alignments) == 1
    assert early.cases[0] in whole.cases
    assert [case.case for case in complete] == list(spread(OTHERS, (MAIN,), ONE_OUTPUT))
    assert asked(whole) == list(CASES)
    assert whole.left_out == ()


class Watched(Workers):
    """Workers that note who is asked which case of MindSpore's graph style.

    PyTorch's compiler is not asked for a graph before two cases are.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[WorkerKind, GradCase]] = []
        self._two_are_asked = threading.Event()

    def call(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
        """As Workers.call."""
        if target == "explorer.engines.mindspore.graph:answer":
            assert isinstance(argument, CaseRequest)
            self.asked.append((kind, argument.case))
            if len(self.asked) == 2:
                self._two_are_asked.set()
        if target == "explorer.engines.torch.graph:capture":
            assert self._two_are_asked.wait(WAIT_SECONDS)
        return super().call(kind, target, argument, reply)


@pytest.mark.whole
@pytest.mark.mindspore
def test_who_is_through_with_the_main_case_goes_on_and_a_second_process_starts_after_it() -> None:
    workers = Watched()
    with workers:
        explore(SQUARE, workers, engines=("mindspore-graph", "torch-graph"))
    next_case, *_ = spread(OTHERS, (MAIN,), ONE_OUTPUT)
    # Which of the two processes takes the next one is up to them.
    assert workers.asked[0] == ("mindspore", MAIN)
    assert workers.asked[1][1] == next_case
    assert "mindspore" in {kind for kind, _ in workers.asked[1:]}
    assert sorted(case.label for _, case in workers.asked) == sorted(case.label for case in CASES)


def test_the_structure_alone_is_asked_where_it_is_selected(workers: Workers) -> None:
    report = explored(workers, selection="structure")
    cover = {MAIN, *covering(OTHERS, (MAIN,), ONE_OUTPUT)}
    assert asked(report) == [case for case in CASES if case in cover]
    assert not_asked(report) == [case for case in CASES if case not in cover]
    assert [left_out.cause for left_out in report.left_out] == ["selected"]


@pytest.mark.whole
def test_a_large_scenario_is_asked_its_structure_unless_all_is_asked_for(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    main_alone = explored(workers, selection="main")
    assert asked(main_alone) == [MAIN]
    ops = max(sum(node.kind == "op" for node in graph.nodes) for graph in main_alone.graphs)
    assert ops > 0
    for is_above in (False, True):
        monkeypatch.setattr(stages, "LARGE", len(CASES) * ops - is_above)
        assert bool(not_asked(explored(workers))) == is_above
    assert asked(explored(workers, selection="all")) == list(CASES)


def end_after(count: int, end: Callable[[], None]) -> Callable[[CaseReport], None]:
    """Calls ``end`` when ``count`` cases are complete."""
    complete: list[CaseReport] = []

    def note(case: CaseReport) -> None:
        complete.append(case)
        if len(complete) == count:
            end()

    return note


def interrupt() -> None:
    raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_there_and_names_what_is_not() -> None:
    with Workers() as workers, pytest.raises(Interrupted) as caught:
        explored(workers, callbacks=Callbacks(complete=end_after(2, interrupt)))
    report = caught.value.report
    assert len(report.graphs) == 2
    assert len(report.alignments) == 1
    assert len(report.cases) >= 3
    assert [left_out.cause for left_out in report.left_out] == ["interrupted"]
    assert sorted(case.label for case in asked(report) + not_asked(report)) == sorted(
        case.label for case in CASES
    )


@pytest.mark.whole
def test_ctrl_c_before_any_answer_is_no_report() -> None:
    def step(stage: str, done: int, total: int) -> None:
        if stage != STARTING:
            raise KeyboardInterrupt

    with Workers() as workers, pytest.raises(KeyboardInterrupt) as caught:
        explored(workers, callbacks=Callbacks(step))
    assert not isinstance(caught.value, Interrupted)


@pytest.mark.whole
def test_the_limit_of_the_whole_job_ends_it_with_what_is_there() -> None:
    with Workers() as workers:

        def end() -> None:
            workers.deadline = time.monotonic()

        report = explored(workers, callbacks=Callbacks(complete=end_after(2, end)))
    assert len(report.cases) >= 3
    (left_out,) = report.left_out
    assert left_out.cause == "timed_out"
    assert len(asked(report)) + len(left_out.cases) == len(CASES)
    # A case that one engine still answered says of the other that it was not asked.
    outcomes = {result.outcome for case in report.cases for result in case.results.values()}
    assert outcomes <= {"ok", "raised", "not_asked"}
