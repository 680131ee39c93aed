"""How what a gradient call returned is put into words: numbers in their nesting."""

from typing import Any

from explorer.topics.attempts import raised
from explorer.topics.styles import SHORT_LABELS

LABELS = {**SHORT_LABELS, "torch": "PyTorch", "torch-graph": "PyTorch's graph"}
"""The names of the parties in the evidence."""


def nested_numbers(value: Any) -> str:
    """Numbers in nested lists: "[[4, 6, 8]]"."""
    if isinstance(value, list):
        return "[" + ", ".join(map(nested_numbers, value)) + "]"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def outcome(figure: Any) -> str:
    """The numbers of an answer, or the type of what was raised."""
    return str(figure["raised"]) if raised(figure) else nested_numbers(figure)
