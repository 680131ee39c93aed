"""The doctor's checks as blocks and as one JSON document."""

from collections.abc import Iterator, Sequence
from itertools import chain

from explorer.blocks.records import Block, Paragraph, Row, Span, Table, columns
from explorer.model.doctor import Check
from explorer.report.environments import limits_blocks
from explorer.report.json import Document, to_builtins
from explorer.text.language import _


def doctor_blocks(checks: Sequence[Check]) -> Iterator[Block]:
    """The checks, what versions limit, and what to do about each check that is not fine."""
    rows: list[Row] = [(check.name, (_mark(check),), check.found) for check in checks]
    yield Table(columns(("", "", "")), tuple(rows), has_head=False)
    yield from limits_blocks(chain.from_iterable(check.limits for check in checks))
    for check in checks:
        if check.remedy:
            # A command to copy must not be broken into lines.
            yield Paragraph(f"{check.name}: {check.remedy}", is_whole=True)


def _mark(check: Check) -> Span:
    # Only what is required is an alarm: the explorer compares engines without the rest.
    if check.fine:
        return Span(_("ok"), tone="good")
    return Span(_("missing"), tone="alarm" if check.required else "foreseen")


def checks_document(checks: Sequence[Check]) -> Document:
    """The checks as plain data."""
    return {"checks": to_builtins(checks)}
