"""Trees of names: how the tensors of a result nest, which is half of what a gradient call means."""

from collections.abc import Iterator
from typing import TypeAlias, TypeVar

import msgspec

Item = TypeVar("Item")


class Branch(msgspec.Struct, frozen=True):
    """A tuple as a call returns it, of names of tensors and of further tuples."""

    parts: tuple["Tree", ...]


Tree: TypeAlias = Branch | str
"""A tuple of a tree, or the name of a tensor.

``Branch(("dx", Branch(("logits",))))`` is a gradient beside a 1-tuple; a bare tensor is its name
alone.
"""

Nested: TypeAlias = "Item | tuple[Nested[Item], ...]"
"""A tree with items of any type in the places of its names."""


def branch(*parts: Tree) -> Branch:
    """A tuple of ``parts``."""
    return Branch(parts)


def names_in(tree: Tree) -> tuple[str, ...]:
    """The names of a tree from left to right."""
    # Recursion will do: what a gradient call returns is nested three tuples deep at most.
    if isinstance(tree, str):
        return (tree,)
    names: list[str] = []
    for part in tree.parts:
        names.extend(names_in(part))
    return tuple(names)


def render(tree: Tree) -> str:
    """A tree as Python writes it: ``(dx, (logits,))``."""
    if isinstance(tree, str):
        return tree
    comma = "," if len(tree.parts) == 1 else ""
    return "(" + ", ".join(map(render, tree.parts)) + comma + ")"


def fill(tree: Tree, items: tuple[Item, ...]) -> "Nested[Item]":
    """``items`` nested as a tree nests its names, one for each name from left to right.

    Raises ValueError when there are more or fewer items than names.
    """
    count = len(names_in(tree))
    if len(items) != count:
        raise ValueError(f"{render(tree)} names {count} tensors, and {len(items)} are given")
    return _filled(tree, iter(items))


def _filled(tree: Tree, items: Iterator[Item]) -> "Nested[Item]":
    if isinstance(tree, str):
        return next(items)
    return tuple(_filled(part, items) for part in tree.parts)
