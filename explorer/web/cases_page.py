"""The page of cases: a table to filter and choose from, and the chosen case in detail."""

from collections.abc import Iterable, Sequence

import msgspec
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from explorer.model.report import CaseReport, CaseVerdict, Report
from explorer.report.scenario import wording
from explorer.report.scenario.overview import overview
from explorer.report.wording import NOTHING
from explorer.web.answer_letters import letters
from explorer.web.case_detail import detail
from explorer.web.explorations import ReportKey

COLOURS: dict[CaseVerdict, str] = {
    "match": "green",
    "close": "blue",
    "differs": "orange",
    "drawn": "gray",
    "all_raise": "gray",
    "some_raise": "orange",
    "not_compared": "gray",
}
"""Each verdict's colour in the table."""

MOST_TELLING: tuple[CaseVerdict, ...] = (
    "differs",
    "some_raise",
    "close",
    "match",
    "drawn",
    "all_raise",
    "not_compared",
)
"""The verdicts, most telling first; an unexpected case is more telling than any expected one."""

COMPARED: tuple[CaseVerdict, ...] = ("match", "close", "differs")
"""Verdicts that rest on a difference of values."""

UNEXPECTED = "unexpected"
"""A mark beside the verdict, and a filter like one."""

AUX = ("with", "without")

ROW_HEIGHT, HEAD_HEIGHT = 35, 38
"""Pixels of a row of the table, and of its head."""

ROWS_SHOWN = 8
"""The number of rows above which the table scrolls."""


class Filters(msgspec.Struct, frozen=True):
    """The filters of the table; one that is empty or None lets every case pass."""

    apis: Sequence[str]
    verdicts: Sequence[str]
    aux: str | None
    text: str

    def fit(self, case: CaseReport) -> bool:
        """Whether a case passes all filters."""
        return (
            self._fits_api(case)
            and self._fits_verdict(case)
            and self._fits_aux(case)
            and self._fits_text(case)
        )

    def _fits_api(self, case: CaseReport) -> bool:
        return not self.apis or case.case.api in self.apis

    def _fits_verdict(self, case: CaseReport) -> bool:
        return not self.verdicts or not set(_marks(case)).isdisjoint(self.verdicts)

    def _fits_aux(self, case: CaseReport) -> bool:
        return self.aux is None or case.case.has_aux == (self.aux == "with")

    def _fits_text(self, case: CaseReport) -> bool:
        """Every word must stand in the case's names, in an answer, or in how one nests."""
        answers = [wording.answer(result) + result.written for result in case.results.values()]
        text = " ".join((case.case.label, case.case.short, *answers)).casefold()
        return all(word in text for word in self.text.casefold().split())


def cases(key: ReportKey, report: Report) -> None:
    """The summary, the filters, the table, and one case."""
    _summary(report)
    filters = _filters(report)
    fitting = [case for case in report.cases if filters.fit(case)]
    if not fitting:
        st.caption("No case fits these filters.")
        return
    detail(_chosen(key, fitting), report)


def _summary(report: Report) -> None:
    """The outcome of the whole matrix at a glance."""
    # Two blanks before the end of a line are Markdown's line break.
    whole = overview(report)
    box = st.success if whole.state == "good" else st.error
    box(f"**{whole.summary}**  \n{whole.oracle_summary}")


def _filters(report: Report) -> Filters:
    apis = dict.fromkeys(case.case.api for case in report.cases)
    verdicts = dict.fromkeys(wording.VERDICTS[case.verdict] for case in report.cases)
    bar = st.container(horizontal=True)
    api = bar.multiselect("API", list(apis), key="api", placeholder="all", width=240)
    verdict = bar.multiselect(
        "Verdict", [*verdicts, UNEXPECTED], key="verdict", placeholder="all", width=240
    )
    aux = bar.selectbox("has_aux", AUX, index=None, key="aux", placeholder="either", width=140)
    text = bar.text_input(
        "Search", key="text", placeholder="dx, weights=all, ValueError …", width=290
    )
    return Filters(api, verdict, aux, text)


def _chosen(key: ReportKey, fitting: list[CaseReport]) -> CaseReport:
    """Show the table; the case whose row is selected, else the one most worth a look."""
    most_telling = min(range(len(fitting)), key=lambda index: _rank(fitting[index]))
    selected = st.dataframe(
        _table(fitting),
        height=HEAD_HEIGHT + ROW_HEIGHT * min(len(fitting), ROWS_SHOWN),
        row_height=ROW_HEIGHT,
        hide_index=True,
        column_config={
            "call": st.column_config.TextColumn(width="medium"),
            "verdict": _verdict_column(),
            "answer": st.column_config.TextColumn(width="large"),
            "greatest": st.column_config.TextColumn("difference", width="small"),
            "oracle": st.column_config.TextColumn(width="small"),
        },
        key=f"table {key.digest} {key.device} {key.order}",  # another report, another selection
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [most_telling]}},
    )
    rows = selected["selection"]["rows"]
    # The selection outlives a change of the filters, and may lie beyond the end then.
    index = rows[0] if rows and rows[0] < len(fitting) else most_telling
    return fitting[index]


def _rank(case: CaseReport) -> tuple[bool, int]:
    return case.expected, MOST_TELLING.index(case.verdict)


def _verdict_column() -> ColumnConfig:
    names = [wording.VERDICTS[verdict] for verdict in COLOURS]
    return st.column_config.MultiselectColumn(
        options=[*names, UNEXPECTED], color=[*COLOURS.values(), "red"], width="small"
    )


def _table(fitting: Iterable[CaseReport]) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {
        "call": [],
        "verdict": [],
        "answer": [],
        "greatest": [],
        "oracle": [],
    }
    for case in fitting:
        is_compared = case.verdict in COMPARED
        columns["call"].append(case.case.short)
        columns["verdict"].append(_marks(case))
        columns["answer"].append(_answers(case))
        columns["greatest"].append(wording.greatest(case.greatest) if is_compared else NOTHING)
        columns["oracle"].append(wording.oracle(case))
    return columns


def _marks(case: CaseReport) -> list[str]:
    """The verdict, and that it is unexpected."""
    verdict = wording.VERDICTS[case.verdict]
    return [verdict] if case.expected else [verdict, UNEXPECTED]


def _answers(case: CaseReport) -> str:
    """The answer of all engines, or each distinct one once."""
    answers: dict[str, str] = {}
    for name, letter in letters(case).items():
        if letter not in answers:
            answers[letter] = wording.answer(case.results[name], drawn=case.drawn)
    return "  ≠  ".join(answers.values()) or "no engine answers"
