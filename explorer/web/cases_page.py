"""The page of cases: a table to filter and choose from, and the chosen case in detail."""

from collections.abc import Sequence

import streamlit as st

from explorer.model.report import CaseReport, CaseVerdict, Report
from explorer.report import wording
from explorer.report.reading import VERDICTS, read
from explorer.web.agreement import letters
from explorer.web.case_detail import detail
from explorer.web.running import Question

COLOURS = {
    "match": "green",
    "close": "blue",
    "differs": "orange",
    "all raise": "gray",
    "some raise": "orange",
    "alone": "gray",
}
TELLING: tuple[CaseVerdict, ...] = (
    "differs",
    "some_raise",
    "close",
    "match",
    "all_raise",
    "not_compared",
)
"""Which case is shown first: the unexpected before the expected, and then in this order."""

UNEXPECTED = "unexpected"
AUX = ("with", "without")
ROW, HEAD, SHOWN = 35, 38, 8
"""Pixels of a row and of the head, and how many rows stand before the table scrolls."""


def cases(question: Question, report: Report) -> None:
    """The summary, the filters, the table, and one case."""
    summary(report)
    found = _filtered(report)
    if not found:
        st.caption("No case fits these filters.")
        return
    detail(_chosen(question, found), report)


def summary(report: Report) -> None:
    """The outcome of the whole matrix at a glance."""
    reading = read(report)
    tell = st.success if reading.state == "good" else st.error
    tell(f"**{reading.summary}**  \n{reading.oracle_summary}")


def _filtered(report: Report) -> list[CaseReport]:
    apis = list(dict.fromkeys(case.case.api for case in report.cases))
    verdicts = list(dict.fromkeys(VERDICTS[case.verdict] for case in report.cases))
    bar = st.container(horizontal=True)
    api = bar.multiselect("API", apis, key="api", placeholder="all", width=240)
    verdict = bar.multiselect(
        "CaseVerdict", [*verdicts, UNEXPECTED], key="verdict", placeholder="all", width=240
    )
    aux = bar.selectbox("has_aux", AUX, index=None, key="aux", placeholder="either", width=140)
    text = bar.text_input(
        "Search", key="text", placeholder="dx, weights=all, ValueError …", width=290
    )
    return [
        case for case in report.cases if _fits(case, api, verdict, aux) and _mentions(case, text)
    ]


def _fits(case: CaseReport, api: Sequence[str], verdict: Sequence[str], aux: str | None) -> bool:
    return (
        (not api or case.case.api in api)
        and (
            not verdict
            or VERDICTS[case.verdict] in verdict
            or (UNEXPECTED in verdict and not case.expected)
        )
        and (aux is None or case.case.has_aux == (aux == "with"))
    )


def _mentions(case: CaseReport, text: str) -> bool:
    said = [wording.answer(result) + result.written for result in case.results.values()]
    whole = " ".join((case.case.label, wording.short(case.case), *said)).casefold()
    return all(word in whole for word in text.casefold().split())


def _chosen(question: Question, found: list[CaseReport]) -> CaseReport:
    """Show the table; the case whose row is selected, else the one most worth a look."""
    telling = min(
        range(len(found)),
        key=lambda index: (found[index].expected, TELLING.index(found[index].verdict)),
    )
    picked = st.dataframe(
        _table(found),
        height=HEAD + ROW * min(len(found), SHOWN),
        row_height=ROW,
        hide_index=True,
        column_config={
            "call": st.column_config.TextColumn(width="medium"),
            "verdict": st.column_config.MultiselectColumn(
                options=[*COLOURS, UNEXPECTED], color=[*COLOURS.values(), "red"], width="small"
            ),
            "answer": st.column_config.TextColumn(width="large"),
            "greatest": st.column_config.TextColumn("difference", width="small"),
            "oracle": st.column_config.TextColumn(width="small"),
        },
        key=f"table {question.digest} {question.device} {question.order}",
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [telling]}},
    )
    rows = picked["selection"]["rows"]
    return found[rows[0]] if rows and rows[0] < len(found) else found[telling]


def _table(found: list[CaseReport]) -> dict[str, list[object]]:
    return {
        "call": [wording.short(case.case) for case in found],
        "verdict": [_verdict(case) for case in found],
        "answer": [_answers(case) for case in found],
        "greatest": [
            wording.size(case.greatest) if case.verdict in ("match", "close", "differs") else "—"
            for case in found
        ],
        "oracle": [wording.oracle(case) for case in found],
    }


def _verdict(case: CaseReport) -> list[str]:
    return [VERDICTS[case.verdict], *([] if case.expected else [UNEXPECTED])]


def _answers(case: CaseReport) -> str:
    """The answer of all engines, or each distinct one once."""
    given = letters(case)
    first = {letter: name for name, letter in reversed(given.items())}
    said = [wording.answer(case.results[first[letter]]) for letter in sorted(first)]
    return "  ≠  ".join(said) or "no engine answers"
