"""Pictures of a report's graphs as files, with the command and the text that set them in documents."""

import shlex
from collections.abc import Collection, Sequence
from typing import TypedDict

import msgspec

from explorer import drawing
from explorer.blocks.markdown import escape
from explorer.drawing.formats import FormatName
from explorer.drawing.marks import diverging_nodes
from explorer.drawing.views import ViewName
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from explorer.report.json import encode
from explorer.report.schemas import graph_document

PROGRAM = ("python", "-m", "explorer")

DEFAULT_VIEW: ViewName = "ladder"
DEFAULT_DEPTH: drawing.Depth = "fit"


class PictureChoice(msgspec.Struct, frozen=True, kw_only=True):
    """One file with the graph of one engine, or of two side by side.

    ``scenario`` is what the command line calls it: a name, or a file. ``case`` and ``stage`` are ""
    for the first case and the last stage.
    """

    scenario: str
    engines: tuple[str, ...]
    file_format: FormatName
    case: str = ""
    stage: str = ""
    view: ViewName = DEFAULT_VIEW
    depth: drawing.Depth = DEFAULT_DEPTH
    device: str = "cpu"

    @property
    def file_name(self) -> str:
        """The name of the file, of plain characters."""
        stem = self.scenario.removesuffix(".py")
        plain = [letter if letter.isalnum() and letter.isascii() else "_" for letter in stem]
        return (
            f"{''.join(plain)}-{'-'.join(self.engines)}{drawing.FORMATS[self.file_format].ending}"
        )

    def command(self) -> str:
        """The shell command that writes the same file."""
        words = [*PROGRAM, "graph", self.scenario]
        for engine in self.engines:
            words += ["--engine", engine]
        for option, value, default in (
            ("--case", self.case, ""),
            ("--stage", self.stage, ""),
            ("--view", self.view, DEFAULT_VIEW),
            ("--depth", self.depth, DEFAULT_DEPTH),
            ("--device", self.device, "cpu"),
        ):
            if value != default:
                words += [option, str(value)]
        return shlex.join([*words, "-o", self.file_name])


def report_command(scenario: str, file_format: str, device: str, order: int) -> str:
    """The shell command that writes a scenario's whole report in a format."""
    words = [*PROGRAM, "scenario", scenario]
    if device != "cpu":
        words += ["--device", device]
    if order > 1:
        words += ["--order", str(order)]
    return shlex.join([*words, "--format", file_format, "--out", "out"])


def snippets(file_name: str, description: str) -> dict[str, str]:
    """What sets a picture in a document of each kind; the file lies beside the document."""
    text = " ".join(description.split())
    return {
        "Sphinx": f".. figure:: {file_name}\n   :alt: {text}\n\n   {_escaped_in_sphinx(text)}\n",
        "MkDocs": f"![{escape(text)}]({file_name}){{ loading=lazy }}\n",
        "Markdown": f"![{escape(text)}]({file_name})\n",
    }


def _escaped_in_sphinx(text: str) -> str:
    return "".join(f"\\{letter}" if letter in r"\*`|_" else letter for letter in text)


def picture_file(
    graphs: Sequence[GradGraph],
    alignments: Sequence[Alignment],
    choice: PictureChoice,
    prefix: str = "",
) -> bytes:
    """The file of one graph or of two; the numbers of pairs are those of ``alignments``.

    ``prefix`` begins every id of an SVG.
    """
    if len(graphs) == 1 and choice.file_format == "json":
        return encode(graph_document(graphs[0]))
    if len(graphs) == 1:
        return drawing.draw(
            graphs[0],
            format=choice.file_format,
            view=choice.view,
            depth=choice.depth,
            prefix=prefix,
        )
    left, right = graphs
    return side_by_side(
        left,
        right,
        alignments,
        file_format=choice.file_format,
        view=choice.view,
        depth=choice.depth,
        prefix=prefix,
    )


def each_alone(
    graphs: Sequence[GradGraph],
    alignments: Sequence[Alignment],
    choice: PictureChoice,
    prefix: str = "",
) -> tuple[bytes, ...]:
    """The same as picture_file(), an SVG for each graph."""
    if len(graphs) == 1:
        return (picture_file(graphs, alignments, choice, prefix),)
    left, right = graphs
    return drawing.two(
        left,
        right,
        view=choice.view,
        depth=choice.depth,
        prefix=prefix,
        **_told_by(alignments, left, right),
    )


class _Told(TypedDict):
    """What alignments say of two graphs: pair numbers, and where they part."""

    numbers: tuple[dict[str, int], dict[str, int]]
    diverging: tuple[Collection[str], Collection[str]]


def _told_by(alignments: Sequence[Alignment], left: GradGraph, right: GradGraph) -> _Told:
    # The alignment may have the two the other way round; numbers and nodes are each side's own.
    numbers: dict[str, dict[str, int]] = {left.engine: {}, right.engine: {}}
    diverging: dict[str, Collection[str]] = {left.engine: (), right.engine: ()}
    for alignment in alignments:
        if {alignment.left, alignment.right} == {left.engine, right.engine}:
            numbers[alignment.left] = alignment.numbers("left")
            numbers[alignment.right] = alignment.numbers("right")
            diverging[alignment.left], diverging[alignment.right] = diverging_nodes(alignment)
    return {
        "numbers": (numbers[left.engine], numbers[right.engine]),
        "diverging": (diverging[left.engine], diverging[right.engine]),
    }


def side_by_side(
    left: GradGraph,
    right: GradGraph,
    alignments: Sequence[Alignment],
    *,
    file_format: FormatName = "svg",
    view: ViewName = DEFAULT_VIEW,
    depth: drawing.Depth = DEFAULT_DEPTH,
    titles: tuple[str | None, str | None] = (None, None),
    prefix: str = "",
) -> bytes:
    """Two graphs in one picture, in which pairs have one number and ≠ marks where they part."""
    return drawing.pair(
        left,
        right,
        format=file_format,
        view=view,
        depth=depth,
        titles=titles,
        prefix=prefix,
        **_told_by(alignments, left, right),
    )
