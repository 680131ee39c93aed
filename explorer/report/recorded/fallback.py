"""What is shown in place of a run where no framework is installed: the recorded result."""

from collections.abc import Iterable, Sequence

import msgspec

from explorer.exploration.installed import nothing_runs
from explorer.exploration.options import Wanted
from explorer.model.claim import Board
from explorer.model.message import Text
from explorer.model.report import Report
from explorer.model.study import StudyRecord
from explorer.pair.alignments import last_by_engine, reported
from explorer.report.recorded.results import (
    recorded_board,
    recorded_report,
    recorded_study,
    recording,
)
from explorer.report.wording import versions_text
from explorer.scenario.declaration import Declaration
from explorer.text.language import _
from explorer.text.remedies import remedy
from explorer.topics.question import Target
from explorer.topics.topic import Claim, Topic
from explorer.workers.system import can_run_workers


def notice() -> str:
    """When and with what a result was recorded that is shown, and how to run it."""
    text = _("recorded on {date} with {versions}; to run it, use Linux, macOS or WSL")
    if can_run_workers():
        text = _("recorded on {date} with {versions}; to run it, {mindspore}, or {torch}")
    return text.format(
        date=recording().date,
        versions=versions_text(recording().versions),
        mindspore=remedy("mindspore"),
        torch=remedy("torch"),
    )


def report_in_place(scenario: Declaration, wanted: Wanted) -> Report | None:
    """The recorded report on a scenario where nothing can be run; None where it is to be run."""
    return recorded_report(scenario, wanted) if nothing_runs() else None


def study_in_place(topic: Topic, target: Target) -> StudyRecord[Text] | None:
    """The recorded study where nothing can be run; None where it is to be run."""
    return recorded_study(topic, target) if nothing_runs() else None


def board_in_place(claims: Iterable[Claim]) -> Board | None:
    """The recorded board where nothing can be run; None where it is to be run."""
    return recorded_board(claims) if nothing_runs() else None


def of_two(report: Report, engines: Sequence[str]) -> Report:
    """A report on more, with the alignment of two engines alone, and the case whose graphs they are.

    The case keeps the results of all engines, which its verdict is on.
    """
    graphs = last_by_engine(report.graphs)
    alignment = None
    if all(engine in graphs for engine in engines):
        left, right = (graphs[engine] for engine in engines)
        alignment = reported(left, right, report.graphs, report.alignments)
    labels = {graph.case for graph in report.graphs}
    cases = tuple(case for case in report.cases if case.case.label in labels)
    return msgspec.structs.replace(
        report, alignments=(alignment,) if alignment else (), cases=cases or report.cases[:1]
    )
