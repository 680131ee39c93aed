"""Draws two trainings: their losses with the band of rounding, and how far each parameter lies apart."""

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

from explorer.drawing.chart import (
    LIGHT_SERIES,
    WIDTH,
    Specification,
    chart_svg,
    config,
    lines,
    specified_svg,
)
from explorer.drawing.style import COLOURS, LIGHT
from explorer.model.study import Chart, Series
from explorer.model.training_comparison import TrainingComparison, WeightMap
from explorer.text.language import _

HEIGHT: Final = 240
ROW: Final = 18
"""The height of a parameter's row, in pixels."""

MOST_ROWS: Final = 60
"""Of a larger net the parameters are drawn that lie furthest apart."""

COLOURS_OF_CELLS: Final = ("#eef1f4", "#d3e2f3", "#f6dfae", "#ee8d74", LIGHT["alarm"])
"""The colours of cells, in the order of the bounds between them: those behind the third bound are red."""

LABEL: Final = 240


def losses_svg(comparison: TrainingComparison) -> bytes:
    """The losses of both sides by step, in a band as wide as rounding may make their difference."""
    shown = comparison.losses
    points, band = [], []
    for place, step in enumerate(shown.steps):
        sides = (comparison.left, shown.left[place]), (comparison.right, shown.right[place])
        for name, loss in sides:
            if loss is not None and math.isfinite(loss):
                points.append({"series": name, "step": step, "loss": loss})
        left = shown.left[place]
        if shown.band and left is not None and math.isfinite(left):
            width = shown.band[place]
            band.append({"step": step, "low": left - width, "high": left + width})
    title = _("Losses of {left} and {right}").format(left=comparison.left, right=comparison.right)
    note = _("The band is as wide as rounding may move the losses apart.")
    if not band:
        note = _("No run with a jittered start says how far rounding moves the losses apart.")
    names = [comparison.left, comparison.right]
    axis = {
        "field": "step",
        "type": "quantitative",
        "title": _("step"),
        "axis": _step_axis(shown.steps),
        "scale": {"nice": False, "zero": False},
    }
    zero = {"zero": False, "nice": True}
    layers: list[Specification] = [
        {
            "data": {"values": band},
            "mark": {"type": "area", "color": LIGHT_SERIES[0], "opacity": 0.18},
            "encoding": {
                "x": axis,
                "y": {"field": "low", "type": "quantitative", "title": _("loss"), "scale": zero},
                "y2": {"field": "high"},
            },
        },
        {
            "data": {"values": points},
            "mark": {"type": "line", "point": {"size": 24, "filled": True}},
            "encoding": {
                "x": axis,
                "y": {"field": "loss", "type": "quantitative", "title": _("loss"), "scale": zero},
                "color": {**_series(names, LIGHT_SERIES), "legend": {"columns": 2}},
                "strokeDash": {**_series(names, ([1, 0], [6, 4])), "legend": None},
            },
        },
        *_first(comparison),
    ]
    drawn = _whole(title, note, layers, HEIGHT)
    return specified_svg(drawn, "losses", title, note)


def distance_svg(comparison: TrainingComparison) -> bytes:
    """How far the losses lie apart by step, beside the most that rounding makes; b"" without noise."""
    shown = comparison.losses
    if not shown.band:
        return b""
    apart = tuple(
        None if left is None or right is None else abs(left - right)
        for left, right in zip(shown.left, shown.right, strict=True)
    )
    steps = tuple(map(float, shown.steps))
    chart = Chart(
        name="distance",
        title=_("Difference of the losses, and the most that rounding makes"),
        kind="line",
        x=_("step"),
        y=_("difference"),
        series=(
            Series(_("difference"), steps, apart),
            Series(_("the most that rounding makes"), steps, shown.band),
        ),
        log=("y",),
        note=_("A divergence is a difference above the other line; equal losses have no point."),
    )
    return chart_svg(chart)


def weights_svg(comparison: TrainingComparison, link: str = "") -> bytes:
    """The heat map of parameters by step: how many times the noise they lie apart; b"" without noise.

    Its first red cell leads to ``link``, where there is one.
    """
    shown = comparison.weights
    if not shown.names:
        return b""
    names = _drawn(shown)
    cells, first = _cells(shown, names)
    title = _("Weights of {left} and {right}").format(left=comparison.left, right=comparison.right)
    note = _("How many times as far apart as rounding moves them; red from {clear} on.").format(
        clear=f"{shown.clear:g}"
    )
    place = _place(names)
    layers = [_coloured(cells, place, _bounds(shown))]
    if first is not None:
        marked = _("The first red cell is marked: {name} in step {step}.")
        note += " " + marked.format(name=first["name"], step=first["step"])
        layers.append(_marked(first, place, link))
    drawn = _whole(title, note, layers, {"step": ROW})
    svg = specified_svg(drawn, "weights", title, note)
    return LINK.sub(rb'href="#', svg)


