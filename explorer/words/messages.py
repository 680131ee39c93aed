"""Messages as text in the reader's language."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from explorer.model.failures import Failure
from explorer.model.message import Message, Text
from explorer.model.study import StudyRecord
from explorer.text.failures import message, typed
from explorer.text.language import counted, shipped
from explorer.text.messages import brief
from explorer.text.numbers import number
from explorer.words.lists import listed
from explorer.words.topics import texts

DOMAIN: Final = "topics"
"""The catalogue that has the texts of topics."""

OF_NUMBERS = ("e", "f", "g", "%")
"""The ends of format specifications that only numbers take."""


def text(words: Text) -> str:
    """What a message says; any other text is as it is.

    Raises KeyError for a message that words/topics does not have, and for one that lacks a value.
    """
    if isinstance(words, str):
        return words
    template = texts()[words.name]
    values = {name: _Value(value) for name, value in words.values.items()}
    if isinstance(template, str):
        # "moved" of statistics is another word in Chinese than "moved" of tensors.
        topic, _, _ = words.name.partition(".")
        said = shipped(template, DOMAIN, topic)
    else:
        said = counted(*template, words.values["n"], DOMAIN)
    return said.format_map(values)


class _Value:
    """A value as a template formats it: messages and failures as text, tuples as lists."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __format__(self, spec: str) -> str:
        value = self.value
        if isinstance(value, Message):
            value = text(value)
        if isinstance(value, Failure):
            return brief(typed(value) if spec == "typed" else message(value))
        if isinstance(value, (tuple, list)):
            return listed([text(item) for item in value], spec)
        if isinstance(value, str) and spec.endswith(OF_NUMBERS):
            value = number(value)  # "NaN" and "Infinity", as a measurement keeps them
        return format(value, spec)


def as_text(record: Any) -> Any:
    """A record with each message in it, however deep, replaced by its text."""
    if isinstance(record, Message):
        return text(record)
    if isinstance(record, msgspec.Struct):
        fields = {name: as_text(getattr(record, name)) for name in record.__struct_fields__}
        return msgspec.structs.replace(record, **fields)
    if isinstance(record, (tuple, list)):
        return type(record)(map(as_text, record))
    if isinstance(record, Mapping):
        return {name: as_text(value) for name, value in record.items()}
    return record


def study_text(record: StudyRecord[Text]) -> StudyRecord:
    """A study with all of its texts in the reader's language."""
    text_alone: StudyRecord = as_text(msgspec.structs.replace(record, measured={}))
    return msgspec.structs.replace(
        text_alone,
        title=shipped(record.title, DOMAIN),
        question=shipped(record.question, DOMAIN),
        measured=record.measured,
    )
