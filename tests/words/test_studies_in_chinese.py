"""What the recorded studies say in Chinese: every finding, title and note, on tables and charts."""

import re

import pytest

from explorer.model.study import StudyRecord
from explorer.report.recorded.results import recorded_study
from explorer.text.language import said_in
from explorer.topics import study_topic
from explorer.topics.studies import target
from explorer.words.messages import study_text

STUDIES = (
    "schedules",
    "operators",
    "loss-scale",
    "data-parallel",
    "training",
)

CHINESE = re.compile(r"[一-鿿]")

SENTENCE = re.compile(r"\b[a-z]+ (?:the|is|are|of|in|and|has|with|not) [a-z]+\b")
"""Words that our English has, and code has not."""


def in_chinese(name: str) -> StudyRecord:
    topic = study_topic(name)
    record = recorded_study(topic, target(topic, None, "cpu"))
    assert record is not None
    with said_in("zh"):
        return study_text(record)


@pytest.mark.parametrize("name", STUDIES)
def test_findings_titles_and_notes_are_in_chinese(name: str) -> None:
    record = in_chinese(name)
    texts = list(record.findings)
    for table in record.tables:
        texts += [table.title, table.note]
        for column in table.columns:
            assert not SENTENCE.search(column), column
    for chart in record.charts:
        texts += [chart.title, chart.note]
    assert [text for text in texts if text and not CHINESE.search(text)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_what_is_measured_is_the_same_in_every_language(name: str) -> None:
    topic = study_topic(name)
    record = recorded_study(topic, target(topic, None, "cpu"))
    assert record is not None
    assert in_chinese(name).measured == record.measured
    english = study_text(record)
    for table, translated in zip(english.tables, in_chinese(name).tables, strict=True):
        for row, translated_row in zip(table.rows, translated.rows, strict=True):
            numbers = [cell for cell in row if not isinstance(cell, str)]
            assert numbers == [cell for cell in translated_row if not isinstance(cell, str)]
