"""The record of a study as one strict JSON document."""

import msgspec

from explorer.model.measurement import Measured
from explorer.model.study import StudyRecord
from explorer.report.json import Document, graph_document
from explorer.text.numbers import plain


def study_document(record: StudyRecord) -> Document:
    """The record as plain data."""
    # Measurements apart: their graphs hold raw bytes, and take a form of their own.
    document: Document = msgspec.to_builtins(msgspec.structs.replace(record, measured={}))
    document["measured"] = {name: _measured(part) for name, part in record.measured.items()}
    return dict(plain(document))


def _measured(measured: Measured) -> Document:
    error = None
    if measured.error:
        error = {"type": measured.error.type, "message": measured.error.message}
    return {
        "outcome": measured.outcome,
        "figures": measured.figures,
        "timings": measured.timings,
        "graphs": [graph_document(graph) for graph in measured.graphs],
        "error": error,
        "code": measured.code,
    }
