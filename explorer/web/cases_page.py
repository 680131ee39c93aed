"""The page of cases: a table to filter and choose from, and the chosen case in detail."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig

from explorer.model.report import CaseReport, CaseVerdict, Report
from explorer.report.scenario.case_rows import COMPARED
from explorer.report.scenario.page import engines_table
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.language import _, later
from explorer.web.case_detail import COLOURS, detail, letters
from explorer.web.links import follow, last_shown, remember, table_start
from explorer.web.report_page import ReportKey
from explorer.web.widgets import (
    ROW_HEIGHT,
    has_words,
    new_bar,
    optional_box,
    plain,
    selected_row,
    table_height,
)
from explorer.words import answers
from explorer.words.answers import answer
from explorer.words.cases import VERDICTS, greatest, oracle, summary
from explorer.words.oracle import oracle_summary

# Filters

UNEXPECTED = later("unexpected")
"""A mark beside the verdict, and a filter like one."""

AUX = (later("with"), later("without"))

NO_WEIGHTS = later("none")

SEPARATOR = "; "
"""Stands between several choices in an address; a position such as (0, 1) has a comma of its own."""

FILTER_NAMES = ("api", "position", "weights", "aux", "verdict", "words")
"""The names of the filters in an address, and the keys of their widgets."""


class Filters(msgspec.Struct, frozen=True):
    """The filters of the table; one that is empty lets every case pass."""

    apis: Sequence[str] = ()
    positions: Sequence[str] = ()
    weights: str = ""
    aux: str = ""
    verdicts: Sequence[str] = ()
    words: str = ""

    def fit(self, case: CaseReport) -> bool:
        """Whether a case passes all filters."""
        asked = case.case
        return (
            _is_among(asked.api, self.apis)
            and _is_among(position_of(case), self.positions)
            and self.weights in ("", asked.weights or NO_WEIGHTS)
            and (not self.aux or asked.has_aux == (self.aux == "with"))
            and (not self.verdicts or not set(marks_of(case)).isdisjoint(self.verdicts))
            and self._fits_words(case)
        )

    def _fits_words(self, case: CaseReport) -> bool:
        """Every word must be in the case's names, in a result, or in a structure."""
        text = f"{case.case.label} {case.case.short}"
        for result in case.results.values():
            text += f" {answers.answer(result)}{result.written}"
        return has_words(text, self.words)

    def address(self) -> dict[str, str]:
        """The filters as an address says them."""
        return {
            "api": SEPARATOR.join(self.apis),
            "position": SEPARATOR.join(self.positions),
            "weights": self.weights,
            "aux": self.aux,
            "verdict": SEPARATOR.join(self.verdicts),
            "words": self.words,
        }


def _is_among(text: str, chosen: Sequence[str]) -> bool:
    return not chosen or text in chosen


def position_of(case: CaseReport) -> str:
    """A case's ``grad_position`` as Python writes it."""
    return str(case.case.grad_position)


def marks_of(case: CaseReport) -> list[str]:
    """The verdict, and that it is unexpected."""
    verdict = VERDICTS[case.verdict]
    if case.expected:
        return [verdict]
    return [verdict, UNEXPECTED]


def choose_filters(report: Report, wanted: Mapping[str, str]) -> Filters:
    """The filters that the bar asks for; it starts from those that an address wants."""
    apis: dict[str, None] = {}
    positions: dict[str, None] = {}
    weights: dict[str, None] = {}
    verdicts: dict[str, None] = {}
    for case in report.cases:
        apis[case.case.api] = None
        positions[position_of(case)] = None
        weights[case.case.weights or NO_WEIGHTS] = None
        verdicts.update(dict.fromkeys(marks_of(case)))
    bar = _Bar(new_bar("filters"), wanted)
    return Filters(
        apis=bar.several(_("API"), "api", apis, 160),
        positions=bar.several(_("Position"), "position", positions, 140),
        weights=bar.one(_("Weights"), "weights", weights, _weights_label),
        aux=bar.one("has_aux", "aux", AUX, _),
        verdicts=bar.several(_("Verdict"), "verdict", verdicts, 180),
        words=bar.words(_("Search"), "words", _("dx, weights=all, ValueError …")),
    )


