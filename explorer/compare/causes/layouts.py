"""How the same numbers may lie elsewhere: other axes, another order along one, another shape on the way."""

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from explorer.compare.causes.rooms import Room
from explorer.model.causes import Related
from explorer.numeric.differences import Floats

MOST_AXES = 5
"""Values with more axes are not put into all orders."""

MOST_PARTS = 8
"""Equal parts of an axis whose order is looked for, such as the gates of a cell."""

Candidates = Iterator[tuple[Related, Floats]]
"""Relations that may hold, and what would follow by each."""


def layouts(own: Floats, target: Floats, room: Room) -> Candidates:
    """How ``target`` may hold the numbers of ``own``, which both have in some order."""
    if room.apart(np.sort(own.ravel()), np.sort(target.ravel())) is None:
        return
    if own.ndim <= MOST_AXES:
        yield from _transposed(own)
    if own.shape == target.shape:
        for axis in range(own.ndim):
            yield from _along(own, target, axis, room)
    if target.ndim <= MOST_AXES:
        yield from _regrouped(own, target)


def _transposed(own: Floats) -> Candidates:
    for order in permutations(range(own.ndim)):
        if order != tuple(range(own.ndim)):
            yield Related(how="transposed", numbers=order), own.transpose(order)


def _along(own: Floats, target: Floats, axis: int, room: Room) -> Candidates:
    """The same rows along an axis, in another order."""
    length = own.shape[axis]
    if length < 2:
        return
    yield Related(how="reversed", numbers=(axis,)), np.flip(own, axis)
    for steps in range(1, length):
        signed = steps if steps <= length // 2 else steps - length
        yield Related(how="rolled", numbers=(axis, signed)), np.roll(own, signed, axis)
    order = _order(own, target, axis, room)
    if order:
        for parts in range(2, min(MOST_PARTS, length - 1) + 1):
            blocks = _blocks(order, parts)
            if blocks:
                made = np.take(own, order, axis)
                yield Related(how="blocks", numbers=(axis, *blocks)), made
        yield Related(how="rows", numbers=(axis, *order)), np.take(own, order, axis)


def _order(own: Floats, target: Floats, axis: int, room: Room) -> tuple[int, ...]:
    """Which row of a value each row of the other one is; () where that is not clear."""
    rows = np.moveaxis(own, axis, 0).reshape(own.shape[axis], -1)
    wanted = np.moveaxis(target, axis, 0).reshape(own.shape[axis], -1)
    order = []
    for row in wanted:
        places = [
            place for place, own_row in enumerate(rows) if room.apart(own_row, row) is not None
        ]
        if len(places) != 1:
            return ()
        order.append(places[0])
    return tuple(order)


def _blocks(order: tuple[int, ...], parts: int) -> tuple[int, ...]:
    """The order of equal parts that an order of rows is; () where it is none."""
    size, rest = divmod(len(order), parts)
    if rest:
        return ()
    blocks = tuple(order[start] // size for start in range(0, len(order), size))
    rows = [block * size + place for block in blocks for place in range(size)]
    return blocks if tuple(rows) == order else ()


def _regrouped(own: Floats, target: Floats) -> Candidates:
    """Read in another shape, whose axes are then put into another order."""
    for whole in _finer_shapes(target.shape):
        for order in permutations(range(len(whole))):
            if order == tuple(range(len(whole))):
                continue
            shape = [0] * len(whole)
            for place, axis in enumerate(order):
                shape[axis] = whole[place]
            made = own.reshape(shape).transpose(order)
            yield Related(how="regrouped", shape=tuple(shape), numbers=order), made


def _finer_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A shape, and those with one of its axes as two."""
    yield shape
    if len(shape) >= MOST_AXES - 1:
        return
    for axis, length in enumerate(shape):
        for part in range(2, length):
            if length % part == 0:
                yield (*shape[:axis], part, length // part, *shape[axis + 1 :])
