"""What is tried with slices: the same number of elements at other places along an axis."""

from collections.abc import Iterator

from explorer.compare.graphs.view import Shape
from explorer.model.graph import Arguments, Node

STARTS, LIMITS = "start_indices", "limit_indices"
"""Where a slice begins along each axis, and where it ends: arguments of JAX's slices."""


def elsewhere(node: Node, read: Shape, made: Shape) -> Iterator[Arguments]:
    """Other arguments of a slice of a shape ``read``, of which it takes the shape ``made``.

    It then begins at the first or last place of an axis, or one place before or behind where it begins.
    Nothing of ops that are no such slices.
    """
    given, limits = node.arguments.get(STARTS), node.arguments.get(LIMITS)
    strides = node.arguments.get("strides")
    is_whole = not isinstance(strides, tuple) or set(strides) == {1}
    if not (isinstance(given, tuple) and is_whole):
        return
    own = tuple(start for start in given if isinstance(start, int))
    if not len(own) == len(made) == len(read):
        return
    for axis, start in enumerate(own):
        last = read[axis] - made[axis]
        for place in dict.fromkeys((0, last, start - 1, start + 1)):
            if place != start and 0 <= place <= last:
                starts = (*own[:axis], place, *own[axis + 1 :])
                yield {STARTS: starts} if limits is None else _with_limits(starts, made)


def _with_limits(starts: tuple[int, ...], shape: tuple[int, ...]) -> Arguments:
    ends = tuple(start + length for start, length in zip(starts, shape, strict=True))
    return {STARTS: starts, LIMITS: ends}
