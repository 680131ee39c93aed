"""The messages of one topic, and the names of styles."""

from dataclasses import dataclass
from typing import Any

from explorer.model.message import Message, Text, message


@dataclass(frozen=True)
class Messages:
    """The messages of one topic: ``Messages("training")("clipping", n=3)``.

    ``in_words`` are the names of figures that are words and no code: messages have the same names.
    """

    topic: str
    in_words: frozenset[str] = frozenset()

    def __call__(self, name: str, /, **values: Any) -> Message:
        """One message, by its name within the topic."""
        return message(f"{self.topic}.{name}", **values)

    def named(self, figure: str) -> Text:
        """The name of a figure as a reader has it."""
        return self(figure) if figure in self.in_words else figure

    def row(self, *names: str) -> tuple[Message, ...]:
        """Messages without values, such as the columns of a table."""
        return tuple(self(name) for name in names)


def style_name(style: str) -> Text:
    """The name of a style: "graph" or "tape"."""
    return message(f"styles.{style}")
