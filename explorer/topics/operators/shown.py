"""How the operators' figures are put into words and cells: names, short numbers, who agrees with
whom, and what is missing.
"""

from collections.abc import Callable, Mapping
from typing import Any

from explorer.model.study import Chart, Table
from explorer.text.numbers import number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.operators.asked import Asked
from explorer.topics.studying import Telling

TITLES = {
    "mindspore-graph": "MindSpore graph",
    "mindspore-tape": "MindSpore tape",
    "torch-graph": "PyTorch graph",
    "torch-tape": "PyTorch tape",
    "mindspore": "MindSpore",
    "torch": "PyTorch",
    "keras": "TensorFlow (Keras)",
}
NONE = "-"
Found = dict[str, Mapping[str, Any]]
"""Figures of one question by who was asked; those without any are left out."""


def found(evidence: Evidence, asked: Asked) -> Found:
    """Who answered a question, and what."""
    figures = {who: evidence.get(measurement.name) for who, measurement in asked.items()}
    return {who: each for who, each in figures.items() if each}


def missing(evidence: Evidence, asked: Asked) -> str:
    """Why some cells are empty, in sentences; "" when none are."""
    failures = evidence.failures
    told = []
    for who, measurement in asked.items():
        if not evidence.get(measurement.name):
            failure = failures.get(measurement.name)
            told.append(
                f"{TITLES[who]}: {failure.message.splitlines()[0] if failure else 'not measured'}."
            )
    return " ".join(dict.fromkeys(told))


def short(value: Any) -> str:
    """Nested numbers in at most four digits, [0, 0.55, NaN]; of an attempt that raised, the
    exception's type.
    """
    if raised(value):
        return f"raises {value['raised']}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(short, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    text = f"{number(value) + 0.0:.4g}"  # adding zero turns -0 into 0
    return {"nan": "NaN", "inf": "∞", "-inf": "-∞"}.get(text, text)


def message(value: Any) -> str:
    """What an attempt raised, with its message; else its short numbers."""
    return said(value) if raised(value) else short(value)


def alike(figures: Mapping[str, Any], words: Callable[[Any], str] = short) -> dict[str, str]:
    """What is said of each, those who say the same together: {"MindSpore": "[0, 1]", "PyTorch":
    "[0, 0]"}.
    """
    groups: dict[str, list[str]] = {}
    for who, value in figures.items():
        groups.setdefault(words(value), []).append(who)
    return {together(names): text for text, names in groups.items()}


def together(names: list[str]) -> str:
    """Engines as one name: both styles of a framework are the framework."""
    left, told = list(names), []
    for framework in ("mindspore", "torch"):
        styles = [f"{framework}-graph", f"{framework}-tape"]
        if all(style in left for style in styles):
            told.append(TITLES[framework])
            left = [name for name in left if name not in styles]
    return " and ".join([*told, *(TITLES[name] for name in left)])


def tell(
    *,
    findings: list[str] | None = None,
    tables: list[Table] | None = None,
    charts: list[Chart] | None = None,
) -> Telling:
    """A part of what the study tells; tables without rows are left out."""
    kept = tuple(table for table in tables or () if table.rows)
    return Telling(findings=tuple(findings or ()), tables=kept, charts=tuple(charts or ()))


def joined(items: Mapping[str, str]) -> str:
    """ "MindSpore 1, PyTorch 0" of a mapping."""
    return ", ".join(f"{name} {text}" for name, text in items.items())
