"""The page of cases: a table to filter and choose from, and the chosen case in detail."""

from collections.abc import Iterable

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from explorer.model.report import CaseReport, CaseVerdict, Report
from explorer.report.scenario.case_rows import COMPARED
from explorer.report.scenario.page import engines_table
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.web import case_filters as filters
from explorer.web.answer_letters import letters
from explorer.web.case_detail import COLOURS, detail
from explorer.web.explorations import ReportKey
from explorer.web.links import follow, last_shown, remember, table_start
from explorer.web.plain_text import plain
from explorer.web.table_size import ROW_HEIGHT, table_height
from explorer.words.answers import answer
from explorer.words.cases import VERDICTS, greatest, oracle, oracle_summary, summary

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

ROWS_SHOWN = 8
"""The number of rows above which the table scrolls."""


PLACE = "semantics"

NAMES = ("case", "leaf", "engines")
"""The names in the address beside those of the filters."""


def cases(key: ReportKey, report: Report) -> None:
    """The summary, the filters, the table, and one case."""
    _summary(report)
    before = last_shown(PLACE)
    wanted = follow(PLACE, (*filters.NAMES, *NAMES))
    chosen = filters.choose_filters(report, wanted)
    fitting = [case for case in report.cases if chosen.fit(case)]
    if not fitting:
        st.caption(_("No case fits these filters."))
        remember(PLACE, {**chosen.address(), "case": wanted.get("case", "")})
        return
    start = table_start(PLACE, before, wanted, "case")
    first = _first(fitting, start.choice)
    case = fitting[_chosen_row(key, fitting, first, start.number)]
    # What a page opens with is no part of an address: the case most worth a look.
    is_first = case is fitting[_most_telling(fitting)]
    shown = {**chosen.address(), "case": "" if is_first else case.case.short}
    shown.update(detail(case, report, wanted))
    remember(PLACE, shown)
    _engines(key, report)


def _engines(key: ReportKey, report: Report) -> None:
    """Where each engine ran, and every version that was used."""
    with st.expander(_("Engines, devices and versions")):
        shown = engines_table(report)
        heads = [column.name for column in shown.columns]
        engines = [dict(zip(heads, map(clean, row), strict=True)) for row in shown.texts]
        st.dataframe(engines, hide_index=True, width="content")
        packages = sorted(report.versions)
        versions = [clean(report.versions[package]) for package in packages]
        table = {_("package"): packages, _("version"): versions}
        st.dataframe(table, hide_index=True, width="content")
        asked = _("Run on device {device}, up to order {order}.")
        st.caption(asked.format(device=plain(key.device), order=key.order))


def _summary(report: Report) -> None:
    """The outcome of the whole matrix at a glance."""
    # Two blanks before the end of a line are Markdown's line break.
    box = st.success if report.is_as_expected else st.error
    box(f"**{summary(report)}**  \n{oracle_summary(report.cases)}")


def _first(fitting: list[CaseReport], name: str) -> int:
    """The place of a case by its short name or its label; else of the one most worth a look."""
    for place, case in enumerate(fitting):
        if name in (case.case.short, case.case.label):
            return place
    return _most_telling(fitting)


def _most_telling(fitting: list[CaseReport]) -> int:
    return min(range(len(fitting)), key=lambda index: _rank(fitting[index]))


def _chosen_row(key: ReportKey, fitting: list[CaseReport], first: int, start: int) -> int:
    """Show the table; the row that is selected in it, ``first`` until another one is."""
    # Another report, other rows, or another case in the address: another selection.
    rows_key = hash(tuple(case.case for case in fitting))
    selected = st.dataframe(
        _table(fitting),
        height=table_height(len(fitting), ROWS_SHOWN),
        row_height=ROW_HEIGHT,
        hide_index=True,
        column_config={
            "call": st.column_config.TextColumn(_("call"), width="medium"),
            "verdict": _verdict_column(),
            "answer": st.column_config.TextColumn(_("answer"), width="large"),
            "greatest": st.column_config.TextColumn(_("difference"), width=150),
            "oracle": st.column_config.TextColumn(_("oracle"), width="small"),
        },
        key=f"table {key.digest} {key.device} {key.order} {rows_key} {first} {start}",
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [first]}},
    )
    rows = selected["selection"]["rows"]
    return rows[0] if rows and rows[0] < len(fitting) else first


def _rank(case: CaseReport) -> tuple[bool, int]:
    return case.expected, MOST_TELLING.index(case.verdict)


def _verdict_column() -> ColumnConfig:
    names = [_(VERDICTS[verdict]) for verdict in COLOURS]
    return st.column_config.MultiselectColumn(
        _("verdict"),
        options=[*names, _(filters.UNEXPECTED)],
        color=[*COLOURS.values(), "red"],
        width="small",
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
        columns["verdict"].append([_(mark) for mark in filters.marks_of(case)])
        columns["answer"].append(_answers(case))
        columns["greatest"].append(greatest(case.greatest) if is_compared else NOTHING)
        columns["oracle"].append(oracle(case) or NOTHING)
    return columns


def _answers(case: CaseReport) -> str:
    """The answer of all engines, or each distinct one once."""
    worded: dict[str, str] = {}
    for name, letter in letters(case).items():
        if letter not in worded:
            worded[letter] = answer(case.results[name], drawn=case.drawn)
    return "  ≠  ".join(worded.values()) or _("no engine answers")
