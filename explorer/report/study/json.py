"""The record of a study as one strict JSON document."""

import msgspec

from explorer.model.study import StudyRecord
from explorer.report.json import Document, measured_document
from explorer.text.numbers import plain


def study_document(record: StudyRecord) -> Document:
    """The record as plain data."""
    # Measurements apart: their graphs hold raw bytes, and take a form of their own.
    document: Document = msgspec.to_builtins(msgspec.structs.replace(record, measured={}))
    document["measured"] = {name: measured_document(part) for name, part in record.measured.items()}
    return dict(plain(document))
