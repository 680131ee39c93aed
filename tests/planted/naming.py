"""What the explorer says of a planted mistake, and how near it is to the line of the mistake."""

import re
from typing import Literal

import msgspec

from explorer.exploration.explore import explore
from explorer.model.errors import ExplorerError
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.words.divergences import sentence
from explorer.words.findings import sentence as finding_sentence
from explorer.words.graphs import why_no_graph
from explorer.workers.workers import Workers
from tests.planted.mistake import Planted

TAPES = ("torch-tape", "mindspore-tape")

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
        report = explore(load(planted.path), workers, engines=engines, selection="main")
    except ExplorerError as error:
        return Told("refused", (), str(error))
    return judge(planted, report)


def judge(planted: Planted, report: Report) -> Told:
    """How near a finding in ``report``, or its first divergence, is to the mistake."""
    for finding in report.findings:
        if planted.finding in finding.names:
            return Told("exact", (), finding_sentence(finding))
    if not report.alignments:
        return Told("refused", (), "; ".join(map(why_no_graph, report.ungraphed.values())))
    divergence = report.alignments[0].divergence
    if divergence is None:
        return Told("missed", (), "no divergence")
    # What the sentence says of inputs, behind these words, is no accusation.
    accusation, _, _ = sentence(divergence, ("a", "b")).partition(" equal inputs")
    named = (divergence.ends[0].source, divergence.ends[1].source, accusation)
    lines = lines_told(" ".join(named), planted)
    return Told(_verdict(planted, lines), lines, sentence(divergence, ("a", "b")))


def lines_told(text: str, planted: Planted) -> tuple[int, ...]:
    """The lines of the planted file that a text names, in order."""
    numbers = re.findall(rf"{re.escape(planted.path.name)}:(\d+)", text)
    return tuple(sorted({int(number) for number in numbers}))


def _verdict(planted: Planted, lines: tuple[int, ...]) -> Verdict:
    if planted.lines.intersection(lines):
        return "exact"
    if planted.module_lines.intersection(lines):
        return "same module"
    return "wrong"
