"""The files of a report in an output folder: which there are for each format."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

from explorer import drawing
from explorer.blocks.html import figure
from explorer.blocks.records import Block, Figure, Markup
from explorer.drawing.formats import FormatName
from explorer.drawing.marks import diverging_nodes
from explorer.model.errors import MissingFrameworkError, UsageError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.pair.page import two_panes
from explorer.report.files import put_file
from explorer.report.json import encode
from explorer.report.scenario.export import PictureChoice, each_alone
from explorer.report.scenario.graphs import shown_first
from explorer.report.scenario.page import (
    picture,
    report_html,
    report_markdown,
    where_two_differ,
)
from explorer.report.schemas import report_document
from explorer.text.language import _

REPORTS = {"json": "report.json", "markdown": "report.md", "html": "report.html"}
"""Formats with one file a report, and its name."""

# JSON is a format of the whole report, which has the graphs in it.
PICTURES = {
    name: picture.ending for name, picture in drawing.FORMATS.items() if name not in REPORTS
}
"""Formats with one file a graph, and how these files end."""

FORMATS = (*PICTURES, *REPORTS)
DEFAULT_FORMATS = ("svg", "json")

PICTURES_CHARACTERS = 600_000
"""How large all pictures of a page may be together; larger ones are in its view of two graphs alone."""

Draw = Callable[[GradGraph, str, str, Collection[str]], bytes]
"""Draws a graph in one of the formats of PICTURES.

The third argument begins every id of an SVG; the last are the ids of the nodes where the graph
begins to differ from another.
"""


def draw_ladder(
    graph: GradGraph, picture_format: str, prefix: str, diverging: Collection[str]
) -> bytes:
    """A graph as an output folder has it; a large one is collapsed until it fits a screen."""
    return drawing.draw(
        graph, format=cast(FormatName, picture_format), prefix=prefix, diverging=diverging
    )


# A stage is named by a framework: what is no plain character could lead out of the folder.
NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


class Written(NamedTuple):
    """The files of a folder in the order of writing, and why others are not there."""

    paths: list[Path]
    refused: list[str]


def write_report(
    report: Report,
    folder: Path,
    formats: Sequence[str],
    draw: Draw = draw_ladder,
    code: Sequence[Path] = (),
) -> Written:
    """Write every file of ``formats`` into a prepared ``folder``; ``code`` is where the nets' lines are.

    A picture that cannot be made costs no other file.
    """
    written = Written([], [])
    for name, make in report_files(report, formats, draw, code):
        try:
            content = make()
        except (UsageError, MissingFrameworkError) as error:
            text = _("{what}: {values}")
            written.refused.append(text.format(what=name, values=error))
            continue
        written.paths.append(put_file(folder / name, content))
    return written


def report_files(
    report: Report, formats: Sequence[str], draw: Draw, code: Sequence[Path] = ()
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file's name and what makes it: first the pictures, then the reports that show them.

    ``code`` are the folders and packages whose lines a page shows beside the nodes.
    """
    # What makes a file is called only when the file is due: a picture may take seconds.
    graphs = stems(report.graphs)
    diverging = _diverging(report, graphs)
    for picture_format, ending in PICTURES.items():
        if picture_format in formats:
            for stem, graph in graphs.items():
                yield stem + ending, partial(draw, graph, picture_format, "", diverging[stem])

    if "json" in formats:
        yield REPORTS["json"], lambda: encode(report_document(report))
    if "markdown" in formats:
        has_pictures = "svg" in formats
        pictures = {stem: f"{stem}.svg" for stem in graphs} if has_pictures else {}
        yield REPORTS["markdown"], lambda: report_markdown(report, pictures).encode()
    if "html" in formats:
        yield REPORTS["html"], lambda: _html(report, graphs, diverging, draw, code)


def _diverging(report: Report, graphs: dict[str, GradGraph]) -> dict[str, set[str]]:
    """The nodes where each graph begins to differ from another engine's, by the graph's stem."""
    by_engine: defaultdict[str, set[str]] = defaultdict(set)
    for alignment in report.alignments:
        left, right = diverging_nodes(alignment)
        by_engine[alignment.left].update(left)
        by_engine[alignment.right].update(right)
    # Only last stages are aligned; an earlier one has other nodes under the same ids.
    diverging: dict[str, set[str]] = {}
    for stem, graph in graphs.items():
        is_last_stage = stem == _stem(graph.engine)
        diverging[stem] = by_engine[graph.engine] if is_last_stage else set()
    return diverging


def _html(
    report: Report,
    graphs: dict[str, GradGraph],
    diverging: dict[str, set[str]],
    draw: Draw,
    code: Sequence[Path],
) -> bytes:
    """One page with all drawings in it, in which no two ids are the same."""
    pictures: dict[str, bytes] = {}
    room = PICTURES_CHARACTERS
    for stem, graph in graphs.items():
        if room > 0:
            pictures[stem] = draw(graph, "svg", f"{stem}-", diverging[stem])
            room -= len(pictures[stem])
    if room < 0:
        pictures = {}
    figures = [picture(name, svg) for name, svg in pictures.items()]
    return report_html(report, figures, tuple(first_screen(report, code))).encode()


def first_screen(report: Report, code: Sequence[Path] = ()) -> Iterator[Block]:
    """The graphs of two engines for the first screen; of one where there are no two."""
    chosen = shown_first(report.graphs)
    if not chosen:
        return
    choice = PictureChoice(
        scenario=report.scenario,
        engines=tuple(graph.engine for graph in chosen),
        file_format="svg",
    )
    files = each_alone(chosen, report.alignments, choice, "first-")
    still = figure(Figure("first", files, " · ".join(choice.engines)))
    yield from where_two_differ(report, chosen)
    yield Markup(two_panes(report.graphs, report.alignments, code, still, choice.engines))


def stems(graphs: Iterable[GradGraph]) -> dict[str, GradGraph]:
    """Graphs by file name without extension.

    First each engine's last stage ("torch-tape"), then the others ("mindspore-graph-opt_a").
    """
    graphs = tuple(graphs)
    last_stage = {graph.engine: graph for graph in graphs}  # stages come in order
    last: dict[str, GradGraph] = {}
    earlier: dict[str, GradGraph] = {}
    for graph in graphs:
        if graph is last_stage[graph.engine]:
            last[_stem(graph.engine)] = graph
        else:
            earlier[_stem(f"{graph.engine}-{graph.stage}")] = graph
    return {**last, **earlier}


def _stem(name: str) -> str:
    return NOT_IN_FILE_NAMES.sub("_", name)
