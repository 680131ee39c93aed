"""The files of a study in an output folder: which there are for each format."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import cast

from explorer import drawing
from explorer.drawing.chart import chart_png, chart_svg
from explorer.drawing.formats import FormatName
from explorer.model.message import Text
from explorer.model.study import StudyRecord
from explorer.report.json import encode
from explorer.report.study.json import study_document
from explorer.report.study.markdown import study_markdown
from explorer.words.messages import study_text

CHARTS = {"svg": chart_svg, "png": chart_png}
"""Formats with one file a chart and a graph, and what draws a chart in them."""

FORMATS = (*CHARTS, "json", "markdown")
DEFAULT_FORMATS = ("svg", "json")


def study_files(
    record: StudyRecord[Text], formats: Sequence[str]
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file's name and what makes it: charts and graphs, then the record and its page."""
    shown = study_text(record)
    for picture_format, draw_chart in CHARTS.items():
        if picture_format not in formats:
            continue
        for chart in shown.charts:
            yield f"{chart.name}.{picture_format}", partial(draw_chart, chart)
        for name, measured in record.measured.items():
            for graph in measured.graphs:
                draw_graph = partial(drawing.draw, graph, format=cast(FormatName, picture_format))
                yield f"{name}-{graph.engine}.{picture_format}", draw_graph

    if "json" in formats:
        yield f"{record.study}.json", lambda: encode(study_document(record))
    if "markdown" in formats:
        pictures = _pictures(shown, formats)
        yield f"{record.study}.md", lambda: study_markdown(shown, pictures).encode()


def _pictures(record: StudyRecord, formats: Sequence[str]) -> dict[str, str]:
    """The charts that the page shows, by title: SVG where there is a choice."""
    # CHARTS has SVG first, which stays sharp at any size.
    for picture_format in CHARTS:
        if picture_format in formats:
            return {chart.title: f"{chart.name}.{picture_format}" for chart in record.charts}
    return {}
