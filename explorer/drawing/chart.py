"""Draws a study's charts with Vega: as a specification, as SVG and as PNG.

Sizes are in pixels. Source: the reference of Vega-Lite 5, https://vega.github.io/vega-lite/docs/.
"""

import json
import math
import re
import textwrap
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import as_file, files
from typing import Any, Final, Literal

import msgspec

from explorer.drawing.style import (
    CHART_FONT_FAMILIES,
    COLOURS,
    DARK,
    HEADLINE_SIZE,
    LIGHT,
    SERIES_COLOURS,
    TITLE_SIZE,
)
from explorer.drawing.svg_elements import element
from explorer.model.study import Chart, Series
from explorer.text.language import _
from explorer.text.remedies import missing

# The specification


Axis = Literal["x", "y"]
Specification = dict[str, Any]
"""A part of a specification, ready for JSON."""

WIDTH: Final = 560
HEIGHT: Final = 300
"""The size of the plot, without titles, axes and legend."""

BAR: Final = 13
"""Thickness of a bar that lies down."""

HALF_GAP: Final = 5
"""Half the room between two groups of bars that lie down."""

LONG_NAME: Final = 12
"""Bars with a name of more characters than this lie down, so that the names can be read."""

MANY_NAMES: Final = 8
"""Bars with more names than this lie down, so that the names can be read."""

NAME_WIDTH: Final = 260
"""The greatest width of a name on an axis, in pixels; Vega cuts off what is longer."""

TICKS: Final = 7
"""The approximate number of ticks of an axis that is not logarithmic."""

MOST_TICKS: Final = 12
"""The most intervals that the ticks of a logarithmic axis divide it into."""

NOTE_LINE: Final = 92
"""The most characters in a line of the note below the title."""

LEGEND_LINE: Final = 96
"""The most characters in a line of the legend."""

LEGEND_MARK: Final = 6
"""The number of characters that the mark before a name counts for."""

POINT: Final = {"size": 42, "filled": True}
"""The mark of a point; its size is in square pixels."""

LEGENDS: Final = {"color", "shape"}
"""What the legend shows of a series; a second one, of dashes, would only repeat the names."""

# A line that lies under another one is still seen in its gaps.
DASHES: Final = ([1, 0], [7, 5], [2, 3], [9, 3, 2, 3])
"""The dashes and gaps of the lines of each series in turn."""

RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

DARK_OF: Final = dict((COLOURS["ink"], COLOURS["soft"], COLOURS["group-line"], *SERIES_COLOURS))
"""The colours of a chart on dark paper, by those on light paper."""

LIGHT_SERIES: Final = tuple(light for light, _ in SERIES_COLOURS)
"""The colours of series on light paper."""

ROUNDING: Final = 1e-9
"""How far a logarithm may be from a whole number by rounding alone."""


def specification(chart: Chart) -> Specification:
    """The Vega-Lite 5 specification of a chart; its background is transparent."""
    # The title says what a single series is; of lines drawn as one the legend has the names.
    has_legend = len(chart.series) > 1
    if chart.kind in ("line", "steps"):
        chart = with_equal_lines_joined(chart, HEIGHT)
    drawn = _bars(chart) if chart.kind == "bars" else _lines_or_points(chart)
    for channel in LEGENDS & drawn["encoding"].keys():
        drawn["encoding"][channel]["legend"] = None
        if has_legend:
            drawn["encoding"][channel]["legend"] = _legend(chart)
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": chart.title, "subtitle": lines(chart.note), "anchor": "start"},
        "data": {"values": _rows(chart)},
        **drawn,
        "background": "transparent",
        "config": config(),
    }


def in_dark(light: Specification) -> Specification:
    """A specification in the colours of dark paper."""
    return {**_darkened(light), "data": light["data"]}


