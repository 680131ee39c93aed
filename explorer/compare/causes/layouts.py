"""How the same numbers may lie elsewhere: other axes, another order along some, another shape on the way."""

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, permutations

import numpy as np

from explorer.compare.causes.rooms import Room
from explorer.model.causes import Related
from explorer.numeric.differences import Floats

MOST_AXES = 6
"""Values with more axes are not put into all orders."""

MOST_PLACES = 8
"""So many elements are looked at that may be the first one of a value that is shifted."""

SAMPLE = 16
"""So many elements are compared first."""

MOST_PARTS = 8
"""Equal parts of an axis whose order is looked for, such as the gates of a cell."""

Candidates = Iterator[tuple[Related, Floats]]
"""Relations that may hold, and what would follow by each."""


def are_rearranged(own: Floats, target: Floats, room: Room) -> bool:
    """Whether two values hold the same numbers in some order."""
    if own.size != target.size:
        return False
    return room.apart(np.sort(own.ravel()), np.sort(target.ravel())) is not None


def layouts(
    own: Floats, target: Floats, room: Room, shapes: Iterable[tuple[int, ...]] = ()
) -> Candidates:
    """How ``target`` may hold the numbers of ``own``, which both have in some order.

    ``shapes`` are further ones, beside those of the two, in which they may be put into another order.
    """
    if not are_rearranged(own, target, room):
        return
    # Whatever the order of the axes, the first and the last element are at their places.
    ends = own.ravel()[[0, -1]], target.ravel()[[0, -1]]
    may_have_other_axes = room.apart(*ends) is not None
    if own.ndim <= MOST_AXES and may_have_other_axes:
        yield from _transposed(own)
    if own.shape == target.shape:
        for axis in range(own.ndim):
            yield from _along(own, target, axis, room)
        yield from _along_several(own, target, room)
    if may_have_other_axes:
        yield from _regrouped(own, target, room, shapes)


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
        signed = _nearer(steps, length)
        yield Related(how="rolled", numbers=(axis, signed)), np.roll(own, signed, axis)
    order = _order(own, target, axis, room)
    if order and order != tuple(range(length)):
        for parts in range(2, min(MOST_PARTS, length - 1) + 1):
            blocks = _blocks(order, parts)
            if blocks:
                made = np.take(own, order, axis)
                yield Related(how="blocks", numbers=(axis, *blocks)), made
        yield Related(how="rows", numbers=(axis, *order)), np.take(own, order, axis)


def _along_several(own: Floats, target: Floats, room: Room) -> Candidates:
    """In reverse along several axes, and shifted along several."""
    for count in range(2, own.ndim + 1):
        for axes in combinations(range(own.ndim), count):
            yield Related(how="reversed", numbers=axes), np.flip(own, axes)
    first = target[(0,) * target.ndim]
    with np.errstate(invalid="ignore"):
        places = np.argwhere(np.abs(own - first) <= room.base)
    for place in places[:MOST_PLACES]:
        shifts = [(axis, int(-by)) for axis, by in enumerate(place) if by]
        signed = [(axis, _nearer(by, own.shape[axis])) for axis, by in shifts]
        if len(signed) > 1:
            made = np.roll(own, [by for _, by in signed], [axis for axis, _ in signed])
            yield Related(how="rolled", numbers=tuple(chain.from_iterable(signed))), made


def _nearer(steps: int, length: int) -> int:
    """Steps along an axis of a length, the other way round where that is nearer."""
    steps %= length
    return steps if steps <= length // 2 else steps - length


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


def _regrouped(
    own: Floats, target: Floats, room: Room, shapes: Iterable[tuple[int, ...]]
) -> Candidates:
    """Read in another shape, whose axes are then put into another order."""
    start = target.ravel()[:SAMPLE]
    whole = dict.fromkeys(chain(_finer_shapes(target.shape), shapes))
    for last in (it for it in whole if len(it) <= MOST_AXES):
        for order in permutations(range(len(last))):
            if order == tuple(range(len(last))):
                continue
            shape = [0] * len(last)
            for place, axis in enumerate(order):
                shape[axis] = last[place]
            made = own.reshape(shape).transpose(order)
            if room.apart(made.flat[:SAMPLE], start) is not None:
                yield Related(how="regrouped", shape=tuple(shape), numbers=order), made


def _finer_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A shape, and those with one of its axes as two."""
    yield shape
    if len(shape) >= MOST_AXES - 2:
        return
    for axis, length in enumerate(shape):
        for part in range(2, length):
            if length % part == 0:
                yield (*shape[:axis], part, length // part, *shape[axis + 1 :])
