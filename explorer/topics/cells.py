"""What several topics put into cells and notes: their own messages, and the names of parties."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.engines import ENGINES
from explorer.model.message import Message, Text, message
from explorer.topics.question import PARTIES


@dataclass(frozen=True)
class Messages:
    """The messages of one topic: ``Messages("training")("clipping", n=3)``."""

    topic: str

    def __call__(self, name: str, /, **values: Any) -> Message:
        """One message, by its name within the topic."""
        return message(f"{self.topic}.{name}", **values)

    def row(self, *names: str) -> tuple[Message, ...]:
        """Messages without values, such as the columns of a table."""
        return tuple(self(name) for name in names)


shared = Messages("shared")


def label(party: str) -> Text:
    """The name of a party in a table: "MindSpore, graph"."""
    return shared(party) if party in ENGINES else PARTIES[party].label


def labels(parties: Sequence[str]) -> tuple[Text, ...]:
    """The names of some parties, such as a table's columns."""
    return tuple(label(party) for party in parties)


def style_name(style: str) -> Text:
    """The name of a style: "graph" or "tape"."""
    return shared(style)


def noted(note: Text, why: str) -> Text:
    """A table's note, and why cells are empty, if any are."""
    return sentences(note, why) if why else note


def sentences(first: Text, *others: Text) -> Text:
    """Sentences one after the other."""
    text = first
    for other in others:
        text = shared("sentences", first=text, second=other)
    return text