def _darkened(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _darkened(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_darkened(value) for value in part]
    if isinstance(part, str):
        return DARK_OF.get(part, part)
    return part


def _rows(chart: Chart) -> list[dict[str, Any]]:
    """The points that the chart can show."""
    rows = []
    for series in chart.series:
        for x, y in zip(series.x, series.y, strict=True):
            if y is None or not math.isfinite(y):
                continue
            if y <= 0 and "y" in chart.log:
                continue  # a logarithm has no place for it
            rows.append({"series": series.name, "x": x, "y": y})
    return rows


def _lines_or_points(chart: Chart) -> Specification:
    names = _names(chart.series)
    encoding: Specification = {
        "x": {"field": "x", "title": chart.x, **_x_axis(chart)},
        "y": {"field": "y", "title": chart.y, **_number_axis(chart, "y")},
        "color": {**_by_series(names), "scale": _scale(names, LIGHT_SERIES)},
        "shape": {**_by_series(names), "scale": {"domain": names}},
    }
    if chart.kind == "points":
        mark: Specification = {"type": "point", **POINT}
        if _has_names(chart) and len(names) > 1:
            # Side by side, or a point would hide those of other series at the same height.
            encoding["xOffset"] = {"field": "series", "type": "nominal", "sort": names}
            encoding["x"]["axis"] |= {"grid": True, "tickBand": "extent"}  # a line between groups
    else:
        mark = {"type": "line", "point": POINT}
        dashes = {"scale": _scale(names, DASHES), "legend": None}
        encoding["strokeDash"] = {**_by_series(names), **dashes}
    if chart.kind == "steps":
        mark["interpolate"] = "step-after"
    return {"mark": mark, "encoding": encoding, "width": WIDTH, "height": HEIGHT}


def _bars(chart: Chart) -> Specification:
    names = _names(chart.series)
    places = _places(chart)
    longest = max(map(len, places), default=0)
    lie_down = len(places) > MANY_NAMES or longest > LONG_NAME
    along, across = "x", "y"
    if lie_down:
        along, across = "y", "x"
    offset = f"{along}Offset"
    # A study's chart names its axes as those of upright bars: "y" is what is measured.
    titles = {along: chart.x, across: chart.y}
    position: Specification = {
        "field": "x",
        "type": "nominal",
        "sort": places,
        "title": titles[along],
        "axis": {"labelAngle": 0, "labelLimit": NAME_WIDTH},
        "scale": {"paddingInner": 0.3},
    }
    encoding: Specification = {
        along: position,
        across: {"field": "y", "title": titles[across], **_number_axis(chart, "y")},
        "color": {**_by_series(names), "scale": _scale(names, LIGHT_SERIES)},
        offset: {"field": "series", "type": "nominal", "sort": names},
    }
    height: int | Specification = HEIGHT
    if lie_down:
        height = {"step": BAR * len(names) + 2 * HALF_GAP, "for": "position"}
    return {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": encoding,
        "width": WIDTH,
        "height": height,
    }


def _names(lines: Sequence[Series]) -> list[str]:
    return [series.name for series in lines]


def _places(chart: Chart) -> list[str]:
    """The names that bars stand at, in the order in which the series have them."""
    places: dict[str, None] = {}
    for series in chart.series:
        places.update(dict.fromkeys(map(str, series.x)))
    return list(places)


def _by_series(names: list[str]) -> Specification:
    """The encoding of the series by a colour, a shape or a dash."""
    return {"field": "series", "type": "nominal", "sort": names, "title": None}


def _legend(chart: Chart) -> Specification:
    """The legend of the series, in as many columns as fit."""
    longest = max(map(len, _names(chart.series)))
    fitting = LEGEND_LINE // (longest + LEGEND_MARK)
    return {"columns": max(1, min(len(chart.series), fitting))}


def _scale(names: list[str], choices: Sequence[Any]) -> Specification:
    """The colour or the dashes of each name, in turn."""
    chosen = [choices[index % len(choices)] for index in range(len(names))]
    return {"domain": names, "range": chosen}


def _x_axis(chart: Chart) -> Specification:
    if not _has_names(chart):
        return _number_axis(chart, "x")
    # Vega would sort names by the alphabet; passes and stages come in their own order.
    axis = {"labelAngle": -30, "labelLimit": NAME_WIDTH}
    return {"type": "nominal", "sort": None, "axis": axis}


def _has_names(chart: Chart) -> bool:
    """Whether the x axis has names on it, and not numbers."""
    return any(isinstance(x, str) for series in chart.series for x in series.x)


def _number_axis(chart: Chart, axis: Axis) -> Specification:
    numbers = _positive_numbers(chart, axis)
    # A bar starts at zero, which a logarithmic axis has no place for.
    is_logarithmic = axis in chart.log and chart.kind != "bars"
    if numbers and is_logarithmic:
        return _logarithmic_axis(numbers)
    # Between whole numbers, such as counts, there are no ticks.
    are_whole = all(float(number).is_integer() for number in numbers)
    return {
        "type": "quantitative",
        "scale": {"zero": chart.kind == "bars"},
        "axis": {"tickCount": TICKS, "tickMinStep": int(are_whole)},
    }


def _positive_numbers(chart: Chart, axis: Axis) -> set[float]:
    numbers: set[float] = set()
    for series in chart.series:
        for value in getattr(series, axis):
            if isinstance(value, (int, float)) and 0 < value < math.inf:
                numbers.add(value)
    return numbers


def _logarithmic_axis(numbers: set[float]) -> Specification:
    """An axis marked in powers of two where all numbers are such powers, else in powers of ten."""
    base = 10
    if all(math.log2(number).is_integer() for number in numbers):
        base = 2
    # Vega's own ticks are decimal, whatever the base.
    first = math.floor(math.log(min(numbers), base) + ROUNDING)
    last = math.ceil(math.log(max(numbers), base) - ROUNDING)
    # Where the axis spans many powers, only every second, third, … is marked.
    step = max(1, math.ceil((last - first) / MOST_TICKS))
    ticks, names = [], []
    for power in range(first, last + 1, step):
        ticks.append(float(base) ** power)
        names.append(f"{base}{str(power).translate(RAISED)}")
    label = f"{json.dumps(names)}[indexof({json.dumps(ticks)}, datum.value)]"
    domain = [ticks[0], float(base) ** last]
    return {
        "type": "quantitative",
        "scale": {"type": "log", "base": base, "domain": domain, "nice": False},
        "axis": {"values": ticks, "labelExpr": label},
    }


def lines(text: str) -> list[str]:
    """A text broken into lines, which Vega does not do."""
    words = " ".join(text.split())
    return textwrap.wrap(words, NOTE_LINE, break_long_words=False, break_on_hyphens=False)


def config() -> Specification:
    """The look of every chart."""
    ink, soft, line = LIGHT["ink"], LIGHT["soft"], LIGHT["group-line"]
    text = {
        "labelColor": soft,
        "titleColor": ink,
        "labelFontSize": 11,
        "titleFontSize": TITLE_SIZE,
        "titleFontWeight": "normal",
    }
    return {
        "font": CHART_FONT_FAMILIES,
        "padding": 16,
        "view": {"stroke": line},
        "title": {
            "color": ink,
            "fontSize": HEADLINE_SIZE,
            "fontWeight": 600,
            "subtitleColor": soft,
            "subtitleFontSize": TITLE_SIZE,
            "subtitlePadding": 6,
            "offset": 12,
        },
        "axis": {
            **text,
            "gridColor": line,
            "domainColor": line,
            "tickColor": line,
            "titlePadding": 8,
            # Or Vega moves the first and the last number of an axis away from their ticks.
            "labelFlush": False,
        },
        "legend": {
            **text,
            "orient": "bottom",
            "labelLimit": 320,
            "symbolStrokeWidth": 0,
            "symbolSize": 60,
        },
    }


# Lines that lie on each other


Heights = dict[float, float]
"""Where a value is drawn, as a share of the plot's height."""


def with_equal_lines_joined(chart: Chart, height: int) -> Chart:
    """The chart with lines that lie on each other throughout as one, under all their names.

    ``height`` is that of the plot in pixels: lines that are nowhere half a pixel apart look like
    one, whatever their last digits are.
    """
    heights = _heights(chart)
    groups: list[list[Series]] = []
    for line in chart.series:
        for group in groups:
            if _lie_on_each_other(group[0], line, heights, 0.5 / height):
                group.append(line)
                break
        else:
            groups.append([line])

    lines = []
    for group in groups:
        names = _(" and ").join(_names(group))
        lines.append(msgspec.structs.replace(group[0], name=names))
    return msgspec.structs.replace(chart, series=tuple(lines))


def _heights(chart: Chart) -> Heights:
    """Where the values of "y" are drawn: the least at 0, the greatest at 1."""
    positions: Heights = {}
    for series in chart.series:
        for value in series.y:
            if value is None or not math.isfinite(value):
                continue
            if "y" not in chart.log:
                positions[value] = value
            elif value > 0:  # a logarithm has no place for others
                positions[value] = math.log(value)
    if not positions:
        return {}
    least = min(positions.values())
    span = max(positions.values()) - least or 1.0
    return {value: (position - least) / span for value, position in positions.items()}


def _lie_on_each_other(one: Series, other: Series, heights: Heights, limit: float) -> bool:
    """Whether two lines are nowhere further apart than ``limit``."""
    if one.x != other.x:
        return False
    pairs = zip(one.y, other.y, strict=True)
    return all(_are_near(first, second, heights, limit) for first, second in pairs)


def _are_near(one: float | None, other: float | None, heights: Heights, limit: float) -> bool:
    if one == other:
        return True
    if one is None or other is None or not {one, other} <= heights.keys():
        return False
    return abs(heights[one] - heights[other]) < limit


# Files


# Vega's own accessible names, one for each mark: a title and a description for the whole say more.
_ACCESSIBLE_NAMES = re.compile(r' aria-[a-z]+="[^"]*"| role="graphics-[a-z]+"')

_CLIP = re.compile(r"\bclip\d+\b")


def chart_svg(chart: Chart) -> bytes:
    """The SVG of a chart, light or dark by the reader's preference.

    The same chart gives the same bytes.
    """
    description = chart.note or _("{y} by {x}").format(y=chart.y, x=chart.x)
    return specified_svg(specification(chart), chart.name, chart.title, description)


def specified_svg(drawn: Specification, name: str, title: str, description: str) -> bytes:
    """The SVG of a specification in the colours of DARK_OF; ``name`` is unlike others on a page."""
    markup: str = _converter().vegalite_to_svg(drawn)
    markup = _with_clips_numbered(_ACCESSIBLE_NAMES.sub("", markup), name)
    title = escape(title)
    names = f'class="marks chart" role="img" aria-label="{title}"'
    start, _end, body = markup.replace('class="marks"', names, 1).partition(">")
    head = [
        element("title", {}, title),
        element("desc", {}, escape(description)),
        element("style", {}, _style_sheet()),
        element("rect", {"class": "paper", "width": "100%", "height": "100%"}),
    ]
    return f"{start}>{''.join(head)}{body}\n".encode()


def chart_png(chart: Chart) -> bytes:
    """The PNG of a chart on white, two pixels to the point."""
    # A specification has no background of its own: in an SVG the style sheet gives the paper.
    on_paper = {**specification(chart), "background": LIGHT["paper"]}
    image: bytes = _converter().vegalite_to_png(on_paper, scale=2)
    return image


def _with_clips_numbered(markup: str, chart_name: str) -> str:
    """The markup with its clips numbered from 0 under the chart's name.

    Vega counts them through the life of the process, so the same chart would not give the same
    bytes twice, and two charts on a page could share an id.
    """
    clips = list(dict.fromkeys(_CLIP.findall(markup)))
    return _CLIP.sub(lambda match: f"{chart_name}-clip{clips.index(match[0])}", markup)


def _style_sheet() -> str:
    """The rules that replace the light colours by the dark ones where the reader prefers dark.

    Vega writes colours as attributes, so each rule selects the attribute with a light colour.
    """
    rules = [f".chart .paper{{fill:{DARK['paper']}}}"]
    for light, dark in DARK_OF.items():
        rules.append(f'.chart [fill="{light}"]{{fill:{dark}}}')
        rules.append(f'.chart [stroke="{light}"]{{stroke:{dark}}}')
    light_paper = f".chart .paper{{fill:{LIGHT['paper']}}}"
    return f"{light_paper}@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


@cache
def _converter() -> Any:
    # Here, because only those who draw a chart need them.
    try:
        import vl_convert

        fonts = files("font_roboto") / "files"
    except ImportError as error:
        raise missing(error.name or "vl_convert", _("a chart as a file")) from error
    # A font of our own: which fonts a machine has must not change the picture.
    with as_file(fonts) as folder:
        vl_convert.register_font_directory(str(folder))
    return vl_convert