def _weights_label(name: str) -> str:
    # "one" and "all" are what the call says, as the table shows it.
    if name == NO_WEIGHTS:
        return _(name)
    return name


class _Bar:
    """Widgets beside each other, each of which begins with what the address wants of it."""

    def __init__(self, box: DeltaGenerator, wanted: Mapping[str, str]) -> None:
        self._box = box
        self._wanted = wanted

    def several(self, label: str, name: str, options: Iterable[str], width: int) -> tuple[str, ...]:
        """Any number of options."""
        all_options = list(options)
        asked = self._wanted.get(name, "").split(SEPARATOR)
        first = [option for option in all_options if option in asked]
        chosen = self._box.multiselect(
            label,
            all_options,
            first,
            key=name,
            placeholder=_("all"),
            width=width,
            format_func=_,
        )
        return tuple(chosen)

    def one(
        self, label: str, name: str, options: Iterable[str], called: Callable[[str], str]
    ) -> str:
        """One option or none; ``called`` says what an option is called."""
        return optional_box(self._box, label, name, options, self._wanted, _("any"), 105, called)

    def words(self, label: str, name: str, placeholder: str) -> str:
        """Words to search for."""
        first = self._wanted.get(name, "")
        return self._box.text_input(label, first, key=name, placeholder=placeholder, width=190)


# The page

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

COLUMNS = ("call", "verdict", "answer", "greatest", "oracle")

NAMES = ("case", "leaf", "engines")
"""The names in the address beside those of the filters."""


def cases(key: ReportKey, report: Report) -> None:
    """The summary, the filters, the table, and one case."""
    _summary(report)
    before = last_shown(PLACE)
    wanted = follow(PLACE, (*FILTER_NAMES, *NAMES))
    chosen = choose_filters(report, wanted)
    fitting = [case for case in report.cases if chosen.fit(case)]
    if not fitting:
        st.caption(_("No case fits these filters."))
        remember(PLACE, {**chosen.address(), "case": wanted.get("case", "")})
        return
    start = table_start(PLACE, before, wanted, "case")
    first = _first(fitting, start.choice)
    case = fitting[_chosen_row(key, fitting, first, start.number)]
    # What a page opens with is no part of an address: the case most worth a look.
    shown = {**chosen.address(), "case": ""}
    if case is not fitting[_most_telling(fitting)]:
        shown["case"] = case.case.short
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
    box = st.success
    if not report.is_as_expected:
        box = st.error
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
    return selected_row(selected, len(fitting), first)


def _rank(case: CaseReport) -> tuple[bool, int]:
    return case.expected, MOST_TELLING.index(case.verdict)


def _verdict_column() -> ColumnConfig:
    names = [_(VERDICTS[verdict]) for verdict in COLOURS]
    return st.column_config.MultiselectColumn(
        _("verdict"),
        options=[*names, _(UNEXPECTED)],
        color=[*COLOURS.values(), "red"],
        width="small",
    )


def _table(fitting: Iterable[CaseReport]) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for case in fitting:
        difference = NOTHING
        if case.verdict in COMPARED:
            difference = greatest(case.greatest)
        marks = list(map(_, marks_of(case)))
        oracle_word = oracle(case) or NOTHING
        cells = (case.case.short, marks, _answers(case), difference, oracle_word)
        for name, cell in zip(COLUMNS, cells, strict=True):
            columns[name].append(cell)
    return columns


def _answers(case: CaseReport) -> str:
    """The result of all engines, or each distinct one once."""
    worded: dict[str, str] = {}
    for name, letter in letters(case).items():
        if letter not in worded:
            worded[letter] = answer(case.results[name], drawn=case.drawn)
    return "  ≠  ".join(worded.values()) or _("no engine answers")
