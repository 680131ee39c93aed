"""How the operators' figures are worded: names of parties, short numbers, who agrees with whom."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from explorer.model.engines import FRAMEWORK_LABELS
from explorer.text.numbers import number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import grouped
from explorer.topics.question import PARTIES

LABELS = {party: PARTIES[party].label.replace(",", "") for party in PARTIES}
"""The names of the parties; engines without a comma, since they stand in lists."""

LABELS["keras"] = "TensorFlow (Keras)"  # asked for the conventions that it shares with TensorFlow

SHORT = {None: "none", True: "yes", False: "no"}
NOT_FINITE = {"nan": "NaN", "inf": "∞", "-inf": "-∞"}


def short(figure: Any) -> str:
    """Nested numbers in at most four digits, [0, 0.55, NaN], or the type of an exception."""
    if raised(figure):
        return f"raises {figure['raised']}"
    if isinstance(figure, (list, tuple)):
        return "[" + ", ".join(map(short, figure)) + "]"
    if figure is None or isinstance(figure, bool):
        return SHORT[figure]
    text = f"{number(figure) + 0.0:.4g}"  # adding zero turns -0 into 0
    return NOT_FINITE.get(text, text)


def message(figure: Any) -> str:
    """The exception of an attempt with its message, or its short numbers."""
    return said(figure) if raised(figure) else short(figure)


def by_answer(figures: Mapping[str, Any], words: Callable[[Any], str] = short) -> dict[str, str]:
    """What is said of each figure, by parties that say the same.

    {"MindSpore": "[0, 1]", "PyTorch": "[0, 0]"} is such a mapping.
    """
    texts = {party: words(figure) for party, figure in figures.items()}
    return {joint_label(parties): text for parties, text in grouped(texts)}


def joint_label(parties: Iterable[str]) -> str:
    """One name for several parties: both styles of a framework are the framework."""
    remaining = list(parties)
    labels = []
    for framework, label in FRAMEWORK_LABELS.items():
        styles = {f"{framework}-graph", f"{framework}-tape"}
        if styles <= set(remaining):
            labels.append(label)
            remaining = [party for party in remaining if party not in styles]
    labels.extend(LABELS[party] for party in remaining)
    return " and ".join(labels)


def joined(texts: Mapping[str, str]) -> str:
    """ "MindSpore 1, PyTorch 0" of a mapping."""
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def labelled(texts: Mapping[str, str]) -> str:
    """ "MindSpore 1, TensorFlow (Keras) 0" of a mapping by party."""
    return joined({LABELS[party]: text for party, text in texts.items()})
