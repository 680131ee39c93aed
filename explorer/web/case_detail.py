"""One case in detail: the verdict, the engines as a two-by-two, structure, values and code."""

from collections.abc import Mapping
from itertools import product
from string import ascii_uppercase

import streamlit as st

from explorer.model.engines import ENGINES, FRAMEWORK_LABELS, Engine, Style
from explorer.model.report import AnswerGroup, CaseReport, CaseVerdict, Report
from explorer.model.results import Result
from explorer.report.scenario.case_rows import structure_tree
from explorer.text.clean import clean
from explorer.text.language import _, later, named
from explorer.text.messages import one_line
from explorer.web.case_values import values, written_leaf
from explorer.web.messages import plain
from explorer.words import answers
from explorer.words.cases import VERDICTS, described, reason, who

# Letters of distinct results


def letters(report: CaseReport) -> dict[str, str]:
    """ "A" for each engine with the first one's result, "B" for the next result, …

    Tapes come first; engines that did not answer are left out. Answers are alike when they do not
    differ; errors when they are of one type.
    """
    group_of = {name: group for group in report.groups for name in group.engines}
    distinct: list[AnswerGroup] = []
    by_engine: dict[str, str] = {}
    for name in sorted(report.results, key=lambda name: ENGINES[name].style, reverse=True):
        if name in group_of:
            by_engine[name] = ascii_uppercase[_place_among(report, group_of[name], distinct)]
    return by_engine


def _place_among(report: CaseReport, group: AnswerGroup, distinct: list[AnswerGroup]) -> int:
    """The place of a result among the distinct ones, to which a new one is added."""
    for place, other in enumerate(distinct):
        if _are_alike(report, group, other):
            return place
    distinct.append(group)
    return len(distinct) - 1


def _are_alike(report: CaseReport, group: AnswerGroup, other: AnswerGroup) -> bool:
    result, another = report.results[group.engines[0]], report.results[other.engines[0]]
    if result.outcome != another.outcome:
        return False
    if result.error and another.error:
        return result.error.type == another.error.type
    apart = {frozenset(engines) for engines in report.apart}
    pairs = product(group.engines, other.engines)
    return not any(frozenset(engines) in apart for engines in pairs)


# The detail


STYLES: dict[Style, str] = {
    "tape": later("recorded while the forward runs"),
    "graph": later("derived from the program before it runs"),
}
"""The columns, and what each style means."""

STYLE_NAMES: dict[Style, str] = {"tape": later("Tape"), "graph": later("Graph")}

TINTS = {"A": "blue", "B": "orange", "C": "violet", "D": "red"}
"""The colour of each letter of a distinct result."""

COLOURS: dict[CaseVerdict, str] = {
    "match": "green",
    "close": "blue",
    "differs": "orange",
    "drawn": "gray",
    "all_raise": "gray",
    "some_raise": "orange",
    "not_compared": "gray",
}
"""Each verdict's colour; it is always shown with the name."""


def detail(case: CaseReport, report: Report, wanted: Mapping[str, str]) -> dict[str, str]:
    """Everything about one case; what was chosen in it, as an address says it."""
    st.markdown(f"#### {plain(case.case.short)}")
    _verdict(case)
    answers, structure = st.columns([7, 3], gap="medium")
    with structure:
        _structure(case)
    with answers:
        _two_by_two(case, report)
    chosen = values(case, wanted)
    _code(case)
    return chosen


def _two_by_two(case: CaseReport, report: Report) -> None:
    """A row for each framework, a column for each style."""
    # Where all agree, letters would tell nothing.
    by_engine = letters(case) if case.verdict in ("differs", "some_raise") else {}
    for column, (style, meaning) in zip(st.columns(len(STYLES)), STYLES.items(), strict=True):
        column.markdown(f"**{_(STYLE_NAMES[style])}** — {_(meaning)}")
    for framework in FRAMEWORK_LABELS:
        for column, style in zip(st.columns(len(STYLES)), STYLES, strict=True):
            engine = ENGINES[f"{framework}-{style}"]
            if engine.name in case.results:
                with column.container(border=True, height="stretch"):
                    letter = by_engine.get(engine.name, "")
                    _engine(engine, case.results[engine.name], letter, report)


