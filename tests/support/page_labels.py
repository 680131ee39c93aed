"""What stands beside the widgets and above the columns of a page that AppTest has run."""

import json
import re
from collections.abc import Iterator
from typing import Any

LABELS = ("label", "help", "placeholder", "text")
"""The fields in which Streamlit's elements hold what they are called."""

TEXTS_OF_DATA = ("page_link", "code", "markdown", "arrow_vega_lite_chart")
"""Elements whose fields of these names hold data, or are read in another way."""


def labels(page: Any) -> Iterator[str]:
    """The labels, hints and names of columns of a page and of its sidebar."""
    for block in (page.main, page.sidebar):
        yield from _labels(block)


def _labels(block: Any) -> Iterator[str]:
    for part in block.children.values():
        if hasattr(part, "children"):
            yield from _own(getattr(part, "proto", None))
            yield from _labels(part)
        elif part.type == "arrow_data_frame":
            configured = json.loads(part.proto.columns or "{}")
            for name in part.value.columns:
                # A column is called as its configuration says, where that says anything.
                yield configured.get(name, {}).get("label") or str(name)
        elif part.type not in TEXTS_OF_DATA:
            yield from _own(part.proto)


def _own(proto: Any) -> Iterator[str]:
    for name in LABELS:
        text = getattr(proto, name, "")
        if isinstance(text, str) and text:
            yield text


# Every text of a page, code blocks apart


STRING, MESSAGE = 9, 11
"""Types of fields, by their numbers in protobuf."""

CODE = ("code", "arrow_vega_lite_chart")
"""Elements that hold code, or a chart's data and its code."""

NO_TEXTS = ("id", "js_content", "css_content", "html_content", "form_id", "url", "icon")
"""Fields of Streamlit's elements that no reader sees as text."""

MARKUP = re.compile(r"(?s)<style>.*?</style>|<[^>]*>")
"""The elements of a drawing, and its style sheet."""

INLINE_CODE = re.compile(r"(`+)[^`].*?\1")
"""Code within a line of Markdown: the fence is longer where the code has backticks."""

NAMES = re.compile(r'(?:alt|title|aria-label)="([^"]*)"')
"""What elements are called for those who cannot see them."""


def texts(page: Any) -> Iterator[str]:
    """The texts of a page and of its sidebar: of elements, tables and components."""
    for block in (page.main, page.sidebar):
        yield from _of_block(block)


def _of_block(block: Any) -> Iterator[str]:
    for part in block.children.values():
        proto = getattr(part, "proto", None)
        if hasattr(part, "children"):
            if proto is not None:
                yield from _of_message(proto)
            yield from _of_block(part)
        elif part.type == "arrow_data_frame":
            yield from _of_table(part.value)
        elif part.type == "bidi_component":
            yield from _of_component(proto)
        elif part.type not in CODE:
            yield from _of_message(proto)


def _of_message(message: Any) -> Iterator[str]:
    """The strings in a message of Streamlit, and in those within it."""
    for field, value in message.ListFields():
        if field.name in NO_TEXTS:
            continue
        if field.type == STRING:
            for text in [value] if isinstance(value, str) else value:
                yield from _of_markup(text)
        elif field.type == MESSAGE and not field.message_type.GetOptions().map_entry:
            for inner in [value] if hasattr(value, "ListFields") else value:
                yield from _of_message(inner)


def _of_table(table: Any) -> Iterator[str]:
    for name in table.columns:
        yield str(name)
        for cell in table[name]:
            yield from map(str, cell if isinstance(cell, list) else [cell])


def _of_component(proto: Any) -> Iterator[str]:
    """The strings in what a component gets: a line of JSON for its state, and one for the rest."""
    for line in (proto.bytes or proto.json.encode()).splitlines():
        yield from _of_json(json.loads(line))


def _of_markup(text: str) -> Iterator[str]:
    """A text; of HTML and of a drawing what is read of it, by eyes or by a screen reader."""
    if text.startswith("<"):
        yield from NAMES.findall(text)
        yield MARKUP.sub("\n", text)
    else:
        yield INLINE_CODE.sub("", text)


def _of_json(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _of_markup(value)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_json(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _of_json(inner)
