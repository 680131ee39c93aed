"""Findings about the nets: in every face, before the cases, and part of whether all is well."""

from collections.abc import Callable, Iterable

import msgspec
import pytest

from explorer.blocks.markdown import escape, markdown
from explorer.blocks.records import Block
from explorer.model.divergence import Place
from explorer.model.findings import Holder, IllConditioned, OtherRole, ReportFinding
from explorer.model.report import Report
from explorer.report.diff import finding_lines, remark_lines
from explorer.report.scenario.page import (
    findings,
    page_blocks,
    report_blocks,
    report_html,
    report_markdown,
)
from explorer.report.schemas import report_document
from explorer.words.cases import summary
from explorer.words.findings import sentence
from tests.support.sample_report import report

FROZEN = ReportFinding(
    fact=OtherRole("fc.weight", (Holder("torch", "trained"), Holder("mindspore", "frozen"))),
    names=("fc.weight",),
)
REMARK = ReportFinding(
    fact=IllConditioned(Place(label="Sub"), "torch-tape", 1e4, 1e-7, 1e-3), names=("Sub",)
)
MEANT = msgspec.structs.replace(FROZEN, expected=True, reason="on purpose")


def with_findings(*findings: ReportFinding) -> Report:
    return msgspec.structs.replace(report(foreseen=False), findings=findings)


@pytest.mark.parametrize("blocks", [report_blocks, page_blocks])
def test_a_finding_stands_before_the_cases(blocks: Callable[[Report], Iterable[Block]]) -> None:
    text = markdown(list(blocks(with_findings(FROZEN))))
    said = escape(sentence(FROZEN))
    assert said not in markdown(list(blocks(with_findings())))
    assert text.index(said) < text.replace("\\(net", "(net").index("grad(net")


def test_json_has_the_finding_with_its_names() -> None:
    (finding,) = report_document(with_findings(MEANT))["findings"]
    assert list(finding["names"]) == ["fc.weight"]
    assert (finding["kind"], finding["expected"], finding["reason"]) == ("role", True, "on purpose")


def test_a_finding_that_nothing_expects_is_an_alarm_though_all_cases_agree() -> None:
    assert with_findings().is_as_expected
    assert with_findings(MEANT).is_as_expected
    assert not with_findings(MEANT, FROZEN).is_as_expected
    states = [row.tone for row in findings(with_findings(MEANT, FROZEN))]
    assert states == ["foreseen", "alarm"]
    assert 'class="summary good"' in report_html(with_findings(MEANT))
    assert 'class="summary alarm"' in report_html(with_findings(FROZEN))
    assert "1 finding" in summary(with_findings(MEANT, FROZEN))


def test_a_remark_is_told_and_is_no_alarm() -> None:
    whole = with_findings(REMARK)
    assert whole.is_as_expected
    (row,) = findings(whole)
    assert row.tone == "idle"
    assert summary(whole) == summary(with_findings())
    assert "Remark: " in report_markdown(whole, {})
    assert list(finding_lines(whole)) == []
    assert list(remark_lines(whole)) == [f"remark: {sentence(REMARK)}"]
    assert not with_findings(REMARK, FROZEN).is_as_expected
