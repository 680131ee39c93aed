"""What stands in for parts of MindSpore that a version lacks."""

from typing import Any, NoReturn

from explorer.engines.mindspore.versions import lacks


def unique_id(node: Any) -> int:
    """The identity of a node of the tape, however often it is wrapped."""
    identity: int = node._unique_id()
    return identity


def sequence_number(node: Any) -> int:
    """The identity of a node of the tape: its number in the order of recording, and its name.

    Leaves have no number; the name of one is its own (2.7, 2.8).
    """
    return hash((node._sequence_nr(), node.name()))


def tape_node(tensor: Any) -> Any:
    """The node of the tape that has made a tensor; None for one off the tape."""
    return tensor._grad_node


def no_tape_node(tensor: Any) -> None:
    """None: Python sees nothing of the tape (2.7)."""


def no_saved_tensors_hooks(pack: Any, unpack: Any) -> NoReturn:
    """Raises UncapturedError: what the tape saves is not seen."""
    raise lacks("saved_tensors_hooks")
