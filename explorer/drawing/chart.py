"""Draws a study's charts: a Chart becomes a Vega-Lite specification, and that an SVG or a PNG in
the drawings' colours.
"""

import json
import math
import re
from functools import cache
from html import escape
from importlib.resources import as_file, files
from typing import Any, Final, Literal

from explorer.drawing.style import DARK, LIGHT
from explorer.model.study import Chart

WIDTH, HEIGHT = 560, 300
BAR, GAP, LONG_NAME, MANY_NAMES = 13, 5, 12, 8
"""Thickness of a bar and half the room between groups, in pixels. From LONG_NAME characters or
MANY_NAMES names on, bars lie down, so that their names can be read.
"""

MOST_TICKS = 12

COLOURS: Final = (
    ("#2b6cb0", "#6aa9e9"), ("#c05a12", "#f09a55"), ("#4d7a2a", "#8fc168"), ("#7c4dab", "#bd95e6"),
    ("#b3316e", "#f08bb8"), ("#1f7a7a", "#5fc4c4"), ("#8a6d00", "#d9bd55"), ("#5f5f6e", "#b4b4c4"),
)  # fmt: skip
"""One colour a series, on light and on dark paper."""

DASHES: Final = ([1, 0], [7, 5], [2, 3], [9, 3, 2, 3])

TOKENS: Final = ("ink", "soft", "group-line")
"""Names of the drawings' colours that the charts use, beside the series' own."""

ALT: Final = re.compile(r' aria-[a-z]+="[^"]*"| role="graphics-[a-z]+"')
"""Vega's own accessible names, one for each mark: a title and a description for the whole say more.
"""

RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

CLIP: Final = re.compile(r"\bclip\d+\b")

FONT: Final = "Roboto, Segoe UI, Helvetica, Arial, sans-serif"


def chart_svg(chart: Chart) -> bytes:
    """The SVG of a chart, light or dark by the reader's preference; the same bytes for the same
    chart.
    """
    made: str = _converter().vegalite_to_svg(specification(chart))
    text = _numbered(ALT.sub("", made), chart.name).replace(
        'class="marks"', f'class="marks chart" role="img" aria-label="{escape(chart.title)}"', 1
    )
    described = f"<title>{escape(chart.title)}</title><desc>{escape(chart.note or f'{chart.y} by {chart.x}')}</desc>"
    head, end, body = text.partition(">")
    return f'{head}{end}{described}<style>{_dark()}</style><rect class="paper" width="100%" height="100%"/>{body}\n'.encode()


def _numbered(text: str, prefix: str) -> str:
    """Clips numbered from 0 under the chart's name: Vega counts through the life of the process."""
    found = list(dict.fromkeys(CLIP.findall(text)))
    return CLIP.sub(lambda match: f"{prefix}-clip{found.index(match[0])}", text)


def chart_png(chart: Chart) -> bytes:
    """The PNG of a chart on white, two pixels to the point."""
    made: bytes = _converter().vegalite_to_png(
        {**specification(chart), "background": LIGHT["paper"]}, scale=2
    )
    return made


def specification(chart: Chart) -> dict[str, Any]:
    """The Vega-Lite 5 specification of a chart, with its data in it."""
    shown = [
        {"series": series.name, "x": x, "y": y}
        for series in chart.series
        for x, y in zip(series.x, series.y, strict=True)
        if y is not None and math.isfinite(y) and not ("y" in chart.log and y <= 0)
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": chart.title, "subtitle": _lines(chart.note), "anchor": "start"},
        "data": {"values": shown},
        **(_bars(chart) if chart.kind == "bars" else _lines_of(chart)),
        "background": "transparent",
        "config": _config(),
    }


def _lines_of(chart: Chart) -> dict[str, Any]:
    names = [series.name for series in chart.series]
    point = {"size": 42, "filled": True}
    mark: dict[str, Any] = (
        {"type": "point", **point} if chart.kind == "points" else {"type": "line", "point": point}
    )
    if chart.kind == "steps":
        mark["interpolate"] = "step-after"
    series = _series(names)
    worded = any(isinstance(x, str) for each in chart.series for x in each.x)
    across = (
        {"type": "nominal", "sort": None, "axis": {"labelAngle": -30}}
        if worded
        else _numbers(chart, "x")
    )
    encoding: dict[str, Any] = {
        "x": {"field": "x", "title": chart.x, **across},
        "y": {"field": "y", "title": chart.y, **_numbers(chart, "y")},
        "color": {**series, "scale": {"domain": names, "range": _colours(len(names))}},
        "shape": {**series, "scale": {"domain": names}},
    }
    if chart.kind != "points":
        encoding["strokeDash"] = {
            **series,
            "scale": {"domain": names, "range": _dashes(len(names))},
            "legend": None,
        }
    return {"mark": mark, "encoding": encoding, "width": WIDTH, "height": HEIGHT}


