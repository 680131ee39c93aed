"""How operators' figures read: names of parties, short numbers, who agrees with whom."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from explorer.model.engines import FRAMEWORK_LABELS
from explorer.model.message import Message, Text, message
from explorer.text.numbers import number
from explorer.topics.attempts import raised, said
from explorer.topics.cells import NONE, listed_party, yes_or_no
from explorer.topics.evidence import Attempt, grouped
from explorer.topics.operators.inputs import WINDOWS
from explorer.topics.question import PARTIES

KERAS = "TensorFlow (Keras)"  # asked for the conventions that it shares with TensorFlow

NOT_FINITE = {"nan": "NaN", "inf": "∞", "-inf": "-∞"}

WAYS = (
    "0.3 alone",
    "no argument",
    "zeros top and left, then valid",
    "zeros all around, then valid",
    "zeros bottom and right, then valid",
    "default",
    "by default",
    "nn.CrossEntropyLoss() of one-hot labels",
)
"""The settings and calls that are named in words, by their names in the figures."""


def label(party: str) -> Text:
    """The name of a party; engines without a comma, since they stand in lists."""
    return KERAS if party == "keras" else listed_party(party)


LABELS = {party: label(party) for party in PARTIES}
"""The names of the parties."""


def columns(parties: Iterable[str]) -> tuple[Text, ...]:
    """The names of parties at the head of a table."""
    return tuple(map(label, parties))


def way_text(way: str) -> Text:
    """A setting or a call for readers."""
    return message(f"operators.way {way}") if way in WAYS else way


def window_text(name: str) -> Text:
    """A window that slides along an axis, for readers."""
    if name not in WINDOWS:
        return name
    size, kernel, stride = WINDOWS[name]
    return message("operators.window", size=size, kernel=kernel, stride=stride)


def state_text(state: str) -> Text:
    """A state of batch norm for readers: its setting, and training or inference."""
    setting, _, mode = state.partition(", ")
    if mode not in {"training", "inference"}:
        return state
    return message("operators.state", setting=setting, mode=message(f"operators.{mode}"))


def digits(figure: Any) -> str:
    """Nested numbers in at most four digits: [0, 0.55, NaN]."""
    if isinstance(figure, (list, tuple)):
        return f"[{', '.join(map(digits, figure))}]"
    text = f"{number(figure) + 0.0:.4g}"  # adding zero turns -0 into 0
    return NOT_FINITE.get(text, text)


def short(figure: Any) -> Text:
    """Short numbers, yes, no or none, or the type of an exception."""
    if raised(figure):
        return message("operators.raises", error=figure["raised"])
    if figure is None:
        return NONE
    return yes_or_no(figure) if isinstance(figure, bool) else digits(figure)


def raises(attempt: Attempt) -> Text:
    """The type of the exception of an attempt that raised."""
    return message("operators.raises", error=attempt.raised)


def result(figure: Any) -> Text:
    """The exception of an attempt with its message, or its short numbers."""
    return said(figure) if raised(figure) else short(figure)


def by_answer(
    figures: Mapping[str, Any], words: Callable[[Any], Text] = short
) -> list[tuple[Text, Text]]:
    """What is said of each figure, behind the one name of all parties that say the same."""
    texts = {party: words(figure) for party, figure in figures.items()}
    return [(joint_label(parties), text) for parties, text in grouped(texts)]


def joint_label(parties: Iterable[str]) -> Text:
    """One name for several parties: both styles of a framework are the framework."""
    remaining = list(parties)
    labels: list[Text] = []
    for framework, name in FRAMEWORK_LABELS.items():
        styles = (f"{framework}-graph", f"{framework}-tape")
        if set(styles) <= set(remaining):
            labels.append(name)
            for style in styles:
                remaining.remove(style)
    labels.extend(map(label, remaining))
    return labels[0] if len(labels) == 1 else message("operators.parties", parties=tuple(labels))


def joined(answers: Iterable[tuple[Text, Text]]) -> tuple[Message, ...]:
    """ "MindSpore 1", "PyTorch 0" of names and what is said of them."""
    return tuple(message("operators.of", who=who, what=what) for who, what in answers)


def bracketed(answers: Iterable[tuple[Text, Text]]) -> tuple[Message, ...]:
    """ "1 (MindSpore)", "0 (PyTorch)" of the same."""
    return tuple(message("operators.by", what=what, who=who) for who, what in answers)


def labelled(texts: Mapping[str, Text]) -> tuple[Message, ...]:
    """ "MindSpore 1", "TensorFlow (Keras) 0" of a mapping by party."""
    return joined((label(party), text) for party, text in texts.items())