LINK = re.compile(rb'href="[^"#]*#')
"""A link to an anchor of the page, before which Vega puts an address of its own."""


Cell = dict[str, Any]
"""A parameter's name, a step, and the class of how far apart the parameter lies there."""


def _drawn(shown: WeightMap) -> list[str]:
    """The names of the parameters that have a row: those that lie furthest apart."""
    rows = sorted(zip(shown.names, shown.times, strict=True), key=lambda row: -max(row[1]))
    kept = {name for name, _times in rows[:MOST_ROWS]}
    return [name for name in shown.names if name in kept]


def _bounds(shown: WeightMap) -> tuple[float, ...]:
    return 1.0, 4.0, shown.clear, 1000.0


def _cells(shown: WeightMap, names: Sequence[str]) -> tuple[list[Cell], Cell | None]:
    """All cells, and the first that is red: of the first step that has one."""
    cells: list[Cell] = []
    first: Cell | None = None
    times_of = dict(zip(shown.names, shown.times, strict=True))
    for name in names:
        for step, value in zip(shown.steps, times_of[name], strict=True):
            bounds = _bounds(shown)
            times = _class_name(bisect_left(bounds, value), bounds)
            cells.append({"name": name, "step": step, "times": times})
            if value > shown.clear and (first is None or step < first["step"]):
                first = cells[-1]
    return cells, first


def _place(names: Sequence[str]) -> Specification:
    """Where a cell stands: steps from left to right, parameters below each other."""
    return {
        "x": {
            "field": "step",
            "type": "ordinal",
            "title": _("step"),
            "axis": {"labelAngle": 0, "labelOverlap": True, "grid": False},
        },
        "y": {
            "field": "name",
            "type": "nominal",
            "sort": list(names),
            "title": None,
            "axis": {"labelLimit": LABEL, "grid": False},
        },
    }


def _coloured(
    cells: Sequence[Cell], place: Specification, bounds: Sequence[float]
) -> Specification:
    classes = [_class_name(number, bounds) for number in range(len(COLOURS_OF_CELLS))]
    colour = {
        "field": "times",
        "type": "ordinal",
        "title": _("times the noise"),
        "scale": {"domain": classes, "range": list(COLOURS_OF_CELLS)},
        "legend": {"orient": "bottom", "symbolType": "square", "columns": len(COLOURS_OF_CELLS)},
    }
    return {
        "data": {"values": list(cells)},
        "mark": {"type": "rect", "stroke": LIGHT["paper"], "strokeWidth": 1},
        "encoding": {**place, "color": colour},
    }


def _marked(cell: Cell, place: Specification, link: str) -> Specification:
    """The frame of a cell, which leads to ``link`` where there is one."""
    mark: Specification = {
        "type": "rect",
        "fill": "transparent",
        "stroke": COLOURS["ink"][0],
        "strokeWidth": 2.5,
    }
    if link:
        mark["href"] = link
    return {"data": {"values": [cell]}, "mark": mark, "encoding": place}


def _class_name(place: int, bounds: Sequence[float]) -> str:
    """The name of a class of cells, by its place among them."""
    return _("up to {n}").format(n=f"{bounds[place]:g}") if place < len(bounds) else _("more")


def _whole(title: str, note: str, layers: list[Specification], height: Any) -> Specification:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": title, "subtitle": lines(note), "anchor": "start"},
        "layer": layers,
        "width": WIDTH,
        "height": height,
        "background": "transparent",
        "config": config(),
    }


def _series(names: list[str], choices: Any) -> Specification:
    return {
        "field": "series",
        "type": "nominal",
        "sort": names,
        "title": None,
        "scale": {"domain": names, "range": list(choices[:2])},
    }


def _step_axis(steps: tuple[int, ...]) -> Specification:
    return {"tickMinStep": 1, "format": "d", "tickCount": min(len(steps), 10), "grid": False}


def _first(comparison: TrainingComparison) -> list[Specification]:
    """A line at the step of the first difference."""
    if comparison.difference is None:
        return []
    step = comparison.difference.step
    return [
        {
            "data": {"values": [{"step": step}]},
            "mark": {"type": "rule", "color": LIGHT["alarm"], "strokeDash": [3, 3]},
            "encoding": {"x": {"field": "step", "type": "quantitative"}},
        }
    ]