def _bars(chart: Chart) -> dict[str, Any]:
    names = [series.name for series in chart.series]
    places = list(dict.fromkeys(str(x) for series in chart.series for x in series.x))
    lying = len(places) > MANY_NAMES or max((len(place) for place in places), default=0) > LONG_NAME
    along, across, offset = ("y", "x", "yOffset") if lying else ("x", "y", "xOffset")
    titles = {along: chart.x, across: chart.y}
    position: dict[str, Any] = {
        "field": "x",
        "type": "nominal",
        "sort": places,
        "title": titles[along],
    }
    encoding: dict[str, Any] = {
        along: {
            **position,
            "axis": {"labelAngle": 0, "labelLimit": 260},
            "scale": {"paddingInner": 0.3},
        },
        across: {"field": "y", "title": titles[across], **_numbers(chart, "y")},
        "color": {**_series(names), "scale": {"domain": names, "range": _colours(len(names))}},
        offset: {"field": "series", "type": "nominal", "sort": names},
    }
    height: Any = {"step": BAR * len(names) + 2 * GAP, "for": "position"} if lying else HEIGHT
    return {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": encoding,
        "width": WIDTH,
        "height": height,
    }


def _series(names: list[str]) -> dict[str, Any]:
    legend = {"columns": _columns(names)} if len(names) > 1 else None
    return {"field": "series", "type": "nominal", "sort": names, "title": None, "legend": legend}


def _numbers(chart: Chart, axis: Literal["x", "y"]) -> dict[str, Any]:
    found = {
        number
        for each in chart.series
        for number in getattr(each, axis)
        if isinstance(number, (int, float)) and number > 0
    }
    if axis not in chart.log or not found or chart.kind == "bars":  # a bar starts at zero
        whole = all(float(number).is_integer() for number in found)
        return {
            "type": "quantitative",
            "scale": {"zero": chart.kind == "bars"},
            "axis": {"tickCount": 7, "tickMinStep": int(whole)},
        }
    low, high = min(found), max(found)
    base = 2 if all(math.log2(number).is_integer() for number in found) else 10
    first, last = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
    every = max(1, math.ceil((last - first) / MOST_TICKS))
    powers = range(first, last + 1, every)
    ticks = [float(base) ** power for power in powers]
    names = [f"{base}{str(power).translate(RAISED)}" for power in powers]
    label = f"{json.dumps(names)}[indexof({json.dumps(ticks)}, datum.value)]"
    scale = {"type": "log", "base": base, "domain": [ticks[0], float(base) ** last], "nice": False}
    return {"type": "quantitative", "scale": scale, "axis": {"values": ticks, "labelExpr": label}}


def _columns(names: list[str]) -> int:
    return max(1, min(len(names), 96 // (max(map(len, names), default=1) + 6)))


def _lines(text: str, width: int = 92) -> list[str]:
    lines = [""]
    for word in text.split():
        lines = (
            [*lines[:-1], f"{lines[-1]} {word}".strip()]
            if len(lines[-1]) + len(word) < width
            else [*lines, word]
        )
    return [line for line in lines if line]


def _colours(count: int) -> list[str]:
    return [COLOURS[index % len(COLOURS)][0] for index in range(count)]


def _dashes(count: int) -> list[list[int]]:
    """A line that lies under another one is still seen in its gaps."""
    return [DASHES[index % len(DASHES)] for index in range(count)]


def _config() -> dict[str, Any]:
    ink, soft, line = (LIGHT[name] for name in TOKENS)
    text = {
        "labelColor": soft,
        "titleColor": ink,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    return {
        "font": FONT,
        "padding": 16,
        "view": {"stroke": line},
        "title": {
            "color": ink, "fontSize": 15, "fontWeight": 600, "subtitleColor": soft, "subtitleFontSize": 12,
            "subtitlePadding": 6, "offset": 12,
        },
        "axis": {**text, "gridColor": line, "domainColor": line, "tickColor": line, "titlePadding": 8},
        "legend": {**text, "orient": "bottom", "labelLimit": 320, "symbolStrokeWidth": 0, "symbolSize": 60},
    }  # fmt: skip


def _dark() -> str:
    """Turns the light colours, which Vega writes as attributes, into the dark ones where the reader
    prefers dark.
    """
    pairs = [(LIGHT[name], DARK[name]) for name in TOKENS] + list(COLOURS)
    rules = "".join(
        f'.chart [{what}="{light}"]{{{what}:{dark}}}'
        for light, dark in pairs
        for what in ("fill", "stroke")
    )
    light, dark = (f".chart .paper{{fill:{colours['paper']}}}" for colours in (LIGHT, DARK))
    return f"{light}@media (prefers-color-scheme:dark){{{dark}{rules}}}"


@cache
def _converter() -> Any:
    import vl_convert  # only those who draw a chart need it

    with as_file(files("font_roboto") / "files") as folder:
        vl_convert.register_font_directory(str(folder))
    return vl_convert
