"""The section of a report on the state that a call changes."""

from collections.abc import Iterator

from explorer.blocks.records import Block, Paragraph, Row, Section, Span, Table, Text, columns
from explorer.compare.state import StateRow, state_rows
from explorer.model.arrays import Array, unpack
from explorer.model.report import Report
from explorer.text.language import _, later
from explorer.text.numbers import digits
from explorer.words.cases import who

STATE_COLUMNS = (later("state"), later("before"), later("engines"), later("after the call"), "")
"""The columns of the table of the state."""


def state_section(report: Report) -> Iterator[Block]:
    """What the captured call leaves in buffers and other tensors that are not trained."""
    rows = state_rows(report.state)
    if rows:
        cells: list[Row] = []
        for row in rows:
            cells += _cells(row, tuple(report.state))
        heading = _("State after the call, forward and backward")
        yield Section(heading, (Table(columns(map(_, STATE_COLUMNS)), tuple(cells)),))
    if any(row.absent for row in rows):
        text = _("not changed: or the net of that framework holds no tensor of the name")
        yield Paragraph(text, "faint")


def _cells(row: StateRow, engines: tuple[str, ...]) -> Iterator[tuple[Text, ...]]:
    name, before = row.name, _values(row.before)
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
