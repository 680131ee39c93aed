"""Tensors and nodes of MindSpore's tape as its capture tells them apart."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import mindspore as ms

Key = tuple[int, tuple[int, ...], Any]
"""Where the elements of a tensor lie, its shape, and its dtype."""


class Seen(NamedTuple):
    """A tensor as it was at one moment: what is written to it later gives it another node of the
    tape.
    """

    tensor: Any
    node: Any
    output: int


def seen(tensor: Any) -> Seen:
    """A tensor as it is now."""
    return Seen(tensor, tensor._grad_node, tensor._output_index)


def tensors_in(values: Any) -> Iterator[Any]:
    """The tensors of nested values from left to right."""
    for value in values:
        if isinstance(value, ms.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from tensors_in(value)


def key(tensor: Any) -> Key:
    """What makes a tensor known: where its elements lie, and how they are read."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.dtype


def inner_nodes(roots: list[Any], known: dict[int, Any]) -> list[Any]:
    """The inner nodes of a tape that are not ``known`` yet, latest first; iterative, since a tape
    may be ten thousand deep.
    """
    found: dict[int, Any] = {}
    waiting = [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        identity = node._unique_id()
        if identity in found or identity in known or node.is_leaf():
            continue
        found[identity] = node
        waiting.extend(child for child, _ in node.next_functions if child is not None)
    return sorted(found.values(), key=lambda node: -int(node._sequence_nr()))
