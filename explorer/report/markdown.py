"""A report as Markdown: tables that any viewer sets, with every foreign character escaped."""

import re
from collections.abc import Iterable, Mapping, Sequence

from explorer.model.report import Report
from explorer.report.reading import Group, Reading, Row, read
from explorer.report.wording import PAIRED

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&-])")


def markdown(report: Report, pictures: Mapping[str, str] | None = None) -> str:
    """The report as Markdown; ``pictures`` maps an engine to the picture's file beside it."""
    reading = read(report)
    parts = [
        f"# {escape(reading.title)}",
        f"Scenario {escape(reading.scenario)}. **{escape(reading.summary)}**",
        escape(reading.oracle_summary),
        table(
            ("engine", "how", "version", "device"),
            [(w.engine, w.how, w.version, w.device) for w in reading.where],
        ),
        *(f"## {escape(group.heading)}\n\n{_group(group)}" for group in reading.groups),
        *_notes(reading),
        *_graphs(reading, pictures or {}),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, also in a table's cell."""
    return SPECIAL.sub(r"\\\1", text.replace("\n", " "))


def _group(group: Group) -> str:
    columns = ("call", "structure", "value", "ids", "verdict", "greatest difference", "oracle")
    return table(columns, [cells for row in group.rows for cells in _rows(row)])


def _rows(row: Row) -> Iterable[tuple[str, ...]]:
    verdict = row.verdict + "".join(f" [{number}]" for number in row.notes)
    yield (row.call, row.structure, row.value, row.ids, verdict, row.greatest, row.oracle)
    for line in row.lines:
        yield ("", line.who, line.text, "", "", "", "")


def _notes(reading: Reading) -> Iterable[str]:
    if reading.notes:
        yield "\n".join(
            f"- \\[{number}\\] {escape(note)}" for number, note in enumerate(reading.notes, 1)
        )


def _graphs(reading: Reading, pictures: Mapping[str, str]) -> Iterable[str]:
    if not (reading.aligned or reading.ungraphed or pictures):
        return
    yield "## Gradient graphs"
    if reading.aligned:
        yield f"Counted, by pair: {escape(PAIRED)}."
        rows = [
            (f"{each.left} · {each.right}", each.forward, each.backward, each.divergence)
            for each in reading.aligned
        ]
        yield table(("pair", "forward", "backward", "first divergence"), rows)
    for line in reading.ungraphed:
        yield f"No graph from {escape(line.who)}: {escape(line.text)}"
    for engine, file in pictures.items():
        yield f"![Gradient graph of {escape(engine)}]({file})"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of escaped cells under column names, which are written as they are."""
    lines = [columns, ["---"] * len(columns)]
    body = [[escape(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (*lines, *body))
