"""How what a gradient call returned is put into words: numbers in their nesting."""

from collections.abc import Mapping
from typing import Any

from explorer.topics.attempts import raised
from explorer.topics.evidence import grouped
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


def outcomes(figures: Mapping[str, Any]) -> str:
    """What each party answered: "TypeError (graph, tape), [[8]] (PyTorch)"."""
    shown = {party: outcome(figure) for party, figure in figures.items()}
    answers = []
    for parties, answer in grouped(shown):
        labels = ", ".join(LABELS[party] for party in parties)
        answers.append(f"{answer} ({labels})")
    return ", ".join(answers)
