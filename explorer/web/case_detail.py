"""One case in detail: the engines as the two-by-two that they are, with answers and code."""

import streamlit as st

from explorer.model.arrays import unpack
from explorer.model.engines import ENGINES, FRAMEWORK_LABELS, Engine, Style
from explorer.model.report import CaseReport, Report
from explorer.model.results import Leaf, Result
from explorer.report.markdown import escape
from explorer.report.scenario import wording
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.text.numbers import digits
from explorer.web.answer_letters import letters

STYLES: dict[Style, str] = {
    "tape": "recorded while the forward runs",
    "graph": "derived from the program before it runs",
}
"""The columns, and what each style means."""

TINTS = {"A": "blue", "B": "orange", "C": "violet", "D": "red"}
"""The colour of each letter that tells one answer from another."""

ELEMENTS = 64
"""A leaf of at most this many elements is written out."""


def detail(case: CaseReport, report: Report) -> None:
    """The verdict in words, then the engines: a row for each framework, a column for each style."""
    st.markdown(f"#### {escape(case.case.short)}")
    _verdict(case)
    # Where all agree, letters would tell nothing.
    by_engine = letters(case) if case.verdict in ("differs", "some_raise") else {}
    for column, (style, meaning) in zip(st.columns(len(STYLES)), STYLES.items(), strict=True):
        column.markdown(f"**{style.capitalize()}** — {meaning}")
    for framework in FRAMEWORK_LABELS:
        for column, style in zip(st.columns(len(STYLES)), STYLES, strict=True):
            engine = ENGINES[f"{framework}-{style}"]
            if engine.name in case.results:
                with column.container(border=True, height="stretch"):
                    letter = by_engine.get(engine.name, "")
                    _engine(engine, case.results[engine.name], letter, report)


def _verdict(case: CaseReport) -> None:
    verdict = wording.VERDICTS[case.verdict].capitalize()
    expectation = "as expected" if case.expected else "**not as expected**"
    reason = f": {escape(clean(case.reason))}" if case.reason else ""
    lines = [f"**{verdict}**, {expectation}{reason}."]

    difference = case.greatest
    if difference and (difference.what != "value" or difference.abs):
        lines.append(f"Difference: {escape(wording.described(difference))}.")
    if case.oracle_agrees:
        lines.append("Central differences agree with the gradient asked for.")
    elif case.oracle_agrees is False:
        lines.append(f"Central differences say {escape(wording.estimates(case.oracle))}.")
    if case.drawn:
        names = escape(clean(", ".join(case.drawn)))
        lines.append(f"Not compared by value: {names}. {escape(wording.ABOUT_DRAWS)}.")
    st.markdown("  \n".join(lines))


def _engine(engine: Engine, result: Result, letter: str, report: Report) -> None:
    badge = f" :{TINTS.get(letter, 'gray')}-badge[answer {letter}]" if letter else ""
    st.markdown(f"**{FRAMEWORK_LABELS[engine.framework]}** {engine.how}{badge}")
    _answer(result)
    if result.error and result.error.source:
        st.caption(escape(clean(result.error.source)))
    if result.note:
        st.caption(escape(one_line(result.note)))
    # In a popover: the programs are long, and few readers want more than one.
    if result.code:
        device = clean(report.devices.get(engine.name, ""))
        with st.popover("Code to copy", help=f"ran on {device}" if device else None):
            st.code(clean(result.code, keep="\n"), wrap_lines=False)


def _answer(result: Result) -> None:
    """The leaves and how they nest, or why there are none."""
    if result.outcome == "not_defined":
        st.caption("The scenario defines no net for this framework.")
    elif result.outcome != "ok":
        st.code(wording.answer(result), language=None, wrap_lines=True)
    else:
        st.code("\n".join(map(_leaf, result.leaves)), language=None, wrap_lines=True)
        structure = f"returns {result.written}"
        if result.natural not in ("", result.written):
            structure += f" · in its own form {result.natural}"
        st.caption(escape(clean(structure)))


def _leaf(leaf: Leaf) -> str:
    return f"{clean(leaf.name)} = {digits(unpack(leaf.value), ELEMENTS)}  {leaf.value.dtype}"
