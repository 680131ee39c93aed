"""A sweep as one JSON document, which ``explorer sweep --against`` reads."""

from collections.abc import Iterable

from explorer.report.json import Document, to_builtins
from explorer.sweep.records import Change, Sweep


def sweep_document(sweep: Sweep, changes: Iterable[Change] | None = None) -> Document:
    """The record as plain data; "changes" is null where it was not compared with a recorded one."""
    document: Document = to_builtins(sweep)
    document["changes"] = None if changes is None else to_builtins(list(changes))
    return document
