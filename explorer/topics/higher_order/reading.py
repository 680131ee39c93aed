"""Reading the evidence of the higher-order study: figures by engine, why some are missing,
derivatives compared and shown.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.text.numbers import digits, number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence

NONE = "-"
NAMES = {
    "mindspore-graph": "MindSpore, graph",
    "mindspore-tape": "MindSpore, tape",
    "torch-tape": "PyTorch, tape",
    "torch-graph": "PyTorch, graph",
    "torch-func": "torch.func",
    "reference": "PyTorch in float64",
}
MANY = 6
NEAR = 1e-5
"""Up to this relative difference two derivatives are the same."""


def figures_of(
    evidence: Evidence, prefix: str, engines: Sequence[str]
) -> dict[str, dict[str, Any]]:
    figures = {engine: evidence.get(f"higher-order.{prefix}.{engine}") for engine in engines}
    return {engine: each for engine, each in figures.items() if each}


def why_missing(evidence: Evidence, prefix: str, engines: Sequence[str]) -> str:
    """Why some engines' cells are empty, in sentences; "" when none are."""
    why = {name: failure.message for name, failure in evidence.failures.items()}
    names = {engine: f"higher-order.{prefix}.{engine}" for engine in engines}
    told = [
        f"{NAMES[engine]}: {why.get(name, 'not measured')}."
        for engine, name in names.items()
        if not evidence.get(name)
    ]
    return " ".join(dict.fromkeys(told))


def apart(one: Sequence[Any], other: Sequence[Any]) -> float:
    """The greatest difference of two lists of numbers, as a share of the second's greatest;
    infinite unless all are finite.
    """
    left, right = (np.array([number(each) for each in values]) for values in (one, other))
    if left.shape != right.shape or not (np.isfinite(left).all() and np.isfinite(right).all()):
        return float("inf")
    difference = float(np.max(np.abs(left - right), initial=0.0))
    return difference / float(np.max(np.abs(right), initial=0.0)) if difference else 0.0


def shown(figure: Any) -> str:
    """A derivative for a table's cell: its elements, with the norm where there are many; or what
    was raised.
    """
    if figure is None:
        return NONE
    if raised(figure):
        return said(figure)
    values = [number(each) for each in figure["elements"]]
    shortly = digits(np.array(values[0] if len(values) == 1 else values))
    return shortly + (f", norm {figure['norm']:.5g}" if len(values) > MANY else "")
