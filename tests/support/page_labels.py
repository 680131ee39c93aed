"""What stands beside the widgets and above the columns of a page that AppTest has run."""

import json
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
            yield from _columns(part)
        elif part.type not in TEXTS_OF_DATA:
            yield from _own(part.proto)


def _own(proto: Any) -> Iterator[str]:
    for name in LABELS:
        text = getattr(proto, name, "")
        if isinstance(text, str) and text:
            yield text


def _columns(table: Any) -> Iterator[str]:
    configured = json.loads(table.proto.columns or "{}")
    for name in table.value.columns:
        # A column is called as its configuration says, where that says anything.
        yield configured.get(name, {}).get("label") or str(name)
