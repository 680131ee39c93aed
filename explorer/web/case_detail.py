"""One case in detail: the four engines as the two-by-two that they are, each with its answer and
the code that gives it.
"""

import streamlit as st

from explorer.model.arrays import unpack
from explorer.model.engines import ENGINES, Engine
from explorer.model.report import CaseReport, Report
from explorer.model.results import Leaf, Result
from explorer.report import wording
from explorer.report.markdown import escape
from explorer.report.reading import VERDICTS
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.text.numbers import digits
from explorer.web.agreement import letters

NAMES = {"mindspore": "MindSpore", "torch": "PyTorch"}
STYLES = {
    "tape": "recorded while the forward runs",
    "graph": "derived from the program before it runs",
}
TINTS = {"A": "blue", "B": "orange", "C": "violet", "D": "red"}
ELEMENTS = 64
"""A leaf of at most this many elements is written out."""


def detail(case: CaseReport, report: Report) -> None:
    """The verdict in words, then the engines: a row for each framework, a column for each style."""
    st.markdown(f"#### {escape(wording.short(case.case))}")
    _verdict(case)
    given = letters(case) if case.verdict in ("differs", "some_raise") else {}
    for column, (style, meaning) in zip(st.columns(len(STYLES)), STYLES.items(), strict=True):
        column.markdown(f"**{style.capitalize()}** — {meaning}")
    for framework in NAMES:
        columns = st.columns(len(STYLES))
        for column, style in zip(columns, STYLES, strict=True):
            for engine in ENGINES.values():
                if (engine.framework, engine.style) == (
                    framework,
                    style,
                ) and engine.name in case.results:
                    with column.container(border=True, height="stretch"):
                        _engine(
                            engine, case.results[engine.name], given.get(engine.name, ""), report
                        )


def _verdict(case: CaseReport) -> None:
    why = f": {escape(clean(case.reason))}" if case.reason else ""
    words = [
        f"**{VERDICTS[case.verdict].capitalize()}**, {'as expected' if case.expected else '**not as expected**'}{why}."
    ]
    if case.greatest and (case.greatest.what != "value" or case.greatest.abs):
        words.append(f"Difference: {escape(wording.spelled(case.greatest))}.")
    oracle = {
        True: "agree with the gradient asked for",
        False: f"say {escape(wording.estimates(case.oracle))}",
    }
    if case.oracle_agrees is not None:
        words.append(f"Central differences {oracle[case.oracle_agrees]}.")
    st.markdown("  \n".join(words))


def _engine(engine: Engine, result: Result, letter: str, report: Report) -> None:
    tag = f" :{TINTS.get(letter, 'gray')}-badge[answer {letter}]" if letter else ""
    st.markdown(f"**{NAMES[engine.framework]}** {engine.how}{tag}")
    if result.outcome == "not_defined":
        st.caption("The scenario defines no net for this framework.")
    elif result.outcome != "ok":
        st.code(wording.answer(result), language=None, wrap_lines=True)
    else:
        st.code("\n".join(map(_leaf, result.leaves)), language=None, wrap_lines=True)
        natural = (
            f" · in its own form {result.natural}"
            if result.natural not in ("", result.written)
            else ""
        )
        st.caption(escape(clean(f"returns {result.written}{natural}")))
    if result.error and result.error.source:
        st.caption(escape(clean(result.error.source)))
    if result.note:
        st.caption(escape(one_line(result.note)))
    if result.code:
        device = clean(report.devices.get(engine.name, ""))
        with st.popover("Code to copy", help=f"ran on {device}" if device else None):
            st.code(clean(result.code, keep="\n"), wrap_lines=False)


def _leaf(leaf: Leaf) -> str:
    return f"{clean(leaf.name)} = {digits(unpack(leaf.value), ELEMENTS)}  {leaf.value.dtype}"
