"""The ``study`` command: the list of studies, and one of them with its tables, pictures and record."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from explorer.cli.asking import console, progress
from explorer.cli.exploring import LOST, split
from explorer.model.errors import UsageError
from explorer.model.study import StudyRecord
from explorer.report import json, write
from explorer.report import study as pages
from explorer.scenario import devices
from explorer.text.messages import one_line
from explorer.topics import STUDIES, study_topic
from explorer.topics.studying import study as run_study
from explorer.topics.studying import target
from explorer.workers.workers import Workers

if TYPE_CHECKING:
    from explorer.drawing.formats import FormatName

FORMATS = ("svg", "png", "json", "markdown")
DEFAULT_FORMATS = ("svg", "json")


def listing(as_json: bool) -> int:
    """Print every study's name, title and question."""
    rows = [
        {"name": name, "title": study_topic(name).title, "question": study_topic(name).question}
        for name in STUDIES
    ]
    if as_json:
        sys.stdout.buffer.write(json.encode({"studies": rows}))
        return 0
    for row in rows:
        print(f"{row['name']}\n    {row['title']}. {row['question']}")
    return 0


def study(
    name: str,
    scenario: str | None,
    device: str,
    out: Path | None,
    formats: list[str] | None,
    as_json: bool,
) -> int:
    """Run a study; print its tables or its record, write its files; 3 when a framework is missing
    or a worker died.
    """
    if formats and out is None:
        raise UsageError("--format says what goes into a folder; give the folder too: --out DIR")
    wanted = split(formats, FORMATS) if formats else DEFAULT_FORMATS
    devices.parse(device)
    chosen = study_topic(name)
    looked_at = target(chosen, scenario, device)
    folder = write.prepare(out) if out else None
    with Workers(chosen.seconds) as workers, progress() as step:
        record = run_study(chosen, looked_at, workers, step)
    if as_json:
        sys.stdout.buffer.write(json.encode(pages.document(record)))
    else:
        pages.show(record, console())
    if folder:
        for file, make in files(record, wanted):
            path = write.put(folder / file, make())
            if not as_json:
                print(f"wrote {one_line(str(path))}")
    lost = (
        each.outcome in LOST or (each.error and each.error.type == "MissingFramework")
        for each in record.measured.values()
    )
    return 3 if any(lost) else 0


def files(
    record: StudyRecord, formats: tuple[str, ...]
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file's name and what makes it: charts, graphs, then the record and its page."""
    from explorer.drawing import draw
    from explorer.drawing.chart import chart_png, chart_svg

    draws = {"svg": chart_svg, "png": chart_png}
    for kind in (kind for kind in draws if kind in formats):
        for chart in record.charts:
            yield f"{chart.name}.{kind}", partial(draws[kind], chart)
        for name, each in record.measured.items():
            for graph in each.graphs:
                yield (
                    f"{name}-{graph.engine}.{kind}",
                    partial(draw, graph, format=cast("FormatName", kind)),
                )
    extension = "svg" if "svg" in formats else "png"
    pictures = {
        chart.title: f"{chart.name}.{extension}" for chart in record.charts if extension in formats
    }
    if "json" in formats:
        yield f"{record.study}.json", lambda: json.encode(pages.document(record))
    if "markdown" in formats:
        yield f"{record.study}.md", lambda: pages.markdown(record, pictures).encode()