def _verdict(case: CaseReport) -> None:
    verdict = f":{COLOURS[case.verdict]}-badge[{_(VERDICTS[case.verdict])}]"
    expectation = _("as expected") if case.expected else f":red-badge[{_('not as expected')}]"
    why = reason(case)
    because = f": {plain(why)}" if why else ""
    lines = [f"{verdict} {expectation}{because}"]

    difference = case.greatest
    if difference and (difference.what != "value" or difference.abs):
        lines.append(plain(described(difference)))
    if case.oracle_agrees:
        lines.append(_("Central differences agree with the gradient asked for."))
    elif case.oracle_agrees is False:
        estimates = plain(answers.estimates(case.oracle))
        lines.append(_("Central differences say {estimates}.").format(estimates=estimates))
    if case.drawn:
        names = plain(named(case.drawn))
        lines.append(_("Not compared by value: {names}.").format(names=names))
        lines.append(plain(_(answers.ABOUT_DRAWS)))
    st.markdown("  \n".join(lines))


def _engine(engine: Engine, result: Result, letter: str, report: Report) -> None:
    answer = _("answer {letter}").format(letter=letter)
    badge = f" :{TINTS.get(letter, 'gray')}-badge[{answer}]" if letter else ""
    # Below each other on a phone, the columns' heads are far away: each says its style itself.
    st.markdown(f"**{_label(engine)}** {_(engine.how)}{badge}")
    _answer(result, report.devices.get(engine.name, ""))
    if result.error and result.error.source:
        st.caption(plain(result.error.source))
    if result.note:
        st.caption(plain(one_line(answers.note(result))))


def _label(engine: Engine) -> str:
    """The engine's name in the reader's language."""
    text = _("{framework}, tape") if engine.style == "tape" else _("{framework}, graph")
    return text.format(framework=FRAMEWORK_LABELS[engine.framework])


def _answer(result: Result, device: str) -> None:
    """The leaves and how they nest, or why there are none."""
    if result.outcome == "not_defined":
        st.caption(_("The scenario defines no net for this framework."))
    elif result.outcome != "ok":
        st.code(answers.answer(result), language=None, wrap_lines=True)
    else:
        st.code("\n".join(map(written_leaf, result.leaves)), language=None, wrap_lines=True)
        parts = [_("returns {structure}").format(structure=result.written)]
        if result.natural not in ("", result.written):
            parts.append(_("in its own form {structure}").format(structure=result.natural))
        if device:
            parts.append(_("on {device}").format(device=device))
        st.caption(plain(" · ".join(parts)))


def _structure(case: CaseReport) -> None:
    """How the result nests, as a tree; once for all engines whose trees are the same."""
    engines_by_tree: dict[str, list[str]] = {}
    for name, result in case.results.items():
        if result.outcome == "ok":
            engines_by_tree.setdefault(structure_tree(result), []).append(name)
    if not engines_by_tree:
        return
    st.markdown(f"**{_('Structure')}**")
    for tree, engines in engines_by_tree.items():
        st.code(tree, language=None, wrap_lines=True)
        engines_told = plain(who(tuple(engines), tuple(case.results)))
        st.caption(_("returned by {engines}").format(engines=engines_told))


def _code(case: CaseReport) -> None:
    """The code of all engines, each with its button to copy it."""
    codes = {name: result.code for name, result in case.results.items() if result.code}
    if not codes:
        return
    st.markdown(f"##### {_('Code')}")
    st.caption(_("A program for each engine, which can be pasted and gives the same."))
    names = list(codes)
    for start in range(0, len(names), 2):
        for column, name in zip(st.columns(2), names[start : start + 2], strict=False):
            column.markdown(f"**{_label(ENGINES[name])}**")
            # Not wrapped: a line that goes on at the margin reads as two.
            column.code(clean(codes[name], keep="\n"))
