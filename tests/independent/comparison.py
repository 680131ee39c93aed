"""Follows paths through figures, and compares what is there element by element."""

from collections.abc import Mapping
from typing import Any

from tests.independent.agreements import EVERY, NAMES, Path


def at(figures: Any, path: Path) -> Any:
    """What ``path`` leads to; raises KeyError with the whole path where it leads nowhere."""
    place = figures
    for index, step in enumerate(path):
        if step == EVERY:
            elements = place.values() if isinstance(place, dict) else place
            return [at(element, path[index + 1 :]) for element in elements]
        if step == NAMES:
            return sorted(place)
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError) as error:
            raise KeyError(f"no figure at {path}: nothing at {step!r}") from error
    return place


def difference(given: Any, reference: Any, tolerance: float) -> str:
    """How two figures differ, "" where they do not: in their structure, or by more than ``tolerance``.

    Numbers may differ by that share of the greatest number of ``reference``; all else is equal or not.
    """
    ours, theirs = dict(_leaves(given)), dict(_leaves(reference))
    if set(ours) != set(theirs):
        return f"elements {sorted(ours)} against {sorted(theirs)}"
    numbers = [abs(value) for value in theirs.values() if _is_number(value)]
    allowed = tolerance * max(numbers, default=0.0)
    for place, value in theirs.items():
        other = ours[place]
        if _is_number(value) and _is_number(other):
            # Written so that NaN, which is near nothing, is a difference.
            if not abs(other - value) <= allowed:
                return f"{other} against {value} at {place or 'the figure itself'}"
        elif type(other) is not type(value) or other != value:
            return f"{other!r} against {value!r} at {place or 'the figure itself'}"
    return ""


def _leaves(figure: Any, place: str = "") -> list[tuple[str, Any]]:
    if isinstance(figure, Mapping):
        parts = list(figure.items())
    elif isinstance(figure, list | tuple):
        parts = list(enumerate(figure))
    else:
        return [(place, figure)]
    leaves = []
    for key, value in parts:
        leaves += _leaves(value, f"{place}[{key}]")
    return leaves


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
