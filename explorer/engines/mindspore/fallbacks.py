"""What stands in for parts of MindSpore that a version lacks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def unique_id(node: Any) -> int:
    """The identity of a node of the tape, however often it is wrapped."""
    identity: int = node._unique_id()
    return identity


def sequence_number(node: Any) -> int:
    """The identity of a node of the tape: its number in the order of recording, and its name.

    Leaves have no number; the name of one is its own (2.7, 2.8).
    """
    return hash((node._sequence_nr(), node.name()))


@contextmanager
def no_saved_tensors_hooks(pack: Any, unpack: Any) -> Iterator[None]:
    """Calls neither: what the tape saves is not seen."""
    yield
