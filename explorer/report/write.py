"""The files of an output folder: which there are for each format, and how they get there whole or
not at all.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.report.html import html
from explorer.report.json import encode
from explorer.report.markdown import markdown

PICTURES = {"svg": ".svg", "png": ".png", "dot": ".dot", "mermaid": ".mmd"}
"""Formats with one file a graph, and the files' extensions."""

REPORTS = {"json": "report.json", "markdown": "report.md", "html": "report.html"}
"""Formats with one file a report, and its name."""

FORMATS = (*PICTURES, *REPORTS)
DEFAULT_FORMATS = ("svg", "json")

Draw = Callable[[GradGraph, str, str], bytes]
"""Draws a graph in one of the formats of PICTURES; the last argument begins every id of an SVG."""


class Written(NamedTuple):
    """The files of a folder in the order of writing, and why others are not there."""

    paths: list[Path]
    refused: list[str]


def prepare(folder: Path) -> Path:
    """The folder, made if need be and seen to take a file; UsageError says why it does not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise UsageError(
            f"nothing can be written to {str(folder)!r}: {error.strerror or error}; give another folder"
        ) from error


def put(path: Path, content: bytes) -> Path:
    """Write ``content`` beside ``path`` and rename it there, so that ``path`` never holds half of
    it; UsageError if it cannot.
    """
    name = ""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror or error}") from error
    finally:
        if name and os.path.exists(name):
            os.unlink(name)
    return path


def write(report: Report, folder: Path, formats: Sequence[str], draw: Draw) -> Written:
    """Write every file of ``formats`` into a prepared ``folder``; a picture that cannot be made
    costs no other file.
    """
    written = Written([], [])
    for name, make in files(report, formats, draw):
        try:
            content = make()
        except UsageError as error:
            written.refused.append(f"{name}: {error}")
            continue
        written.paths.append(put(folder / name, content))
    return written


def files(
    report: Report, formats: Sequence[str], draw: Draw
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file's name and what makes it: first the pictures, then the reports that may show them."""
    named = stems(report.graphs)
    for kind in (kind for kind in PICTURES if kind in formats):
        for stem, graph in named.items():
            yield stem + PICTURES[kind], partial(draw, graph, kind, "")
    faces: Mapping[str, Callable[[], bytes]] = {
        "json": lambda: encode(report),
        "markdown": lambda: markdown(
            report, {stem: f"{stem}.svg" for stem in named} if "svg" in formats else {}
        ).encode(),
        "html": lambda: html(
            report, {stem: draw(graph, "svg", f"{stem}-").decode() for stem, graph in named.items()}
        ).encode(),
    }
    for kind in (kind for kind in REPORTS if kind in formats):
        yield REPORTS[kind], faces[kind]


def stems(graphs: Iterable[GradGraph]) -> dict[str, GradGraph]:
    """Graphs by file name without extension: first "torch-tape" for each last stage, then
    "torch-tape-STAGE" for the others.
    """
    graphs = tuple(graphs)
    last = {graph.engine: graph for graph in graphs}
    ordered = sorted(graphs, key=lambda graph: graph is not last[graph.engine])
    return {_stem(graph, graph is last[graph.engine]): graph for graph in ordered}


def _stem(graph: GradGraph, is_last: bool) -> str:
    return re.sub(
        r"[^A-Za-z0-9_.-]", "_", graph.engine if is_last else f"{graph.engine}-{graph.stage}"
    )


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
