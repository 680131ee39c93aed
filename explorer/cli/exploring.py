"""The ``scenario`` command: the list of scenarios, and the main job with its report."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from explorer.cli.asking import Asked, Question, check, console, progress
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.report import json, write
from explorer.scenario.contract import load, names
from explorer.text.choices import choose
from explorer.text.messages import one_line

if TYPE_CHECKING:
    from explorer.drawing.formats import FormatName

ALIASES = {"md": "markdown", "mmd": "mermaid"}
LOST = ("crashed", "timed_out")


def listing(as_json: bool) -> int:
    """Print every scenario's name and title; one that cannot be loaded says why in place of its
    title.
    """
    rows = [
        {"name": name, "title": _title(path), "path": str(path)} for name, path in names().items()
    ]
    if as_json:
        sys.stdout.buffer.write(json.encode({"scenarios": rows}))
        return 0
    for row in rows:
        print(f"{one_line(row['name'])}\n    {one_line(row['title'])}")
    return 0


def _title(path: Path) -> str:
    try:
        return load(path).title
    except ScenarioError as error:
        return f"cannot be loaded: {error}"


def scenario(asked: Asked, out: Path | None, formats: list[str] | None, as_json: bool) -> int:
    """Run the main job; print its report, write its files; the exit code says whether all was as
    expected.
    """
    if formats and out is None:
        raise UsageError("--format says what goes into a folder; give the folder too: --out DIR")
    wanted = split(formats) if formats else write.DEFAULT_FORMATS
    question = check(asked)
    folder = write.prepare(out) if out else None
    report = explored(question)
    if as_json:
        sys.stdout.buffer.write(json.encode(report))
    else:
        from explorer.report.terminal import show

        show(report, console())
    if folder:
        written = write.write(report, folder, wanted, draw)
        for path in () if as_json else written.paths:
            print(f"wrote {one_line(str(path))}")
        for reason in written.refused:
            print(f"explorer: not written: {one_line(reason)}", file=sys.stderr)
    return verdict(report)


def split(formats: list[str], allowed: tuple[str, ...] = write.FORMATS) -> tuple[str, ...]:
    """The formats given by one or more ``--format``, separated by commas, each once."""
    given = [name.strip() for each in formats for name in each.split(",") if name.strip()]
    return tuple(
        dict.fromkeys(choose("format", ALIASES.get(name, name), allowed) for name in given)
    )


def explored(question: Question, only_graph_case: bool = False) -> Report:
    """The main job in workers of its own, which are gone when it is done, also after Ctrl-C."""
    from explorer.exploration.explore import explore
    from explorer.workers.workers import Workers

    with Workers(question.timeout) as workers, progress() as step:
        return explore(
            question.scenario,
            workers,
            engines=question.engines,
            device=question.device,
            order=question.order,
            graph_case=question.case,
            only_graph_case=only_graph_case,
            progress=step,
        )


def draw(graph: GradGraph, file_format: str, prefix: str) -> bytes:
    """A picture of a graph as the output folder has it."""
    from explorer.drawing import draw as draw_graph

    return draw_graph(graph, format=cast("FormatName", file_format), prefix=prefix)


def verdict(report: Report) -> int:
    """3 when a worker died or ran out of time, else 1 when a case is not as expected, else 0."""
    if any(result.outcome in LOST for case in report.cases for result in case.results.values()):
        return 3
    return int(any(not case.expected for case in report.cases))
