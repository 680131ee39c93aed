"""What the explorer says of a planted mistake, and how near it is to the line of the mistake."""

from typing import Literal

import msgspec

from explorer.exploration.explore import explore
from explorer.model.errors import ExplorerError
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.planted.mistake import Planted

TAPES = ("torch-tape", "mindspore-tape")
GRAPHS = ("torch-graph", "mindspore-graph")

Verdict = Literal["exact", "same module", "wrong", "missed", "refused"]


class Told(msgspec.Struct, frozen=True):
    """A verdict on what was named, the lines named, and the sentence.

    "exact": a line that tells the mistake; "same module": another line of the class around it;
    "missed": no divergence; "refused": the explorer did not compare the nets at all.
    """

    verdict: Verdict
    lines: tuple[int, ...]
    sentence: str


def tell(planted: Planted, engines: tuple[str, ...], workers: Workers) -> Told:
    """Compare two engines on the planted nets as ``diff`` does, and judge what is named."""
    try:
        report = explore(load(planted.path), workers, engines=engines, only_graph_case=True)
    except ExplorerError as error:
        return Told("refused", (), str(error))
    return judge(planted, report)


def judge(planted: Planted, report: Report) -> Told:
    """How near the first divergence in ``report`` is to the mistake."""
    if not report.alignments:
        return Told("refused", (), "; ".join(report.ungraphed.values()))
    divergence = report.alignments[0].divergence
    if divergence is None:
        return Told("missed", (), "no divergence")
    sources = (divergence.left_source, divergence.right_source)
    lines = tuple(_line(source, planted) for source in sources)
    return Told(_verdict(planted, lines), lines, divergence.sentence)


def _line(source: str, planted: Planted) -> int:
    """The line that a source names, 0 where it names none in the planted file."""
    file, _, line = source.rpartition(":")
    return int(line) if file and file.endswith(planted.path.name) else 0


def _verdict(planted: Planted, lines: tuple[int, ...]) -> Verdict:
    if planted.lines.intersection(lines):
        return "exact"
    if planted.module_lines.intersection(lines):
        return "same module"
    return "wrong"
