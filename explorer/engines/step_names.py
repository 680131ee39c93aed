"""Names of what a recorded step reads: tensors in nested arguments, and the modules of a program."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

DEEPEST = 4
"""Arguments are looked for in so many levels of lists and dicts."""


def joined(prefix: str, path: str) -> str:
    """A path behind the prefix of its root; one of both may be empty."""
    return ".".join(filter(None, (prefix, path)))


def free_name(name: str, taken: Mapping[str, Any]) -> str:
    """A name, or the first of name_2, name_3, … that is free."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def numbered(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    """The names of a function's positional parameters; behind the last of them, numbered ones."""
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            yield parameter.name
    number = 0
    while True:
        yield f"input{number}"
        number += 1


def nested_tensors(
    name: str, value: Any, kind: type[Any], levels: int = DEEPEST
) -> Iterator[tuple[str, Any]]:
    """The tensors of class ``kind`` in a nested value, by paths that begin with a name."""
    if isinstance(value, kind):
        yield name, value
    elif levels and isinstance(value, Mapping):
        for key, item in value.items():
            yield from nested_tensors(f"{name}.{key}", item, kind, levels - 1)
    elif levels and isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from nested_tensors(f"{name}.{place}", item, kind, levels - 1)
