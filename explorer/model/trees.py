"""Trees of names: how the tensors of a result nest, which is half of what a gradient call means."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec

Item = TypeVar("Item")

TUPLE, LIST, DICT = "tuple", "list", "dict"


class Branch(msgspec.Struct, frozen=True, omit_defaults=True):
    """A container as a call returns it, of names of tensors and of further containers.

    ``kind`` is "tuple", "list" or "dict", or the name of a class with fields (a dataclass, a named
    tuple). ``keys`` are the keys or fields of the parts; tuples and lists have none.
    """

    parts: "tuple[Tree, ...]"  # quoted whole: in Python 3.10 msgspec reads no quotes inside tuple[]
    kind: str = TUPLE
    keys: tuple[str, ...] = ()


Tree: TypeAlias = Branch | str | None
"""A container of trees, the name of a tensor, or None where a call returns None in its place.

``Branch(("dx", Branch(("logits",))))`` is a gradient beside a 1-tuple; a bare tensor is its name
alone.
"""

Nested: TypeAlias = (
    "Item | list[Nested[Item]] | tuple[Nested[Item], ...] | dict[str, Nested[Item]] | None"
)
"""A tree with items of any type in the places of its names; None stays None."""


def branch(*parts: Tree) -> Branch:
    """A tuple of ``parts``."""
    return Branch(parts)


def names_in(tree: Tree) -> tuple[str, ...]:
    """The names of a tree from left to right."""
    # Recursion will do here and below: what a net returns is nested a few containers deep.
    if tree is None:
        return ()
    if isinstance(tree, str):
        return (tree,)
    names: list[str] = []
    for part in tree.parts:
        names.extend(names_in(part))
    return tuple(names)


def render(tree: Tree) -> str:
    """A tree as Python writes it: ``(dx, (logits,))``, ``{'loss': out}``, ``Output(loss=out)``."""
    if tree is None or isinstance(tree, str):
        return str(tree)
    parts = [render(part) for part in tree.parts]
    if tree.kind == TUPLE:
        comma = "," if len(parts) == 1 else ""
        return "(" + ", ".join(parts) + comma + ")"
    if tree.kind == LIST:
        return "[" + ", ".join(parts) + "]"
    pairs = zip(tree.keys, parts, strict=True)
    if tree.kind == DICT:
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in pairs) + "}"
    return f"{tree.kind}(" + ", ".join(f"{key}={part}" for key, part in pairs) + ")"


def alike(one: Tree, other: Tree) -> bool:
    """Whether two trees nest the same names alike, whatever the types of their containers.

    A net may return a list where its port returns a tuple; neither says anything about gradients.
    Keys count where both containers have them.
    """
    if not isinstance(one, Branch) or not isinstance(other, Branch):
        return one == other
    if one.keys and other.keys and one.keys != other.keys:
        return False
    if len(one.parts) != len(other.parts):
        return False
    return all(map(alike, one.parts, other.parts))


def fill(tree: Tree, items: tuple[Item, ...]) -> "Nested[Item]":
    """``items`` nested as a tree nests its names, one for each name from left to right.

    What has keys becomes a dict. Raises ValueError when there are more or fewer items than names.
    """
    count = len(names_in(tree))
    if len(items) != count:
        raise ValueError(f"{render(tree)} names {count} tensors, and {len(items)} are given")
    return _filled(tree, iter(items))


def _filled(tree: Tree, items: Iterator[Item]) -> "Nested[Item]":
    if tree is None:
        return None
    if isinstance(tree, str):
        return next(items)
    filled = [_filled(part, items) for part in tree.parts]
    if tree.keys:
        return dict(zip(tree.keys, filled, strict=True))
    return tuple(filled) if tree.kind == TUPLE else filled


# What a call returned


PLAIN = (bool, int, float, complex)


def is_opaque(value: Any) -> bool:
    """Whether a value is an object in which no tensor can be found: a cache, a configuration, a text."""
    if value is None or isinstance(value, (tuple, list, Mapping, *PLAIN)):
        return False
    is_record = is_dataclass(value) and not isinstance(value, type)
    return not is_record and not hasattr(value, "dtype")


class Container(NamedTuple):
    """A container that a call returned: its kind and its keys as in a Branch, and its items."""

    kind: str
    keys: tuple[str, ...]
    items: tuple[Any, ...]


def opened(value: Any) -> Container | None:
    """The container that ``value`` is; None for a tensor, a number, or None itself.

    Of the items with keys, as in a dict or a dataclass, opaque ones are left out: a model's output
    has a cache beside its tensors, which nobody differentiates.
    """
    container = _opened(value)
    if container is None or not container.keys:
        return container
    keys, items = [], []
    for key, item in zip(container.keys, container.items, strict=True):
        if not is_opaque(item):
            keys.append(key)
            items.append(item)
    return Container(container.kind, tuple(keys), tuple(items))


def left_out(value: Any) -> dict[str, str]:
    """The keys of what opened() leaves out of a returned value, each with the name of its class."""
    container = _opened(value)
    if container is None:
        return {}
    found: dict[str, str] = {}
    for place, item in enumerate(container.items):
        if container.keys and is_opaque(item):
            found[container.keys[place]] = type(item).__name__
        else:
            found.update(left_out(item))
    return found


def _opened(value: Any) -> Container | None:
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ())
        return Container(type(value).__name__ if names else TUPLE, tuple(names), tuple(value))
    if isinstance(value, list):
        return Container(LIST, (), tuple(value))
    if isinstance(value, Mapping):
        keys = tuple(str(key) for key in value)
        return Container(DICT, keys, tuple(value.values()))
    if is_dataclass(value) and not isinstance(value, type):
        keys = tuple(field.name for field in fields(value))
        items = tuple(getattr(value, key) for key in keys)
        return Container(type(value).__name__, keys, items)
    return None


def leaves(value: Any) -> Iterator[Any]:
    """The tensors and numbers that a call returned, from left to right; None is left out."""
    container = opened(value)
    if container is None:
        if value is not None:
            yield value
        return
    for item in container.items:
        yield from leaves(item)


def tree_of(value: Any, names: Iterable[str]) -> Tree:
    """The tree of what a call returned, in which every leaf takes the next of ``names``."""
    return _named(value, iter(names))


def _named(value: Any, names: Iterator[str]) -> Tree:
    container = opened(value)
    if container is None:
        return None if value is None else next(names)
    parts = tuple(_named(item, names) for item in container.items)
    return Branch(parts, container.kind, container.keys)
