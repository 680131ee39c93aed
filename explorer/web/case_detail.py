"""One case in detail: verdict, the engines as a two-by-two, structure, values and code."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from string import ascii_uppercase
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.model.arrays import AnyArray, Array, unpack
from explorer.model.engines import FRAMEWORK_LABELS, Engine, Style, engine_named, in_order
from explorer.model.engines import plain as plain_engine
from explorer.model.report import AnswerGroup, CaseReport, CaseVerdict, Report
from explorer.model.results import Leaf, Result
from explorer.report.scenario.case_rows import structure_tree
from explorer.text.clean import clean
from explorer.text.language import _, later, named
from explorer.text.messages import one_line
from explorer.text.numbers import digits, tensor_digits
from explorer.web.links import place_of, unless
from explorer.web.widgets import new_bar, plain
from explorer.words import answers
from explorer.words.cases import VERDICTS, answered, described, reason, who

ELEMENTS = 64
"""A tensor of at most this many elements is written out; a larger one is drawn."""

CELLS = 48
"""The most rows, and the most columns, of a heat map; those of a larger tensor are put together."""

FIRST_PAIR = ("torch-tape", "mindspore-graph")
"""The engines that are compared first where no difference says which."""

DIFFERENCE = later("difference")

Plane = NDArray[np.float64]


def values(case: CaseReport, wanted: Mapping[str, str]) -> dict[str, str]:
    """Choose a tensor and two engines, and show it in both; what was chosen, as an address says it."""
    answers = {name: case.results[name] for name in answered(case)}
    names: dict[str, None] = {}
    for result in answers.values():
        for part in result.leaves:
            names[part.name] = None
    leaves = list(names)
    if not leaves:
        return {}
    st.markdown(f"##### {_('Values')}")
    bar = new_bar("values")
    index = place_of(wanted.get("leaf", ""), leaves)
    leaf = bar.selectbox(_("Tensor"), leaves, index=index, key="leaf", width=200, format_func=clean)
    first = first_pair(case, answers, wanted.get("engines", ""))
    chosen = bar.multiselect(
        _("Engines"),
        list(answers),
        first,
        key="engines",
        max_selections=2,
        width=420,
        help=_("two at a time; their difference stands beside them"),
    )
    shown = [name for name in answers if name in chosen]
    _show({name: _array(answers[name], leaf) for name in shown})
    engines = ",".join(shown)
    opens_with = ",".join(first_pair(case, answers, ""))
    return {"leaf": unless(leaf, leaves[0]), "engines": unless(engines, opens_with)}


def first_pair(case: CaseReport, answers: Mapping[str, Result], asked: str) -> list[str]:
    """The engines to begin with: those in the address, else those that differ most, else FIRST_PAIR."""
    choices: list[Sequence[str]] = [asked.split(","), FIRST_PAIR, list(answers)[:2]]
    if case.greatest:
        choices.insert(1, case.greatest.engines)
    for names in choices:
        pair = [name for name in answers if name in names]
        if pair and len(pair) == len(set(names)):
            return pair[:2]
    return list(answers)[:2]


def _array(result: Result, name: str) -> Array | None:
    for leaf in result.leaves:
        if leaf.name == name:
            return leaf.value
    return None


def _show(values: Mapping[str, Array | None]) -> None:
    if any(value is not None and value.excerpt for value in values.values()):
        _show_excerpts(values)
        return
    shown: dict[str, AnyArray | None] = {}
    for name, value in values.items():
        shown[name] = None if value is None else unpack(value)
    both = list(shown.values())
    if len(both) == 2:
        shown[DIFFERENCE] = difference(both[0], both[1])
    if not shown:
        st.caption(_("Choose one engine or two."))
        return
    for column, (name, array) in zip(st.columns(len(shown)), shown.items(), strict=True):
        with column:
            st.markdown(f"**{plain(_(name))}**")
            _array_view(name, array)


def _show_excerpts(values: Mapping[str, Array | None]) -> None:
    """What is kept of tensors that are too large to be kept whole: first elements and figures."""
    for name, value in values.items():
        st.markdown(f"**{plain(name)}**")
        if value is None:
            st.caption(_("This engine has no such tensor."))
            continue
        st.code(tensor_digits(value, ELEMENTS), language=None, wrap_lines=True)
        if value.excerpt:
            summary = value.excerpt.summary
            text = _("{shape}, from {least} to {greatest}; its other elements are not kept")
            shape = "×".join(map(str, value.shape))
            least, greatest = f"{summary.minimum:.5g}", f"{summary.maximum:.5g}"
            st.caption(text.format(shape=shape, least=least, greatest=greatest))


def difference(left: AnyArray | None, right: AnyArray | None) -> AnyArray | None:
    """The left minus the right in float64; None where they cannot be subtracted."""
    if left is None or right is None or left.shape != right.shape:
        return None
    kind = np.complex128 if "c" in (left.dtype.kind, right.dtype.kind) else np.float64
    # Of two infinities, or of two nan, there is no difference; that is no error here.
    with np.errstate(invalid="ignore"):
        return np.asarray(left.astype(kind) - right.astype(kind))


def _array_view(name: str, array: AnyArray | None) -> None:
    if array is None:
        text = _("This engine has no such tensor.")
        if name == DIFFERENCE:
            text = _("The two shapes differ.")
        st.caption(text)
    elif array.size <= ELEMENTS:
        st.code(digits(array, ELEMENTS), language=None, wrap_lines=True)
    else:
        magnitudes = array
        if array.dtype.kind == "c":
            magnitudes = np.abs(array)
        st.vega_lite_chart(
            heat_map(magnitudes.astype(np.float64)),
            alt=clean(_("{what}: {values}").format(what=_(name), values=extent(magnitudes))),
        )
        st.caption(extent(magnitudes))


def extent(array: AnyArray) -> str:
    """A tensor in a line: its shape, its least and its greatest element, where that is."""
    shape = "×".join(map(str, array.shape))
    finite = np.isfinite(array)
    if not finite.any():
        return _("{shape}, nothing finite").format(shape=shape)
    magnitude = np.where(finite, np.abs(array), -1.0)
    place = tuple(map(int, np.unravel_index(int(magnitude.argmax()), array.shape)))
    least, greatest = float(array[finite].min()), float(array[finite].max())
    text = _("{shape}, from {least} to {greatest}; farthest from zero at {index}: {value}").format(
        shape=shape,
        least=f"{least:.5g}",
        greatest=f"{greatest:.5g}",
        index=list(place),
        value=f"{float(array[place]):.5g}",
    )
    missing = int(array.size - finite.sum())
    if missing:
        return _("; ").join((text, _("{n} not finite").format(n=missing)))
    return text


def plane_of(array: AnyArray) -> Plane:
    """A tensor as rows and columns, at most CELLS of each.

    The last axis is the columns; a cell that stands for several elements has the one farthest from
    zero, so that no difference is lost.
    """
    columns = math.ceil(math.sqrt(array.size))
    if array.ndim > 1:
        columns = array.shape[-1]
    rows = -(-array.size // columns)
    plane = np.full(rows * columns, np.nan)
    plane[: array.size] = array.ravel()
    plane = plane.reshape(rows, columns)
    return _pooled(_pooled(plane).T).T


def _pooled(plane: Plane) -> Plane:
    """At most CELLS rows, each the element farthest from zero of its block."""
    if len(plane) <= CELLS:
        return plane
    pooled = []
    for block in np.array_split(plane, CELLS):
        farthest = np.nan_to_num(np.abs(block), nan=-1.0).argmax(axis=0)
        pooled.append(np.take_along_axis(block, farthest[np.newaxis], axis=0)[0])
    return np.array(pooled)


def heat_map(array: Plane) -> dict[str, Any]:
    """A Vega-Lite chart of a tensor: zero is pale, blue lies below it and orange above."""
    plane = plane_of(array)
    cells = []
    for (row, column), value in np.ndenumerate(plane):
        if np.isfinite(value):
            cells.append({"row": row, "column": column, "value": float(value)})
    reach = max((abs(cell["value"]) for cell in cells), default=0.0) or 1.0
    colour = {
        "field": "value",
        "type": "quantitative",
        "scale": {"scheme": "blueorange", "domain": [-reach, reach]},
        "legend": {"title": None, "orient": "bottom", "format": ".2g"},
    }
    axis = {"labels": False, "ticks": False, "title": None, "domain": False}
    return {
        "data": {"values": cells},
        "mark": {"type": "rect"},
        "height": 190,
        "encoding": {
            "x": {"field": "column", "type": "ordinal", "axis": axis},
            "y": {"field": "row", "type": "ordinal", "axis": axis},
            "color": colour,
            "tooltip": [
                {"field": "row", "title": _("row"), "type": "ordinal"},
                {"field": "column", "title": _("column"), "type": "ordinal"},
                {"field": "value", "title": _("value"), "type": "quantitative", "format": ".6g"},
            ],
        },
    }


def written_leaf(leaf: Leaf) -> str:
    """A tensor of a result in a line, a large one by its first elements."""
    return f"{clean(leaf.name)} = {tensor_digits(leaf.value, ELEMENTS)}  {leaf.value.dtype}"


# Letters of distinct results


def letters(report: CaseReport) -> dict[str, str]:
    """ "A" for each engine with the first one's result, "B" for the next result, …

    Tapes come first; engines that did not answer are left out. Answers are alike when they do not
    differ; errors when they are of one type.
    """
    group_of: dict[str, AnswerGroup] = {}
    for group in report.groups:
        group_of.update(dict.fromkeys(group.engines, group))
    distinct: list[AnswerGroup] = []
    by_engine: dict[str, str] = {}
    for name in sorted(report.results, key=lambda name: engine_named(name).style, reverse=True):
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
    apart = set(map(frozenset, report.apart))
    pairs = product(group.engines, other.engines)
    return apart.isdisjoint(map(frozenset, pairs))


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
    by_engine = {}
    if case.verdict in ("differs", "some_raise"):
        by_engine = letters(case)
    for column, (style, meaning) in zip(st.columns(len(STYLES)), STYLES.items(), strict=True):
        column.markdown(f"**{_(STYLE_NAMES[style])}** — {_(meaning)}")
    for framework in FRAMEWORK_LABELS:
        for column, style in zip(st.columns(len(STYLES)), STYLES, strict=True):
            # One framework may have run in several environments.
            for name in in_order(case.results):
                if plain_engine(name) != f"{framework}-{style}":
                    continue
                with column.container(border=True, height="stretch"):
                    letter = by_engine.get(name, "")
                    _engine(engine_named(name), case.results[name], letter, report)


def _verdict(case: CaseReport) -> None:
    verdict = f":{COLOURS[case.verdict]}-badge[{_(VERDICTS[case.verdict])}]"
    expectation = f":red-badge[{_('not as expected')}]"
    if case.expected:
        expectation = _("as expected")
    heading = f"{verdict} {expectation}"
    why = reason(case)
    if why:
        heading += f": {plain(why)}"
    lines = [heading]

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
    badge = ""
    if letter:
        answer = _("answer {letter}").format(letter=letter)
        badge = f" :{TINTS.get(letter, 'gray')}-badge[{answer}]"
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
    label = text.format(framework=FRAMEWORK_LABELS[engine.framework])
    return f"{label}, {plain(engine.environment)}" if engine.environment else label


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
            column.markdown(f"**{_label(engine_named(name))}**")
            # Not wrapped: a line that goes on at the margin reads as two.
            column.code(clean(codes[name], keep="\n"))
