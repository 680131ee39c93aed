"""The values of one tensor in two engines and their difference: numbers, or heat maps when large."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.model.arrays import AnyArray, unpack
from explorer.model.report import CaseReport
from explorer.model.results import Leaf, Result
from explorer.text.clean import clean
from explorer.text.language import _, later
from explorer.text.numbers import digits
from explorer.web.links import place_of, unless
from explorer.web.messages import plain
from explorer.web.widgets import new_bar
from explorer.words.cases import answered

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
        names.update(dict.fromkeys(leaf.name for leaf in result.leaves))
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
    greatest = case.greatest.engines if case.greatest else ()
    for names in (asked.split(","), greatest, FIRST_PAIR, list(answers)[:2]):
        pair = [name for name in answers if name in names]
        if pair and len(pair) == len(set(names)):
            return pair[:2]
    return list(answers)[:2]


def _array(result: Result, name: str) -> AnyArray | None:
    for leaf in result.leaves:
        if leaf.name == name:
            return unpack(leaf.value)
    return None


def _show(arrays: Mapping[str, AnyArray | None]) -> None:
    shown: dict[str, AnyArray | None] = dict(arrays)
    both = list(arrays.values())
    if len(both) == 2:
        shown[DIFFERENCE] = difference(both[0], both[1])
    if not shown:
        st.caption(_("Choose one engine or two."))
        return
    for column, (name, array) in zip(st.columns(len(shown)), shown.items(), strict=True):
        with column:
            st.markdown(f"**{plain(_(name))}**")
            _array_view(name, array)


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
        shapes, none = _("The two shapes differ."), _("This engine has no such tensor.")
        st.caption(shapes if name == DIFFERENCE else none)
    elif array.size <= ELEMENTS:
        st.code(digits(array, ELEMENTS), language=None, wrap_lines=True)
    else:
        magnitudes = np.abs(array) if array.dtype.kind == "c" else array
        st.vega_lite_chart(
            heat_map(magnitudes.astype(np.float64)),
            alt=clean(_("{what}: {values}").format(what=_(name), values=described(magnitudes))),
        )
        st.caption(described(magnitudes))


def described(array: AnyArray) -> str:
    """A tensor in a line: its shape, its least and its greatest element, where that is."""
    shape = "×".join(map(str, array.shape))
    finite = np.isfinite(array)
    if not finite.any():
        return _("{shape}, nothing finite").format(shape=shape)
    magnitude = np.where(finite, np.abs(array), -1.0)
    place = tuple(int(index) for index in np.unravel_index(int(magnitude.argmax()), array.shape))
    least, greatest = float(array[finite].min()), float(array[finite].max())
    text = _("{shape}, from {least} to {greatest}; farthest from zero at {index}: {value}").format(
        shape=shape,
        least=f"{least:.5g}",
        greatest=f"{greatest:.5g}",
        index=list(place),
        value=f"{float(array[place]):.5g}",
    )
    missing = int(array.size - finite.sum())
    if not missing:
        return text
    return _("; ").join((text, _("{n} not finite").format(n=missing)))


def plane_of(array: AnyArray) -> Plane:
    """A tensor as rows and columns, at most CELLS of each.

    The last axis is the columns; a cell that stands for several elements has the one farthest from
    zero, so that no difference is lost.
    """
    columns = array.shape[-1] if array.ndim > 1 else math.ceil(math.sqrt(array.size))
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
    return f"{clean(leaf.name)} = {digits(unpack(leaf.value), ELEMENTS)}  {leaf.value.dtype}"
