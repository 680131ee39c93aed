"""Findings about the nets: in every face, before the cases, and part of whether all is well."""

import io
from collections.abc import Callable

import msgspec
import pytest
from rich.console import Console

from explorer.model.findings import ReportFinding
from explorer.model.report import Report
from explorer.report.diff import finding_lines
from explorer.report.scenario.html import report_html
from explorer.report.scenario.json import report_document
from explorer.report.scenario.markdown import report_markdown
from explorer.report.scenario.overview import overview
from explorer.report.scenario.terminal import show_report
from tests.support.sample_report import HOSTILE, report

FROZEN = ReportFinding(kind="role", sentence="one is trained and frozen", names=("fc.weight",))
REMARK = ReportFinding(kind="conditioning", sentence="`Sub` multiplies rounding", names=("Sub",))
MEANT = msgspec.structs.replace(FROZEN, expected=True, reason="on purpose")


def with_findings(*findings: ReportFinding) -> Report:
    return msgspec.structs.replace(report(foreseen=False), findings=findings)


def on_terminal(whole: Report) -> str:
    stream = io.StringIO()
    show_report(whole, Console(file=stream, width=120))
    return stream.getvalue()


FACES: dict[str, Callable[[Report], str]] = {
    "terminal": on_terminal,
    "Markdown": lambda whole: report_markdown(whole, {}),
    "HTML": lambda whole: report_html(whole, {}),
}


@pytest.mark.parametrize("face", FACES)
def test_a_finding_stands_before_the_cases(face: str) -> None:
    text = FACES[face](with_findings(FROZEN))
    assert FROZEN.sentence not in FACES[face](with_findings())
    heading = overview(report()).groups[0].rows[0].structure or "weights"
    assert text.index(FROZEN.sentence) < text.index(heading)


@pytest.mark.parametrize("face", FACES)
def test_foreign_text_in_a_finding_harms_no_face(face: str) -> None:
    hostile = msgspec.structs.replace(FROZEN, sentence=HOSTILE)
    text = FACES[face](with_findings(hostile))
    assert "\x1b[31m" not in text
    if face != "terminal":
        assert "<script>" not in text


def test_json_has_the_finding_with_its_names() -> None:
    (finding,) = report_document(with_findings(MEANT))["findings"]
    assert list(finding["names"]) == ["fc.weight"]
    assert (finding["kind"], finding["expected"], finding["reason"]) == ("role", True, "on purpose")


def test_a_finding_that_nothing_expects_is_an_alarm_though_all_cases_agree() -> None:
    assert with_findings().is_as_expected
    assert with_findings(MEANT).is_as_expected
    assert not with_findings(MEANT, FROZEN).is_as_expected
    states = [row.state for row in overview(with_findings(MEANT, FROZEN)).findings]
    assert states == ["foreseen", "alarm"]
    assert overview(with_findings(MEANT)).state == "good"
    assert overview(with_findings(FROZEN)).state == "alarm"
    assert "1 finding" in overview(with_findings(MEANT, FROZEN)).summary


def test_a_remark_is_told_and_is_no_alarm() -> None:
    whole = with_findings(REMARK)
    assert whole.is_as_expected
    (row,) = overview(whole).findings
    assert row.state == "idle"
    assert overview(whole).summary == overview(with_findings()).summary
    assert "Remark: " in report_markdown(whole, {})
    assert list(finding_lines(whole)) == [f"remark: {REMARK.sentence}"]
    assert not with_findings(REMARK, FROZEN).is_as_expected
