"""What is already known: a reference to a claim of the guides, or to a surprise of the documentation."""

from typing import Literal

import msgspec


class Reference(msgspec.Struct, frozen=True):
    """A claim by its number, or a surprise by the name of its reproducer in docs/surprises."""

    kind: Literal["claim", "surprise"]
    name: str
