"""A result's leaves put back into the nesting that its structure names."""

from collections.abc import Sequence
from typing import TypeAlias

from explorer.records import Leaf, Result

Nested: TypeAlias = "Leaf | tuple[Nested, ...]"


def nest(result: Result) -> Nested:
    """The leaves of a result with outcome "ok", nested like ``structure``: ``(dx, (logits,))`` gives ``(Leaf, (Leaf,))``.

    Leaf names may hold commas and parentheses: they are recognised by standing in order in ``structure``.
    """
    open_tuples: list[list[Nested]] = [[]]
    rest, waiting = result.structure, list(result.leaves)
    while rest:
        if waiting and rest.startswith(waiting[0].name):
            rest = rest[len(waiting[0].name) :]
            open_tuples[-1].append(waiting.pop(0))
        elif rest[0] == "(":
            open_tuples.append([])
            rest = rest[1:]
        elif rest[0] == ")" and len(open_tuples) > 1:
            done = tuple(open_tuples.pop())
            open_tuples[-1].append(done)
            rest = rest[1:]
        elif rest[0] in ", ":
            rest = rest[1:]
        else:
            break
    if rest or waiting or len(open_tuples) > 1 or len(open_tuples[0]) != 1:
        raise ValueError(f"structure {result.structure!r} does not name the leaves {_names(result.leaves)} in order")
    return open_tuples[0][0]


def _names(leaves: Sequence[Leaf]) -> str:
    return ", ".join(leaf.name for leaf in leaves) or "(none)"
