"""A text as a fact: which of the texts of words/ it is, and the values in it."""

from typing import Any

import msgspec


class Message(msgspec.Struct, frozen=True):
    """One text of words/topics, by its name ("loss_scale.life"), and the values in it.

    A value is a number, a name that is the same in every language, another message, or a tuple of
    such: a list that is read as "a, b and c".
    """

    name: str
    values: dict[str, Any] = {}


Text = str | Message
"""What a reader reads: a message, or a name or a framework's own words, which nobody translates."""


def message(name: str, **values: Any) -> Message:
    """A message by its name, with its values."""
    return Message(name, values)
