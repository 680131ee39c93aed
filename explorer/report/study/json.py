"""The record of a study as one strict JSON document."""

import msgspec

from explorer.model.message import Text
from explorer.model.study import StudyRecord
from explorer.report.json import Document, measured_document
from explorer.text.language import ENGLISH, said_in
from explorer.text.numbers import plain
from explorer.words.messages import study_text


@said_in(ENGLISH)
def study_document(record: StudyRecord[Text]) -> Document:
    """The record as plain data."""
    # Measurements apart: their graphs hold raw bytes, and take a form of their own.
    facts = study_text(msgspec.structs.replace(record, measured={}))
    document: Document = msgspec.to_builtins(facts)
    document["measured"] = {name: measured_document(part) for name, part in record.measured.items()}
    return dict(plain(document))
