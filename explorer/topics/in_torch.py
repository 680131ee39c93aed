"""What PyTorch's measuring functions share: numbers of tensors, and the nodes of a tape."""

from collections.abc import Iterator
from typing import Any

import torch

LEAF = "AccumulateGrad"
"""The node of a tape that adds a gradient to a leaf's ``.grad``; its name ends so (2.13)."""


def numbers(value: Any) -> Any:
    """Nested lists of the numbers of tensors, in the nesting of ``value``."""
    if isinstance(value, (tuple, list)):
        return [numbers(item) for item in value]
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().tolist()
    return value


def tape_nodes(output: torch.Tensor) -> Iterator[Any]:
    """The nodes of the tape behind ``output``, leaves included; none where nothing was recorded."""
    # Iterative: a tape may be ten thousand nodes deep.
    visited = set()
    waiting = [output.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in visited:  # an operand without a gradient has no node
            continue
        visited.add(node)
        waiting.extend(child for child, _ in node.next_functions)
        yield node


def operator_nodes(output: torch.Tensor) -> list[Any]:
    """The nodes of the tape behind ``output`` without AccumulateGrad.

    Those nodes belong to leaves, and live as long as their tensors.
    """
    return [node for node in tape_nodes(output) if not node.name().endswith(LEAF)]


def taped_operators(output: torch.Tensor) -> list[str]:
    """The names of the operators on the tape behind ``output``, sorted."""
    return sorted(node.name() for node in operator_nodes(output))
