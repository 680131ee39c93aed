"""The section of a report on the state that a call changes."""

from collections.abc import Iterator

from explorer.blocks.records import Block, Paragraph, Row, Section, Span, Table, Text, columns
from explorer.model.arrays import Array, unpack
from explorer.model.report import Report
from explorer.model.state import StateRow
from explorer.text.language import _, later
from explorer.text.numbers import digits
from explorer.words.cases import who

STATE_COLUMNS = (
    later("state"),
    later("before"),
    later("engines"),
    later("after the call"),
    later("verdict"),
)
"""The columns of the table of the state."""


def state_section(report: Report) -> Iterator[Block]:
    """What the captured call leaves in buffers and other tensors that are not trained."""
    rows = report.state
    if rows:
        cells: list[Row] = []
        for row in rows:
            cells += _cells(row)
        heading = _("State after the call, forward and backward")
        yield Section(heading, (Table(columns(map(_, STATE_COLUMNS)), tuple(cells)),))
    if any(row.absent for row in rows):
        text = _(
            "not changed: it keeps its value, or that framework's net has no tensor of the name"
        )
        yield Paragraph(text, "faint")


def _cells(row: StateRow) -> Iterator[tuple[Text, ...]]:
    name, before = row.name, _values(row.before)
    engines = list(row.absent)
    for group in row.groups:
        engines += group.engines
    verdict: Text = (_("the same"),)
    if row.differs:
        verdict = (Span(_("differs"), tone="foreseen"),)
    for group in row.groups:
        yield (name,), (before,), (who(group.engines, engines),), (_values(group.after),), verdict
        name, before, verdict = "", "", ("",)
    if row.absent:
        yield (name,), (before,), (who(row.absent, engines),), (_("not changed"),), ("",)


def _values(array: Array) -> str:
    return digits(unpack(array))
