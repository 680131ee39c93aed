"""Draws a study's charts as SVG and PNG, in the colours of the drawings, with Vega."""

import re
from functools import cache
from html import escape
from importlib.resources import as_file, files
from typing import Any

from explorer.drawing.chart_specification import DARK_OF, specification
from explorer.drawing.style import DARK, LIGHT
from explorer.drawing.svg_elements import element
from explorer.model.study import Chart

# Vega's own accessible names, one for each mark: a title and a description for the whole say more.
_ACCESSIBLE_NAMES = re.compile(r' aria-[a-z]+="[^"]*"| role="graphics-[a-z]+"')

_CLIP = re.compile(r"\bclip\d+\b")


def chart_svg(chart: Chart) -> bytes:
    """The SVG of a chart, light or dark by the reader's preference.

    The same chart gives the same bytes.
    """
    markup: str = _converter().vegalite_to_svg(specification(chart))
    markup = _with_clips_numbered(_ACCESSIBLE_NAMES.sub("", markup), chart.name)
    title = escape(chart.title)
    names = f'class="marks chart" role="img" aria-label="{title}"'
    start, _, body = markup.replace('class="marks"', names, 1).partition(">")
    head = [
        element("title", {}, title),
        element("desc", {}, escape(chart.note or f"{chart.y} by {chart.x}")),
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
    import vl_convert  # here because only those who draw a chart need it

    # A font of our own: which fonts a machine has must not change the picture.
    with as_file(files("font_roboto") / "files") as folder:
        vl_convert.register_font_directory(str(folder))
    return vl_convert
