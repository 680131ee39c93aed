"""Trees of names: how the tensors of a result nest, which is half of what a gradient call means."""

from collections.abc import Iterator
from typing import TypeAlias, TypeVar

import msgspec

Item = TypeVar("Item")


class Branch(msgspec.Struct, frozen=True):
    """A tuple as a call returns it, of names of tensors and of further tuples."""

    parts: tuple["Tree", ...]


Tree: TypeAlias = Branch | str
"""``Branch(("dx", Branch(("logits",))))`` is a gradient beside a 1-tuple; a bare tensor is its name
alone.
"""

Nested: TypeAlias = "Item | tuple[Nested[Item], ...]"
"""Whatever stands in the places of a tree's names."""


def branch(*parts: Tree) -> Branch:
    """A tuple of ``parts``."""
    return Branch(parts)


def names_in(tree: Tree) -> tuple[str, ...]:
    """The names of a tree from left to right."""
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
    """``items``, one for each name of a tree from left to right, nested as the tree nests the
    names.

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
